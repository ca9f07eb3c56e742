"""Our own engine as a provider."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from cep.engine.change import changed, compiled_for
from cep.engine.encode import InputRows
from cep.engine.native import Compiled, Run
from cep.jepc.provider import Event, Result
from cep.plan.nodes import Plan


class NativeProvider:
    """Compiles what it can and interprets the rest; runs everything there is.

    With `jit=False` nothing is compiled to machine code: slower, starts at once.
    """

    def __init__(self, *, jit: bool = True) -> None:
        self._jit = jit
        self._run: Run | None = None

    def refusals(self, plan: Plan) -> dict[str, str]:
        """Nothing."""
        return {}

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Go on with another plan between two events."""
        if self._run is None:
            self._run = Compiled(plan, outputs=outputs, jit=self._jit).start()
        else:
            self._run, _ = changed(self._run, compiled_for(self._run, plan, outputs=outputs))

    def push(self, events: Sequence[Event]) -> list[Result]:
        """Feed the events as one batch; InputError, and nothing fed, when a value does not fit."""
        assert self._run is not None
        rows = self._run.feed(self._encoded(self._run, events)).dicts() if events else []
        made = [(row.pop("stream"), row.pop("time_msc"), row.pop("kind")) for row in rows]
        return [
            Result(stream, time_msc, row)
            for (stream, time_msc, _), row in zip(made, rows, strict=True)
        ]

    def close(self) -> None:
        self._run = None

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
