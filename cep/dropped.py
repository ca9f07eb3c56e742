"""What a run has dropped: counted by name and reason, the same wherever the rules run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from cep.plan.change import Change, PartId

SavedCounts = list[tuple[str, str, str, int]]
CHAINED = "chained"
"""The kind of a complex event in the queue of another engine."""


class Reason(StrEnum):
    """Why something was dropped; docs/rule-language.md says when."""

    LATE = "late"
    REPEAT = "repeat"
    OPPOSITE = "opposite"
    BOUND = "bound"
    LIMIT = "limit"
    REORDER = "reorder"
    UNUSABLE = "unusable"


class Dropped:
    """Counts by part (`("event", "Up")`) and reason; what was never dropped is not in it."""

    def __init__(self, counts: Iterable[tuple[PartId, Reason, int]] = ()) -> None:
        self._counts: dict[tuple[PartId, Reason], int] = {}
        for part, reason, count in counts:
            self.add(part, reason, count)

    def __iter__(self) -> Iterator[tuple[PartId, Reason, int]]:
        """Part, reason, count: by kind and name, reasons in their order."""
        counts, order = self._counts.copy(), list(Reason)
        for part, reason in sorted(counts, key=lambda one: (one[0], order.index(one[1]))):
            yield part, reason, counts[part, reason]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dropped) and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self._counts)

    def __repr__(self) -> str:
        return f"Dropped({self.by_name()})"

    def add(self, part: PartId, reason: Reason, count: int = 1) -> None:
        """Count what a part has dropped."""
        if count:
            self._counts[part, reason] = self.count(part, reason) + count

    def count(self, part: PartId, reason: Reason) -> int:
        """How much a part has dropped for a reason."""
        return self._counts.get((part, reason), 0)

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped([*self, *other])

    def __sub__(self, other: Dropped) -> Dropped:
        """What has come since; `other` is an earlier state of the same counts."""
        return Dropped((part, reason, n - other.count(part, reason)) for part, reason, n in self)

    def carried(self, change: Change) -> Dropped:
        """The counts of what goes on under other rules, by its new names."""
        names = {old: new for new, old in change.kept.items()}
        return Dropped((names[part], reason, n) for part, reason, n in self if part in names)

    def by_name(self) -> dict[str, dict[str, int]]:
        """As JSON has it: `{"event Up": {"late": 3}}`."""
        found: dict[str, dict[str, int]] = {}
        for part, reason, count in self:
            found.setdefault(title(part), {})[reason.value] = count
        return found

    def lines(self) -> list[str]:
        """The summary at the end of a run."""
        if not self:
            return ["dropped: nothing"]
        return ["dropped:", *(f"  {line}" for line in named_lines(self.by_name()))]

    def state(self) -> SavedCounts:
        """Plain data, for a snapshot or another process."""
        return [(*part, reason.value, count) for part, reason, count in self]

    @classmethod
    def of(cls, state: SavedCounts) -> Dropped:
        """The counts of `state`."""
        found = cls()
        found.restore(state)
        return found

    def restore(self, state: SavedCounts) -> None:
        """Take the counts of `state`."""
        self._counts = {
            ((kind, name), Reason(reason)): count for kind, name, reason, count in state
        }


Ended = Callable[[Dropped], None]
"""Told at the end of a run what it has dropped."""


def nobody(_dropped: Dropped) -> None:
    """Told by a run whose caller does not ask."""


def title(part: PartId) -> str:
    """What the summary calls a part."""
    kind, name = part
    return f"{'event' if kind == CHAINED else kind} {name}"


def named_lines(by_name: dict[str, dict[str, int]]) -> list[str]:
    """A line for each name: `event Up: 3 late, 1 repeat`."""
    return [
        f"{name}: {', '.join(f'{count:,} {reason}' for reason, count in counts.items())}"
        for name, counts in by_name.items()
    ]
