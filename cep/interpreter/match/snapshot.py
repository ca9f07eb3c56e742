"""Partial matches as plain data: rows that several of them hold are kept once."""

from __future__ import annotations

from typing import Any

from cep.interpreter.match.partial import PASSED, Partial, Slots
from cep.interpreter.rows import Row, RowKind

PASSED_NUMBER = -1


class Numbering:
    """Gives each row a number the first time it is met."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._numbers = {id(PASSED): PASSED_NUMBER}

    def number(self, row: Row) -> int:
        number = self._numbers.setdefault(id(row), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number

    def numbers(self, slots: Slots) -> list[list[int] | int | None]:
        """By slot, the numbers of its rows."""
        return [
            [self.number(row) for row in held]
            if isinstance(held, list)
            else None
            if held is None
            else self.number(held)
            for held in slots
        ]


def keep_partials(partials: list[Partial]) -> dict[str, Any]:
    """The rows, and per partial match its time, kind and the numbers of its rows by slot."""
    numbering = Numbering()
    kept = [
        [partial.time, int(partial.kind), partial.is_done, numbering.numbers(partial.slots)]
        for partial in partials
    ]
    return {"rows": numbering.rows, "partials": kept}


def take_partials(state: dict[str, Any]) -> list[Partial]:
    """What `keep_partials` has kept, sharing its rows as before."""
    return [_take_partial(kept, state["rows"]) for kept in state["partials"]]


def _take_partial(kept: list[Any], rows: list[Row]) -> Partial:
    time, kind, is_done, slots = kept
    partial = Partial([_take_slot(held, rows) for held in slots], time)
    partial.kind = RowKind(kind)
    partial.is_done = is_done
    return partial


def _take_slot(held: Any, rows: list[Row]) -> Row | list[Row] | None:
    if isinstance(held, list):
        return [rows[number] for number in held]
    if held is None:
        return None
    return PASSED if held == PASSED_NUMBER else rows[held]
