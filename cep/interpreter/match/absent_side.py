"""`not S [for t]` beside `and` or `or`."""

from __future__ import annotations

from collections import deque
from typing import Any, Literal

from cep.interpreter.match.frame import Frame, Outcome
from cep.interpreter.match.logical import LogicalStage
from cep.interpreter.match.partial import PASSED, Partial
from cep.interpreter.rows import Row
from cep.plan.query import AbsentState


class AbsentSide(LogicalStage):
    """The absent side. Without a time it forbids its event until the partner's has come.

    With a time the slot holds `PASSED` once the time is over. In the first state of a match an
    event that must be absent starts the time anew; later it ends the partial match.
    """

    is_absence = True

    def __init__(
        self, op: Literal["and", "or"], state: AbsentState, frame: Frame, is_start: bool
    ) -> None:
        super().__init__(op, state.state, frame, is_start)
        self.for_ms = state.for_ms
        self.is_active = True
        self.is_first = False
        self._last_ms = 0
        self.timer = frame.context.timer(f"absent{self.slot}", self.fire)

    def start(self, time_ms: int) -> None:
        if self.is_start and self.for_ms is not None:
            self.timer.at(time_ms + self.for_ms)

    def add(self, partial: Partial) -> None:
        if not self.is_active:
            return
        super().add(partial)
        if not self.is_start:
            for side in (self, self.partner):
                if isinstance(side, AbsentSide) and side.for_ms is not None:
                    side.timer.at(partial.time + side.for_ms)

    def add_again(self, partial: Partial) -> None:
        branch = partial.branch(self.first_slot)
        held = partial.slots[self.slot]
        if isinstance(held, Row):
            branch.time = held.time
        self.fresh.append(branch)
        self.partner.fresh.append(branch)

    def offer(self, row: Row) -> list[Partial]:
        return super().offer(row) if self.is_active else []

    def lets_pass(self, partial: Partial) -> bool:
        every = self.again is not None
        came = self._last_ms > 0
        if self.frame.is_sequence and not every and came:
            return False
        if self.for_ms is not None:
            return partial.slots[self.slot] is not None
        if not every:
            return partial.slots[self.slot] is None
        if came:
            self._last_ms = 0
            self.begin()
        return not came

    def forget(self, partial: Partial) -> None:
        if partial in self.pending:
            self.pending.remove(partial)

    def fire(self, due_ms: int) -> None:
        """The time has passed: for those who had waited for that alone, the state is complete."""
        if not self.is_active or self.for_ms is None:
            return
        ready: list[Partial] = []
        if due_ms >= self._last_ms + self.for_ms:
            self._refill()
            ready = self._ready(due_ms)
            for partial in ready:
                self._send(partial, due_ms)
            self._last_ms = 0
        if self.again is not None or (not ready and self.is_start):
            self.timer.at((self._last_ms or self.frame.context.now_ms) + self.for_ms)

    def state(self, number: dict[int, int]) -> dict[str, Any]:
        own = {"last_ms": self._last_ms, "is_active": self.is_active}
        return super().state(number) | own

    def restore(self, state: dict[str, Any], partials: list[Partial]) -> None:
        super().restore(state, partials)
        self._last_ms = state["last_ms"]
        self.is_active = state["is_active"]

    def _stays(self, partial: Partial, row: Row, done: list[Partial]) -> bool:
        if self._is_decided(partial):
            return False
        before = partial.slots[self.slot]
        partial.slots[self.slot] = row
        came = self._passes(partial)
        if not came:
            partial.slots[self.slot] = before
            return not self.frame.is_sequence
        self.frame.tell(self.name, Outcome.FORBIDDEN, partial)
        self._last_ms = row.time
        repeats = self.frame.is_sequence and self.op == "and" and self.again is not None
        if self.for_ms is not None or repeats:
            partial.slots[self.slot] = before
        if not self.is_first and self.frame.is_sequence and partial in self.partner.pending:
            self.partner.pending.remove(partial)
        return self.is_first

    def _refill(self) -> None:
        if self.frame.is_sequence:
            if self.is_start and not self.fresh and not self.pending:
                self.add(Partial([None] * self.frame.slots))
            elif self.fresh:
                self.reset()
        self.update()

    def _ready(self, due_ms: int) -> list[Partial]:
        """Take out those whose time has passed, and return what is complete with that."""
        ready: list[Partial] = []
        waiting: deque[Partial] = deque()
        expired = None
        for partial in self.pending:
            if self._is_over(partial, due_ms):
                expired = self._expire(partial, due_ms) or partial
            elif due_ms < self._ends_ms(partial):
                waiting.append(partial)
            elif self._completes(partial):
                ready.append(partial)
        self.pending = waiting
        if expired is not None and self.restart is not None:
            self._start_again(self.restart, expired, due_ms)
        return ready

    def _ends_ms(self, partial: Partial) -> int:
        held = partial.slots[self.slot]
        assert self.for_ms is not None, "only timed absences wait"
        return (held.time if isinstance(held, Row) else partial.time) + self.for_ms

    def _completes(self, partial: Partial) -> bool:
        """The time has passed for a partial match: whether the partner's part is done, too."""
        partner_came = partial.slots[self.partner.slot] is not None
        if not partner_came:
            partial.slots[self.slot] = PASSED
        return partner_came == (self.op == "and")

    def _send(self, partial: Partial, due_ms: int) -> None:
        self._complete_at(partial, due_ms)
        if self.is_start and self.again is None:
            self.is_active = False
            if self.op == "or" and isinstance(self.partner, AbsentSide):
                self.partner.is_active = False
