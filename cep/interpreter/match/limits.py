"""`within`: how old a partial match may become."""

from __future__ import annotations

from dataclasses import dataclass

from cep.interpreter.match.partial import PASSED, Partial
from cep.plan.query import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    LogicalState,
    MatchState,
    NextState,
    StreamState,
)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `within_ms` after the first row in any of `slots`, where the states begin.

    `both_ways` is Siddhi's defect: a row that comes late by more than that kills, too, and so does
    any row after a leading `not X for t` beside `and`, whose time it takes for 1970.
    """

    slots: tuple[int, ...]
    within_ms: int
    both_ways: bool

    def is_over(self, partial: Partial, now_ms: int) -> bool:
        """Whether the partial match is too old at a row of that time."""
        return any(self._is_over(partial, slot, now_ms) for slot in self.slots)

    def _is_over(self, partial: Partial, slot: int, now_ms: int) -> bool:
        if self.both_ways and partial.slots[slot] is PASSED:
            return True
        first_ms = partial.first_ms(slot)
        if first_ms is None:
            return False
        passed_ms = now_ms - first_ms
        return (abs(passed_ms) if self.both_ways else passed_ms) > self.within_ms

    def due_ms(self, partial: Partial) -> int | None:
        """The first time at which the partial match is too old; None before its first row."""
        times = [first for slot in self.slots if (first := partial.first_ms(slot)) is not None]
        return min(times) + self.within_ms + 1 if times else None


def start_slots(state: MatchState) -> tuple[int, ...]:
    """The slots in which a match of the state can begin."""
    match state:
        case StreamState():
            return (state.slot,)
        case CountState() | AbsentState():
            return (state.state.slot,)
        case LogicalState():
            return (*start_slots(state.left), *start_slots(state.right))
        case NextState():
            return start_slots(state.left)
        case EveryState() | GroupState():
            return start_slots(state.state)
