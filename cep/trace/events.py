"""Event definitions: whether the condition was true on a row, and whether that was an edge."""

from __future__ import annotations

from cep.interpreter.context import Context
from cep.interpreter.rows import Row
from cep.plan.nodes import Event
from cep.plan.text import Speech
from cep.trace.conditions import Condition
from cep.trace.engines import Outcome
from cep.trace.notes import Notes
from cep.trace.scope import Scope
from cep.trace.texts import moment
from cep.trace.words import Identity


class EventWatch:
    """One event definition, for the key of the trace."""

    def __init__(self, event: Event, scope: Scope, context: Context, notes: Notes) -> None:
        self.event = event
        self._scope = scope
        self._notes = notes
        self._condition = Condition(event.condition, context, Speech())
        self._true_since_msc: int | None = None

    def see(self, row: Row, raised: dict[Identity, list[Outcome]]) -> None:
        """Say what a row of the source means to the event; `raised` tells what became of it."""
        key = row.values[self.event.key.position] if self.event.key is not None else None
        if self.event.key is not None and not self._scope.sees([key]):
            return
        if not self._condition.holds(row):
            self._true_since_msc = None
            self._say(f"false: {self._condition.why_not(row)}")
            return
        since, text = self._true_since_msc, self._condition.text(row)
        if since is None:
            self._true_since_msc = row.time
        elif not self.event.every:
            self._say(f"true, but no edge: true since {moment(since)}: {text}")
            return
        came = raised.get((self.event.name, key))
        outcome = came.pop(0).lines if came else []
        self._say(f"RAISED: {text}", outcome)

    def _say(self, text: str, details: list[str] | None = None) -> None:
        self._notes.add(self.event.name, text, details or [])
