"""What comes to the engines, and the queue behind it: what a trace explains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cep.interpreter.events import Arrival, Queued
from cep.interpreter.interpreter import Interpreter
from cep.plan.nodes import Chained, Event


@dataclass(frozen=True, slots=True)
class Came:
    """A raised event, or a complex event handed to a chained engine, and the queue afterwards.

    `queue` holds the event last if it entered, and what it has been bound to; `keys` are those that
    were known, for each of which complex events `for each` key are looked for.
    """

    entry: Event | Chained
    arrival: Arrival
    queue: tuple[Queued, ...]
    keys: frozenset[str]

    @property
    def key(self) -> str | None:
        return self.arrival.key


QueueOf = Callable[[str, str | None], bool]
"""Whether a queued event of an engine and key is to be seen."""


def watch(interpreter: Interpreter, wanted: QueueOf, told: Callable[[Came], None]) -> None:
    """Tell every wanted arrival, in order."""

    def arrived(entry: Event | Chained, arrival: Arrival) -> None:
        if not wanted(entry.engine, arrival.key):
            return
        queue = tuple(
            replace(queued, bound=[*queued.bound])
            for queued in interpreter.queue(entry.engine)
            if wanted(entry.engine, queued.key)
        )
        told(Came(entry, arrival, queue, frozenset(interpreter.shared.keys)))

    interpreter.on_arrival(arrived)
