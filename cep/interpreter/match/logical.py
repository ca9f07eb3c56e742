"""`e1=A and e2=B`, `e1=A or e2=B`: two stages at which the same partial matches wait."""

from __future__ import annotations

from typing import Literal

from cep.interpreter.match.frame import Frame
from cep.interpreter.match.partial import Partial
from cep.interpreter.match.stage import Stage
from cep.interpreter.rows import Row
from cep.plan.query import StreamState


class LogicalStage(Stage):
    """One side; `partner` is the other. Both hand on to the same stages."""

    partner: LogicalStage

    def __init__(
        self, op: Literal["and", "or"], state: StreamState, frame: Frame, is_start: bool
    ) -> None:
        super().__init__(state, frame, is_start)
        self.op = op

    def join(self, partner: LogicalStage) -> None:
        """Make two sides partners."""
        self.partner = partner
        partner.partner = self

    @property
    def first_slot(self) -> int:
        return min(self.slot, self.partner.slot)

    def follow(self, stage: Stage) -> None:
        super().follow(stage)
        self.partner.next = stage

    def repeat(self, stage: Stage) -> None:
        super().repeat(stage)
        self.partner.again = stage

    def add(self, partial: Partial) -> None:
        """It waits at both sides. A start, or a state of a sequence, takes one per row."""
        one_only = self.is_start or self.frame.is_sequence
        for side in (self, self.partner):
            if not (one_only and side.fresh):
                side.fresh.append(partial)

    def add_again(self, partial: Partial) -> None:
        branch = partial.branch(self.first_slot)
        self.fresh.append(branch)
        self.partner.fresh.append(branch)

    def update(self) -> None:
        super().update()
        Stage.update(self.partner)

    def reset(self) -> None:
        """An `and` of which one side has come waits on, whatever row comes in between."""
        if self.op == "or" or len(self.pending) == len(self.partner.pending):
            self._break()
            self.partner._break()
            if self.is_start and not self.fresh:
                self._begin_again()

    def accept(self, partial: Partial, row: Row) -> bool:
        if self.op == "and" and not self.partner.lets_pass(partial):
            return True
        super().accept(partial, row)
        if not self.frame.compat:
            self.partner.forget(partial)
        if self.op == "or" and self.next is None and self.watched is self.partner.signal:
            self.watched.raised = True
        return True

    def lets_pass(self, partial: Partial) -> bool:
        """Whether this side of an `and` is complete."""
        return partial.slots[self.slot] is not None

    def forget(self, partial: Partial) -> None:
        """The other side has completed the state. Siddhi leaves the partial match behind here,
        where it expires once more."""
        if self.op == "or" and partial in self.pending:
            self.pending.remove(partial)

    def _stays(self, partial: Partial, row: Row, done: list[Partial]) -> bool:
        return not self._is_decided(partial) and super()._stays(partial, row, done)

    def _stays_refused(self) -> bool:
        return not self.frame.is_sequence

    def _is_decided(self, partial: Partial) -> bool:
        """Whether the other side of an `or` came first."""
        return self.op == "or" and partial.slots[self.partner.slot] is not None
