"""An index: which rows have a value of an attribute, or one within bounds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

MIRRORED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparisons that an index answers, and each with its operands exchanged."""


class Index:
    """Row numbers by value. Null and NaN equal and order with nothing, so they are left out."""

    def __init__(self) -> None:
        self._numbers: dict[Any, list[int]] = {}
        self._sorted: list[Any] | None = None

    def clear(self) -> None:
        """Forget every row."""
        self._numbers.clear()
        self._sorted = None

    def add(self, value: Any, number: int) -> None:
        """Row `number` has that value. Numbers of a value come in ascending order, or are few."""
        if value is None or value != value:
            return
        numbers = self._numbers.get(value)
        if numbers is not None:
            numbers.insert(bisect_left(numbers, number), number)
            return
        self._numbers[value] = [number]
        if self._sorted is not None:
            self._sorted.insert(bisect_left(self._sorted, value), value)

    def remove(self, value: Any, number: int) -> None:
        """Row `number` has that value no longer."""
        numbers = self._numbers.get(value) if value is not None else None
        if numbers is None:
            return
        numbers.remove(number)
        if not numbers:
            del self._numbers[value]
            if self._sorted is not None:
                del self._sorted[bisect_left(self._sorted, value)]

    def find(self, op: str, value: Any) -> list[int]:
        """The numbers of the rows for which `row value op value` is true, in ascending order."""
        if value is None or value != value:
            return []
        if op == "==":
            return self._numbers.get(value, [])
        numbers = [number for key in self._range(op, value) for number in self._numbers[key]]
        numbers.sort()
        return numbers

    def _range(self, op: str, value: Any) -> list[Any]:
        if self._sorted is None:
            self._sorted = sorted(self._numbers)
        if op == "<":
            return self._sorted[: bisect_left(self._sorted, value)]
        if op == "<=":
            return self._sorted[: bisect_right(self._sorted, value)]
        if op == ">":
            return self._sorted[bisect_right(self._sorted, value) :]
        return self._sorted[bisect_left(self._sorted, value) :]
