"""Reading attributes of a row: from its values, or from what its slots hold."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Evaluator, Row, RowKind
from cep.plan.expressions import Collected, Column, EventTime, Missing


def column(node: Column) -> Evaluator:
    """An attribute; null when the slot holds no such row. Rows without slots are one source."""
    position, slot, index = node.position, node.slot, node.index

    def read(row: Row) -> Any:
        slots = row.slots
        if slots is None:
            return row.values[position]
        held = slots[slot]
        if type(held) is list:
            held = at(held, index)
        return None if held is None else held.values[position]  # type: ignore[union-attr]

    return read


def at(rows: list[Row], index: int) -> Row | None:
    """The row at an index that counts from either end; None when there is none."""
    return rows[index] if -len(rows) <= index < len(rows) else None


def held_in(row: Row, slot: int, index: int) -> Row | None:
    """The row in a slot; None when there is none."""
    held = row if row.slots is None else row.slots[slot]
    return at(held, index) if isinstance(held, list) else held


def collected(node: Collected) -> Evaluator:
    """All values of an attribute in a slot, oldest first; none when the slot is empty."""
    position, slot = node.position, node.slot

    def read(row: Row) -> list[Any]:
        held = row if row.slots is None else row.slots[slot]
        rows = held if isinstance(held, list) else [held] if held is not None else []
        return [one.values[position] for one in rows]

    return read


def missing(node: Missing) -> Evaluator:
    """Whether a slot holds no such row."""
    return lambda row: held_in(row, node.slot, node.index) is None


def event_time(node: EventTime, compat: bool) -> Evaluator:
    """The row's time, or that of the newest row in a slot; null when the slot is empty.

    Of an expired row it is the time at which it came, so that aggregates lose what they had; in
    Siddhi it is when it left.
    """
    slot, time_of = node.slot, _time if compat else _came
    if slot is None:
        return time_of

    def read(row: Row) -> int | None:
        held = held_in(row, slot, -1)
        return None if held is None else time_of(held)

    return read


def _time(row: Row) -> int:
    return row.time


def _came(row: Row) -> int:
    return row.came if row.kind is RowKind.EXPIRED else row.time
