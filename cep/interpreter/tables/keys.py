"""Primary keys: which row has one, and in which order rows of a table are listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cep.interpreter.rows import Row
from cep.interpreter.tables.hash_order import in_hash_order, java_text, joined_key, slots_for
from cep.plan.nodes import Table as TablePlan


class PrimaryKey:
    """Row numbers by key. With one numeric attribute rows are listed by its value, else in the
    order of Siddhi's hash tables."""

    def __init__(self, plan: TablePlan) -> None:
        self._positions = plan.primary_key
        self._numbers: dict[Any, int] = {}
        self._order: list[Any] | None = None
        first = plan.schema.attributes[self._positions[0]].type
        self._by_value = len(self._positions) == 1 and first.is_numeric
        self.slots = slots_for(0)

    def of(self, values: list[Any]) -> Any:
        """The key of a row with these values."""
        if len(self._positions) == 1:
            return values[self._positions[0]]
        return tuple(values[position] for position in self._positions)

    def number(self, key: Any) -> int | None:
        """The number of the row with that key."""
        return self._numbers.get(key)

    def add(self, row: Row, number: int) -> None:
        self._numbers[self.of(row.values)] = number
        self._order = None
        self.slots = slots_for(len(self._numbers), self.slots)

    def remove(self, row: Row) -> None:
        del self._numbers[self.of(row.values)]
        self._order = None

    def state(self) -> Any:
        """The row numbers in order of arrival of their keys, and the size of the hash table."""
        return {"numbers": list(self._numbers.values()), "slots": self.slots}

    def restore(self, state: Any, rows: Mapping[int, Row]) -> None:
        """Take the state back, given the rows by number."""
        self._numbers = {self.of(rows[number].values): number for number in state["numbers"]}
        self.slots = state["slots"]
        self._order = None

    def numbers(self) -> Iterable[int]:
        """All row numbers in the order of listing."""
        if self._order is None:
            self._order = self._listed()
        return [self._numbers[key] for key in self._order]

    def in_order(self, numbers: list[int]) -> list[int]:
        """Some of the row numbers in the order of listing."""
        wanted = set(numbers)
        return [number for number in self.numbers() if number in wanted]

    def _listed(self) -> list[Any]:
        if self._by_value:
            return sorted(self._numbers, key=lambda key: (key is None, key))
        texts = {self._text(key): key for key in self._numbers}
        return [texts[text] for text in in_hash_order(texts, self.slots)]

    def _text(self, key: Any) -> str:
        return joined_key(key) if isinstance(key, tuple) else java_text(key)
