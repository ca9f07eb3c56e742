"""A running correlation: a row of one input meets what all others hold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.inputs import make_input
from cep.interpreter.joins.join import EmitAll, Receiver
from cep.interpreter.rows import Chunk, Evaluator, Row, RowKind
from cep.interpreter.windows import WindowPart
from cep.plan.expressions import Column, EventTime, Expression, walk
from cep.plan.query import Correlation
from cep.plan.rewrite.conjunctions import conjuncts


class CorrelationPart:
    """Nested loops in the order of the inputs; a condition is looked at as soon as it can be.

    A row that leaves takes its combinations with it: they come out as expired.
    """

    def __init__(self, correlation: Correlation, context: Context, emit: EmitAll) -> None:
        self._emit = emit
        self._windows: list[WindowPart] = []
        self._receivers: list[Receiver] = []
        self._filters = [
            [evaluator(condition, context) for condition in input_.window_filters]
            for input_ in correlation.inputs
        ]
        for slot, input_ in enumerate(correlation.inputs):
            place = context.within(str(slot))
            part = make_input(input_, place, partial(self._arrived, slot))
            assert part.window is not None
            self._windows.append(part.window)
            self._receivers.append((input_.stream, part.receive))
        self._tests = _by_slot(correlation.on, len(correlation.inputs), context)

    def receivers(self) -> list[Receiver]:
        """What the correlation reads, by input; a stream that is several inputs comes once."""
        names = dict.fromkeys(name for name, _ in self._receivers)
        return [(name, partial(self._receive, name)) for name in names]

    def _receive(self, stream: str, chunk: Chunk) -> None:
        for row in chunk:
            for name, receive in self._receivers:
                if name == stream:
                    receive([row.copy()])

    def _arrived(self, slot: int, chunk: Chunk) -> None:
        for row in chunk:
            if row.kind in (RowKind.CURRENT, RowKind.EXPIRED):
                for match in list(self._matches(slot, row, [])):
                    self._emit([[match]])

    def _matches(self, arrived: int, row: Row, slots: list[Row]) -> Iterator[Row]:
        """The combinations that begin with `slots`."""
        slot = len(slots)
        if slot == len(self._windows):
            came = max(one.came for one in slots)
            yield Row(row.time, [], row.kind, list(slots), came)
            return
        candidates = [row] if slot == arrived else self._held(slot)
        for candidate in candidates:
            tried = [*slots, candidate]
            seen = Row(row.time, [], slots=list(tried))
            if all(test(seen) is True for test in self._tests[slot]):
                yield from self._matches(arrived, row, tried)

    def _held(self, slot: int) -> list[Row]:
        """What an input's window holds, less what the filters behind it take out."""
        filters = self._filters[slot]
        held = self._windows[slot].held()
        return [row for row in held if all(passes(row) is True for passes in filters)]


def _by_slot(on: Expression | None, inputs: int, context: Context) -> list[list[Evaluator]]:
    """The conditions that must all hold, each under the last slot it needs."""
    tests: list[list[Evaluator]] = [[] for _ in range(inputs)]
    for condition in [] if on is None else conjuncts(on):
        slots = [
            node.slot if isinstance(node, Column) else node.slot or 0
            for node in walk(condition)
            if isinstance(node, Column | EventTime)
        ]
        tests[max(slots, default=0)].append(evaluator(condition, context))
    return tests
