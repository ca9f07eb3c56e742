"""Watching the engines of a run at work, for debugging: each arrival, and the queue behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cep.engine.kernels.state import CLOCK, KEYS, State
from cep.engine.native import Run
from cep.engine.queues import Queued, definitions, queue
from cep.plan.nodes import Chained, Event


@dataclass(frozen=True, slots=True)
class Arrival:
    """A raised event, or a complex event handed to a chained engine, and the queue afterwards.

    `queue` holds the event last if it entered, and the binds of what was found; `keys` is how many
    keys there were, for each of which complex events `for each` key are looked for. `clock_msc` is
    the clock at the record that it follows from, which is late or not.
    """

    entry: Event | Chained
    key: str | None
    time_msc: int
    queue: tuple[Queued, ...]
    keys: int
    clock_msc: int
    is_late: bool

    @property
    def name(self) -> str:
        """The event's or the complex event's name."""
        return self.entry.name if isinstance(self.entry, Event) else self.entry.complex


Wanted = Callable[[str, str | None], bool]
"""Whether arrivals at an engine of an event of that key are wanted."""


def watch(run: Run, wanted: Wanted, told: Callable[[Arrival], None]) -> None:
    """Tell every wanted arrival, in order. The run is uncompiled from then on."""
    for stage in run.stages:
        run.stages[stage].watch({"arrive": _watched(run, stage, wanted, told)})


def _watched(
    run: Run, stage: int, wanted: Wanted, told: Callable[[Arrival], None]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    entries = definitions(run, stage)
    keyed = run.rules.stages.by.is_engine_keyed

    def around(arrive: Callable[..., Any]) -> Callable[..., Any]:
        def arrive_watched(state: State, order: int, d: int, k: int, time_msc: int) -> None:
            arrive(state, order, d, k, time_msc)
            entry = entries[d]
            key = run.strings.text(int(state.ki[k, 0]))
            if wanted(entry.engine, key):
                row = int(k) if keyed(entry.engine) else None
                held = tuple(queue(run, entry.engine, row))
                keys, clock = int(state.gi[0, KEYS]), int(state.gi[0, CLOCK])
                told(Arrival(entry, key, int(time_msc), held, keys, abs(clock), clock < 0))

        return arrive_watched

    return around
