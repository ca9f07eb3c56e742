"""A state that collects several events: `e1=S<m:n>`, `S*`, `S+`, `S?`."""

from __future__ import annotations

from typing import Any

from cep.interpreter.match.frame import Frame
from cep.interpreter.match.partial import Partial
from cep.interpreter.match.stage import Stage
from cep.interpreter.rows import Row
from cep.plan.query import CountState


class CountedStage(Stage):
    """Collects events; from the least number on the next stage may take over.

    The partial match then waits here and there: it collects until the most, or until the next
    stage has taken an event. As the last state it completes at the least number.
    """

    def __init__(self, state: CountState, frame: Frame, is_start: bool) -> None:
        super().__init__(state.state, frame, is_start)
        self.least = state.least
        self.most = state.most
        self.begins_next = False

    def follow(self, stage: Stage) -> None:
        super().follow(stage)
        if self.is_start and self.frame.is_sequence and self.least == 0:
            stage.star = self

    def add(self, partial: Partial) -> None:
        """With a least number of 0 the next stage may take over at once."""
        is_complete = self.least == 0 and partial.slots[self.slot] is None
        if not (is_complete and self.next is None) or self.frame.compat:
            super().add(partial)
        if is_complete:
            self._hand_on(partial)

    def update(self) -> None:
        if self.begins_next:
            self.begins_next = False
            self.begin()
        super().update()

    def accept(self, partial: Partial, row: Row) -> bool:
        partial.time = row.time
        count = len(self._collected(partial))
        is_complete = self.next is None and count == self.least
        if self.frame.is_sequence and (self.frame.compat or not is_complete):
            return self._go_on(partial, count)
        if count == self.least:
            self._hand_on(partial)
            return self.next is None or count == self.most
        return count == self.most

    def state(self, number: dict[int, int]) -> dict[str, Any]:
        return super().state(number) | {"begins_next": self.begins_next}

    def restore(self, state: dict[str, Any], partials: list[Partial]) -> None:
        super().restore(state, partials)
        self.begins_next = state["begins_next"]

    def _expire(self, partial: Partial, now_ms: int) -> Partial | None:
        """What a stage behind has taken over does not expire here, and what has reached the least
        number has started its `every` again already. (Siddhi starts it once more.)"""
        if self.frame.compat:
            return super()._expire(partial, now_ms)
        if self._is_taken(partial):
            return None
        has_repeated = self.again is not None and len(self._collected(partial)) >= self.least
        expired = super()._expire(partial, now_ms)
        return None if has_repeated else expired

    def _go_on(self, partial: Partial, count: int) -> bool:
        """In a sequence each event offers the partial match to both stages anew.

        Siddhi forgets a partial match that has less than the least number, so that `<2:>` never
        matches there; and the last state of a sequence is never complete.
        """
        enough = count >= self.least
        if enough and self.next is not None:
            self.next.add(partial)
        if count != self.most and (enough or not self.frame.compat):
            self.add(partial)
        return enough and count == self.most

    def _stays(self, partial: Partial, row: Row, done: list[Partial]) -> bool:
        if self._is_taken(partial):
            return False
        collected = self._collected(partial)
        collected.append(row)
        passes = self._passes(partial)
        leaves = passes and self.accept(partial, row)
        if self.watched.raised:
            self._collect(partial, done)
        if not passes:
            collected.pop()
            if not collected:
                partial.slots[self.slot] = None
            return not self.frame.is_sequence
        return not leaves

    def _collected(self, partial: Partial) -> list[Row]:
        held = partial.slots[self.slot]
        if not isinstance(held, list):
            held = partial.slots[self.slot] = []
        return held

    def _is_taken(self, partial: Partial) -> bool:
        """Whether a stage behind has taken an event (the next may be one that takes none)."""
        behind = partial.slots[self.slot + 1 : self.slot + 3]
        return any(rows is not None for rows in behind)
