"""What a run put out, as far as fills and the report need it; the rest only counted."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from cep.dropped import Dropped
from cep.engine.kernels.state import OUT_STREAM, Ints
from cep.engine.output_rows import OutputRows
from cep.engine.rows import Row, Rows
from cep.plan.nodes import Plan

DECODED_MAX = 1 << 15
KEPT_MAX = 2000
"""Events and complex events kept of each definition: the latest, for the report."""


def picked(rows: Rows, streams: Collection[str]) -> Rows:
    """The rows of some streams."""
    places = rows.places(streams)
    return rows if len(places) == len(rows) else some(rows, places)


def stretches(rows: Rows) -> Iterator[Rows]:
    """The same rows, a few at a time: decoded rows take ten times the memory."""
    if 0 < len(rows) <= DECODED_MAX:
        yield rows
        return
    for at in range(0, len(rows), DECODED_MAX):
        yield some(rows, slice(at, at + DECODED_MAX))


def some(rows: Rows, places: Ints | slice) -> Rows:
    """Some of the rows."""
    raw = OutputRows(rows.ints[places], rows.floats[places], rows.lists)
    return Rows(rows.decoder, raw, rows.objects)


def event_names(plan: Plan) -> list[str]:
    """Simple and complex events."""
    return [event.name for event in plan.events] + [found.name for found in plan.complexes]


class Results:
    """Counts, all signals with their places in the order, and the latest events."""

    def __init__(self, plan: Plan, *, keep_events: bool = False) -> None:
        self.plan = plan
        self.records = 0
        self.counts: Counter[str] = Counter()
        self.dropped = Dropped()
        self.signals: list[tuple[int, Row]] = []
        self.recent: dict[str, deque[dict[str, Any]]] = {}
        self._signals = {signal.name for signal in plan.signals}
        if keep_events:
            self.recent = {name: deque(maxlen=KEPT_MAX) for name in event_names(plan)}

    def add_records(self, n: int) -> None:
        """So many more records were read."""
        self.records += n

    def end(self, dropped: Dropped) -> None:
        """The run has ended, and has dropped this."""
        self.dropped = dropped

    def take(self, rows: Rows) -> None:
        """Note the next rows."""
        counts = np.bincount(rows.ints[:, OUT_STREAM])
        for number in np.flatnonzero(counts).tolist():
            self.counts[rows.decoder.names[number]] += int(counts[number])
        signals = picked(rows, self._signals)
        self.signals += zip(signals.orders.tolist(), signals.dicts(), strict=True)
        if self.recent:
            for row in picked(rows, self.recent.keys()).dicts():
                self.recent[row["stream"]].append(row)
