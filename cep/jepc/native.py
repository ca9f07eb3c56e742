"""Our own engine as a provider."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cep.database.lateness import newest_in
from cep.dropped import Dropped
from cep.engine.results import Results
from cep.jepc.errors import QueryError
from cep.jepc.provider import Event, Result, newest_after
from cep.jepc.running import Encoded, Running
from cep.plan.nodes import Plan

if TYPE_CHECKING:
    from cep.database.batches import Arrivals

BATCH_EVENTS = 10_000
"""The most events that are fed at once when they come column by column."""


class NativeProvider:
    """Runs everything there is, as machine code.

    With `jit=False` nothing is compiled to machine code: slower, starts at once.
    """

    def __init__(self, *, jit: bool = True) -> None:
        self._jit = jit
        self._running: Running | None = None
        self._newest_msc = 0
        self._dropped = Dropped()

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by operator and reason; closed, too."""
        return self._dropped if self._running is None else self._running.dropped

    def refusals(self, plan: Plan) -> dict[str, str]:
        """Nothing."""
        return {}

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Go on with another plan between two events."""
        if self._running is None:
            self._running = Running(plan, outputs, jit=self._jit)
        else:
            self._running.change(plan, outputs)

    def push(self, events: Sequence[Event]) -> list[Result]:
        """Feed the events as one batch.

        InputError, and nothing fed, when a value does not fit; EventError when an event is late.
        """
        running = self._opened()
        newest_msc = newest_after(events, self._newest_msc)
        if not events:
            return []
        rows = list(_encoded(running, events))
        self._newest_msc = newest_msc
        return [
            Result(stream, time_msc, dict(zip(names, values, strict=True)))
            for stream, time_msc, names, values in running.in_order(running.feed(rows))
        ]

    def push_batches(self, events: Sequence[Event]) -> Iterator[list[Result]]:
        """All events are one batch."""
        return iter([self.push(events)])

    def push_columns(self, arrivals: Sequence[Arrivals]) -> Iterator[list[Results]]:
        """Push events column by column; results come as columns, a fair amount at a time.

        InputError, and nothing fed, when a value does not fit; EventError when an event is late.
        """
        running = self._opened()
        given = [one for one in arrivals if len(one.places)]
        rows = [running.encoded(one.stream, one.columns, one.times, one.places) for one in given]
        self._newest_msc = newest_in(given, self._newest_msc)
        return self._fed(running, given, rows)

    def _fed(
        self, running: Running, arrivals: Sequence[Arrivals], rows: Sequence[Encoded]
    ) -> Iterator[list[Results]]:
        """The rows of several streams in the order of their places, a batch at a time."""
        places = [one.places for one in arrivals]
        first = min((int(one[0]) for one in places), default=0)
        last = max((int(one[-1]) for one in places), default=-1)
        starts = [0] * len(rows)
        for past in range(first + BATCH_EVENTS, last + 1 + BATCH_EVENTS, BATCH_EVENTS):
            stops = [int(np.searchsorted(one, past)) for one in places]
            spans = zip(rows, starts, stops, strict=True)
            parts = [one.part(start, stop) for one, start, stop in spans]
            starts = stops
            yield from running.feed_in_parts(parts)

    def close(self) -> None:
        self._dropped, self._running, self._newest_msc = self.dropped, None, 0

    def _opened(self) -> Running:
        if self._running is None:
            raise QueryError("no plan runs here, or no more; give one with `change`")
        return self._running


def _encoded(running: Running, events: Sequence[Event]) -> Iterator[Encoded]:
    """The events of each stream as rows."""
    by_stream: defaultdict[str, list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        by_stream[event.stream].append(place)
    for stream, places in by_stream.items():
        columns = list(zip(*(events[place].values for place in places), strict=True))
        times = np.array([events[place].time_msc for place in places], np.int64)
        yield running.encoded(stream, columns, times, np.array(places, np.int64))
