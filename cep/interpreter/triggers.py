"""Triggers: streams that the clock feeds, with one attribute, the time."""

from __future__ import annotations

from cep.interpreter.clock import Clock
from cep.interpreter.context import Context
from cep.interpreter.rows import Row
from cep.interpreter.streams import Junction
from cep.plan.cron import Cron
from cep.plan.nodes import Trigger


class RunningTrigger:
    """Sends a row at the start, every so often, or at the times of a cron expression.

    `wall` is given for Siddhi's mode in playback: there a trigger's periods are those of the wall's
    clock, while its rows carry the time of the rows' clock.
    """

    def __init__(
        self, trigger: Trigger, context: Context, stream: Junction, wall: Clock | None = None
    ) -> None:
        self.name = trigger.name
        self._trigger = trigger
        self._stream = stream
        self._context = context
        self._wall = wall
        self._cron = None if trigger.cron is None else Cron.parse(trigger.cron)
        if wall is None:
            self._timer = context.timer("trigger", self._fire)
        else:
            self._timer = wall.timer(f"{context.path}/trigger", self._fire)

    def start(self, time_ms: int) -> None:
        """Begin at that time."""
        if self._trigger.every_ms is None and self._cron is None:
            self._send(time_ms)
        elif self._wall is None:
            self._next(time_ms)

    def start_wall(self, time_ms: int) -> None:
        """The wall's clock is known now; it matters to those that follow it."""
        if self._wall is not None:
            self._next(time_ms)

    def _next(self, time_ms: int) -> None:
        due_ms = None
        if self._cron is not None:
            due_ms = self._cron.next_after(time_ms)
        elif self._trigger.every_ms is not None:
            due_ms = time_ms + self._trigger.every_ms
        if due_ms is not None:
            self._timer.at(due_ms)

    def _fire(self, due_ms: int) -> None:
        self._next(due_ms)
        self._send(due_ms if self._wall is None else self._context.now_ms)

    def _send(self, time_ms: int) -> None:
        with self._context.shared.cause.at(time_ms):
            self._stream.send([Row(time_ms, [time_ms])])
