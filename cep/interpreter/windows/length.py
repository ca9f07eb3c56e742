"""`length(n)`: the last n rows."""

from __future__ import annotations

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import QueueWindow, Setting


class LengthWindow(QueueWindow):
    """A new row displaces the oldest, which goes before it, at the time of the new one."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._length: int = setting.constant(0)

    def process(self, chunk: Chunk) -> None:
        now = self.setting.now_ms
        pass_on = self._slide if self._length else _pass_through
        self.setting.emit([out for row in chunk for out in pass_on(row, now)])

    def _slide(self, row: Row, now: int) -> Chunk:
        self._rows.append(row)
        if len(self._rows) <= self._length:
            return [row]
        return [self._rows.popleft().copy(RowKind.EXPIRED, now), row]


def _pass_through(row: Row, now: int) -> Chunk:
    """A row in a window without room leaves as it comes, and takes the aggregates with it."""
    return [row, row.copy(RowKind.EXPIRED), row.copy(RowKind.RESET)]
