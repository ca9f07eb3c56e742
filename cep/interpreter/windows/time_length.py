"""`timeLength(t, n)`: the last n rows of the last time t."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting
from cep.interpreter.windows.time import TimedQueue


class TimeLengthWindow(TimedQueue):
    """Rows leave when they are t old, or, the one that came first, when there are more than n."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._length: int = setting.constant(1)

    def enter(self, row: Row) -> Chunk:
        self._timer.at(self.end_ms(row))
        if not self._length:
            return [row]
        self._hold(row)
        if len(self._rows) <= self._length:
            return [row]
        first = self._rows.pop(next(iter(self._rows)))
        return [first.copy(RowKind.EXPIRED, self.setting.now_ms), row]

    def state(self) -> Any:
        return list(self._rows.values())

    def restore(self, state: Any) -> None:
        for row in state:
            self._hold(row)
