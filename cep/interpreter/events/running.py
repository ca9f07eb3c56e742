"""The engines and events of a plan, connected to their streams."""

from __future__ import annotations

from functools import partial

from cep.interpreter.context import Context, Shared
from cep.interpreter.events.engine import Arrived, RunningEngine
from cep.interpreter.events.hand_over import HandOver
from cep.interpreter.events.queue import Queued
from cep.interpreter.events.raising import RunningEvent
from cep.interpreter.rows import Chunk
from cep.plan.nodes import Chained, Event, Plan


class RunningEvents:
    """What a plan has of the simple engine.

    The readers of a complex event are, in this order: queries and events as they stand in the
    file, chained engines.
    """

    def __init__(self, plan: Plan, shared: Shared) -> None:
        self._shared = shared
        hand_over = HandOver()
        self._engines = {
            engine.name: RunningEngine(
                engine, plan, self._place("engine", engine.name), shared.keys, hand_over
            )
            for engine in plan.engines
        }

    def watch(self, event: Event) -> None:
        """Let an event read its stream from now on."""
        place = self._place("event", event.name)
        running = RunningEvent(event, place, self._engines[event.engine])
        self._shared.streams[event.source].subscribe(running.receive)

    def connect(self, plan: Plan) -> None:
        """Let chained engines read complex events, behind all other readers."""
        streams = self._shared.streams
        found_by = {found.name: self._engines[found.engine] for found in plan.complexes}
        for engine in plan.engines:
            for one in plan.chained:
                if one.engine == engine.name:
                    chain = partial(self._chain, one, found_by[one.complex])
                    streams[one.complex].subscribe(chain)

    def queue(self, engine: str) -> list[Queued]:
        """19: what an engine has in its queue, in order of arrival; KeyError: no such engine."""
        return list(self._engines[engine].queue.events)

    def on_arrival(self, arrived: Arrived) -> None:
        """Tell of every event that comes to an engine."""
        for engine in self._engines.values():
            engine.arrived = arrived

    def _chain(self, chained: Chained, upper: RunningEngine, chunk: Chunk) -> None:
        """14: complex events are simple events of the next engine."""
        for row in chunk:
            key = row.values[0]
            self._engines[chained.engine].arrive(chained, key, upper.clock_ms(key), row)

    def _place(self, kind: str, name: str) -> Context:
        return Context(self._shared).within(kind).within(name).going_by(kind, name)
