"""`not S[..] for t`: a state that is complete when nothing has come for a time."""

from __future__ import annotations

from collections import deque
from typing import Any

from cep.interpreter.match.frame import Frame, Outcome
from cep.interpreter.match.partial import NEVER, Partial
from cep.interpreter.match.stage import Stage
from cep.interpreter.rows import Row
from cep.plan.query import AbsentState


class AbsentStage(Stage):
    """Partial matches wait here until `for_ms` after their newest row, unless the event comes.

    At the start of a match the time counts from the start of the clock and from each event that
    came. `is_active` ends with the only match of a pattern that starts here without `every`.
    """

    is_absence = True

    def __init__(self, state: AbsentState, frame: Frame, is_start: bool) -> None:
        super().__init__(state.state, frame, is_start)
        assert state.for_ms is not None, "the parser refuses `not S` alone without a time"
        self._for_ms = state.for_ms
        self._due_ms = 0
        self._is_active = True
        self._timer = frame.context.timer(f"absent{self.slot}", self.fire)

    def start(self, time_ms: int) -> None:
        if self.is_start:
            self._wait_from(time_ms)

    def add(self, partial: Partial) -> None:
        if not self._is_active:
            return
        if self.frame.is_sequence:
            self.fresh.clear()
        self.fresh.append(partial)
        if not self.is_start:
            self._wait_from(partial.time)

    def add_again(self, partial: Partial) -> None:
        super().add_again(partial)
        self._wait_from(partial.time)

    def reset(self) -> None:
        self._break()
        if self.is_start:
            self._begin_again()

    def offer(self, row: Row) -> list[Partial]:
        return super().offer(row) if self._is_active else []

    def accept(self, partial: Partial, row: Row) -> bool:
        """The event came: this partial match is over."""
        self.frame.tell(self.name, Outcome.FORBIDDEN, partial)
        partial.time = row.time
        partial.is_done = True
        if self.is_start and self.again is self:
            super().add_again(partial)
        self._wait_from(row.time)
        return True

    def fire(self, due_ms: int) -> None:
        """A time has passed: what has waited long enough goes on."""
        if not self._is_active:
            return
        self._refill()
        passed = self._passed(due_ms)
        for partial in passed:
            self._send(partial, due_ms)
        now_ms = self.frame.context.now_ms
        if now_ms > self._for_ms + due_ms:
            self._due_ms = now_ms + self._for_ms
        if not passed and self._due_ms < due_ms:
            self._wait_from(due_ms)

    def state(self, number: dict[int, int]) -> dict[str, Any]:
        own = {"due_ms": self._due_ms, "is_active": self._is_active}
        return super().state(number) | own

    def restore(self, state: dict[str, Any], partials: list[Partial]) -> None:
        super().restore(state, partials)
        self._due_ms = state["due_ms"]
        self._is_active = state["is_active"]

    def _wait_from(self, time_ms: int) -> None:
        self._due_ms = time_ms + self._for_ms
        self._timer.at(self._due_ms)

    def _stays_refused(self) -> bool:
        if self.frame.is_sequence:
            super()._stays_refused()
        return True

    def _collect(self, partial: Partial, done: list[Partial]) -> None:
        """Nothing: an event that must be absent completes no match."""

    def _refill(self) -> None:
        """At the start of a match an empty partial match waits, unless an only one is under way."""
        sequence = self.frame.is_sequence
        if self.is_start and not self.fresh and not self.pending:
            under_way = sequence and self.again is None and self._due_ms > 0
            if not under_way:
                self.add(Partial([None] * self.frame.slots))
        elif sequence and self.fresh:
            self.reset()
        self.update()

    def _passed(self, due_ms: int) -> list[Partial]:
        """Take out what has waited long enough, and drop what is too old."""
        passed: list[Partial] = []
        waiting: deque[Partial] = deque()
        for partial in self.pending:
            if self.limits and self._is_over(partial, due_ms):
                self._expire(partial, due_ms)
                if self.restart is not None and self.restart is not self:
                    self._start_again(self.restart, partial, due_ms)
            elif due_ms >= self._ends_ms(partial):
                passed.append(partial)
            else:
                waiting.append(partial)
        self.pending = waiting
        return passed

    def _ends_ms(self, partial: Partial) -> int:
        """When the partial match has waited long enough."""
        return self._due_ms if partial.time == NEVER else partial.time + self._for_ms

    def _send(self, partial: Partial, due_ms: int) -> None:
        self._complete_at(partial, due_ms)
        if self.is_start and self.again is None:
            self._is_active = False
