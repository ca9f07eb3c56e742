"""`sort(n, attribute, order, ..)`: the n smallest rows by attributes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart


class SortWindow(WindowPart):
    """The worst row leaves behind the newcomer, and may be the newcomer itself. Nulls are worst."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._length: int = setting.constant(0)
        orders = range(2, len(setting.window.arguments), 2)
        self._keys = [(setting.column(at - 1), setting.constant(at) == "desc") for at in orders]
        self._rows: Chunk = []

    def process(self, chunk: Chunk) -> None:
        now = self.setting.now_ms
        out: Chunk = []
        for row in chunk:
            out.append(row)
            self._rows.append(row)
            if len(self._rows) > self._length:
                self._rows.sort(key=cmp_to_key(self._compare))
                out.append(self._rows.pop().copy(RowKind.EXPIRED, now))
        self.setting.emit(out)

    def _compare(self, left: Row, right: Row) -> int:
        for position, is_descending in self._keys:
            a, b = left.values[position], right.values[position]
            if a is None or b is None:
                order = (a is None) - (b is None)
            else:
                order = ((a > b) - (a < b)) * (-1 if is_descending else 1)
            if order:
                return order
        return 0

    def held(self) -> Iterable[Row]:
        return self._rows

    def state(self) -> Any:
        return self._rows

    def restore(self, state: Any) -> None:
        self._rows = state
