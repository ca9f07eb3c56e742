"""Partial matches: the rows found so far, by slot."""

from __future__ import annotations

from cep.interpreter.rows import Row, RowKind

NEVER = -1
"""The time of a partial match that holds no row yet."""

Slots = list[Row | list[Row] | None]

PASSED = Row(NEVER, [])
"""Stands in the slot of `not X for t` (beside `and`, `or`) once the time has passed without X."""


class Partial(Row):
    """A partial match, shared by all stages at which it waits.

    Its time is that of its newest row. It is of kind EXPIRED once it ran out of time.
    `is_done`: it has matched, or gone on as a copy of its own.
    """

    __slots__ = ("is_done",)

    slots: Slots

    def __init__(self, slots: Slots, time: int = NEVER) -> None:
        super().__init__(time, [], RowKind.CURRENT, slots)
        self.is_done = False

    def branch(self, first_slot: int) -> Partial:
        """A partial match of its own with the same rows in front of `first_slot`."""
        kept = [copied(rows) for rows in self.slots[:first_slot]]
        return Partial(kept + [None] * (len(self.slots) - first_slot), self.time)

    def first_ms(self, slot: int) -> int | None:
        """The time of the first row in a slot; None when there is none."""
        rows = self.slots[slot]
        if rows is None or rows is PASSED:
            return None
        return rows[0].time if isinstance(rows, list) else rows.time

    def finished(self) -> Row:
        """The row of the match as it is now."""
        slots = [None if rows is PASSED else copied(rows) for rows in self.slots]
        return Row(self.time, [], RowKind.CURRENT, slots)

    @property
    def is_empty(self) -> bool:
        """Whether no row has been found yet."""
        return all(rows is None or rows is PASSED for rows in self.slots)


def copied(rows: Row | list[Row] | None) -> Row | list[Row] | None:
    """What a slot holds, unshared: rows never change, lists of them grow."""
    return list(rows) if isinstance(rows, list) else rows


def age(partial: Partial) -> tuple[bool, int]:
    """The order in which partial matches wait: oldest first, empty ones last."""
    return (partial.time == NEVER, partial.time)
