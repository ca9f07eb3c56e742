"""Our own engine as a provider."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cep.database.lateness import newest_in
from cep.dropped import Dropped
from cep.engine.change import changed, compiled_for
from cep.engine.compiled import Machine
from cep.engine.encode import InputRows
from cep.engine.native import Compiled, Run
from cep.engine.results import Results
from cep.jepc.errors import QueryError
from cep.jepc.provider import Event, Result, newest_after
from cep.plan.nodes import Plan

if TYPE_CHECKING:
    from cep.database.batches import Arrivals

BATCH_EVENTS = 10_000
"""The most events that are fed at once when they come column by column."""


class NativeProvider:
    """Compiles what it can and interprets the rest; runs everything there is.

    With `jit=False` nothing is compiled to machine code: slower, starts at once. `machine` is when
    one program runs all queries; see `Compiled`.
    """

    def __init__(self, *, jit: bool = True, machine: Machine = "needed") -> None:
        self._jit = jit
        self._machine: Machine = machine
        self._run: Run | None = None
        self._newest_msc = 0
        self._dropped = Dropped()

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by operator and reason; closed, too."""
        return self._dropped if self._run is None else self._run.dropped

    def refusals(self, plan: Plan) -> dict[str, str]:
        """Nothing."""
        return {}

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Go on with another plan between two events."""
        if self._run is None:
            rules = Compiled(plan, outputs=outputs, jit=self._jit, wide=True, machine=self._machine)
            self._run = rules.start(mode="sorted")
        else:
            self._run, _ = changed(self._run, compiled_for(self._run, plan, outputs=outputs))

    def push(self, events: Sequence[Event]) -> list[Result]:
        """Feed the events as one batch.

        InputError, and nothing fed, when a value does not fit; EventError when an event is late.
        """
        run = self._opened()
        newest_msc = newest_after(events, self._newest_msc)
        if not events:
            return []
        rows = self._encoded(run, events)
        self._newest_msc = newest_msc
        found = Results(run.feed(rows))
        return [
            Result(stream, time_msc, dict(zip(names, values, strict=True)))
            for stream, time_msc, names, values in found.in_order()
        ]

    def push_batches(self, events: Sequence[Event]) -> Iterator[list[Result]]:
        """All events are one batch."""
        return iter([self.push(events)])

    def push_columns(self, arrivals: Sequence[Arrivals]) -> Iterator[list[Results]]:
        """Push events column by column; results come as columns, a fair amount at a time.

        InputError, and nothing fed, when a value does not fit; EventError when an event is late.
        """
        run = self._opened()
        given = [one for one in arrivals if len(one.places)]
        rows = [_encoded(run, one) for one in given]
        self._newest_msc = newest_in(given, self._newest_msc)
        return self._fed(run, given, rows)

    def _fed(
        self, run: Run, arrivals: Sequence[Arrivals], rows: Sequence[InputRows]
    ) -> Iterator[list[Results]]:
        """The rows of several streams in the order of their places, a batch at a time."""
        places = [one.places for one in arrivals]
        first = min((int(one[0]) for one in places), default=0)
        last = max((int(one[-1]) for one in places), default=-1)
        starts = [0] * len(rows)
        for past in range(first + BATCH_EVENTS, last + 1 + BATCH_EVENTS, BATCH_EVENTS):
            stops = [int(np.searchsorted(one, past)) for one in places]
            parts = [
                InputRows(one.ints[start:stop], one.floats[start:stop])
                for one, start, stop in zip(rows, starts, stops, strict=True)
            ]
            starts = stops
            for part in run.feed_in_parts(InputRows.merge(parts)):
                yield [Results(part)]

    def close(self) -> None:
        self._dropped, self._run, self._newest_msc = self.dropped, None, 0

    def _opened(self) -> Run:
        if self._run is None:
            raise QueryError("no plan runs here, or no more; give one with `change`")
        return self._run

    def _encoded(self, run: Run, events: Sequence[Event]) -> InputRows:
        """The events of all streams as rows in the order they came."""
        by_stream: defaultdict[str, list[int]] = defaultdict(list)
        for place, event in enumerate(events):
            by_stream[event.stream].append(place)
        parts = []
        for stream, places in by_stream.items():
            names = run.encoder.source(stream).schema.names
            columns = zip(*(events[place].values for place in places), strict=True)
            times = np.array([events[place].time_msc for place in places], np.int64)
            orders = np.array(places, np.int64) + run.next_order
            values = dict(zip(names, columns, strict=True))
            parts.append(run.encoder.encode(stream, values, times, orders))
        return InputRows.merge(parts)


def _encoded(run: Run, arrivals: Arrivals) -> InputRows:
    """Events of one stream as rows."""
    names = run.encoder.source(arrivals.stream).schema.names
    values = dict(zip(names, arrivals.columns, strict=True))
    orders = arrivals.places + run.next_order
    return run.encoder.encode(arrivals.stream, values, arrivals.times, orders)
