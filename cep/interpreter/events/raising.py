"""Simple events: raised from the rows of a stream whose condition turns, or is, true."""

from __future__ import annotations

from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.events.engine import RunningEngine
from cep.interpreter.events.queue import Key
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Row
from cep.plan.nodes import Event


class RunningEvent:
    """The condition of one event (1), watched for each key.

    Rows whose key is null raise nothing. A dropped event was raised all the same.
    """

    def __init__(self, event: Event, context: Context, engine: RunningEngine) -> None:
        self.event = event
        self._holds = evaluator(event.condition, context.owned_by(event.name))
        self._engine = engine
        self._clocks = context.shared.clocks
        self._clock_of = context.clock_of
        self._keys = context.shared.keys
        self._was_true: dict[Key, bool] = {}
        context.keep(self, "edge")

    def receive(self, chunk: Chunk) -> None:
        """Look at rows of the stream, one after the other."""
        for row in chunk:
            key = self._key(row)
            if key is not None:
                self._keys.open([key])
            elif self.event.key is not None:
                continue
            if self._is_raised(row, key):
                clock_ms = self._clocks.of_key(self._clock_of, key).now_ms
                self._engine.arrive(self.event, key, clock_ms, row)

    def _key(self, row: Row) -> Key:
        key = None if self.event.key is None else row.values[self.event.key.position]
        return key if isinstance(key, str) else None

    def _is_raised(self, row: Row, key: Key) -> bool:
        """Whether the row raises the event; null counts as false."""
        is_true = self._holds(row) is True
        if self.event.every:
            return is_true
        was_true = self._was_true.get(key, False)
        self._was_true[key] = is_true
        return is_true and not was_true

    def state(self) -> Any:
        return sorted((key for key, was_true in self._was_true.items() if was_true), key=repr)

    def restore(self, state: Any) -> None:
        self._was_true = dict.fromkeys(state, True)
