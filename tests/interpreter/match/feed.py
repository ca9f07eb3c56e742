"""A pattern or sequence that runs by itself, fed by short texts."""

from __future__ import annotations

import re
from typing import Any

from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.match import make_match
from cep.interpreter.rows import Chunk, Row
from cep.plan import compile_rules
from cep.plan.query import Match

START_MS = 1_600_000_000_000
STREAMS = "ABCD"
DEFINITIONS = "".join(f"define stream {name} (p int);\n" for name in STREAMS)
Batch = list[list[Any]]


class Feed:
    """One match over the streams A to D. `batches` are the selected values of what came out.

    `text` is the match; what is selected is p of each name in `select` (`e1`, `e2[last]`).
    """

    def __init__(self, text: str, select: str, *, compat: bool = False, notes: str = "") -> None:
        columns = ", ".join(f"{name}.p as v{n}" for n, name in enumerate(select.split()))
        mode = "@app:compat('siddhi')\n" if compat else ""
        query = f"@info(name='q') {notes} from {text} select {columns} insert into Out;"
        self.plan = compile_rules(f"{mode}{DEFINITIONS}{query}")
        self.shared = Shared(compat)
        self.batches: list[Batch] = []
        self.times: list[int] = []
        (query_node,) = self.plan.queries
        assert isinstance(query_node.input, Match)
        context = Context(self.shared, "/q").going_by("query", "q")
        self._project = [evaluator(value, context) for _, value in query_node.projection]
        self.part = make_match(query_node.input, context, self._take)
        self._receivers = dict(self.part.receivers())
        self.shared.clock.glide(START_MS)

    def start(self) -> Feed:
        """Begin to wait."""
        self.part.start(START_MS)
        return self

    def feed(self, events: str) -> Feed:
        """`A1` is a row of A with p = 1, `+500` lets 500 ms pass, `A1,2` are two rows at once,
        `A1@-300` is a row 300 ms late."""
        for event in events.split():
            if event.startswith("+"):
                self.shared.clock.glide(self.now_ms + int(event))
            else:
                self._send(event)
        return self

    @property
    def now_ms(self) -> int:
        return self.shared.clock.now_ms or 0

    def _send(self, event: str) -> None:
        found = re.fullmatch(r"([A-D])([\d,]+)(?:@(-\d+))?", event)
        assert found is not None, event
        stream, values, late = found.groups()
        time = self.now_ms + int(late or 0)
        chunk = [Row(time, [int(value)]) for value in values.split(",")]
        if stream in self._receivers:
            self._receivers[stream](chunk)

    def _take(self, chunks: list[Chunk]) -> None:
        rows = [row for chunk in chunks for row in chunk]
        self.batches.append([[project(row) for project in self._project] for row in rows])
        self.times += [row.time - START_MS for row in rows]


def batches(text: str, select: str, events: str, *, compat: bool = False) -> list[Batch]:
    """What comes out, by batch."""
    return Feed(text, select, compat=compat).start().feed(events).batches


def rows(text: str, select: str, events: str, *, compat: bool = False) -> Batch:
    """What comes out, row by row."""
    return [row for batch in batches(text, select, events, compat=compat) for row in batch]
