"""`externalTime(attribute, t)`: the rows of the last time t by the clock of an attribute."""

from __future__ import annotations

from cep.interpreter.rows import Chunk, RowKind
from cep.interpreter.windows.base import QueueWindow, Setting


class ExternalTimeWindow(QueueWindow):
    """Each row first drives out those that are t older; they carry its attribute as their time."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._attribute = setting.column(0)
        self._time_ms: int = setting.constant(1)

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        for row in chunk:
            out += self._leaving(row.values[self._attribute])
            out.append(row)
            if row.kind is RowKind.CURRENT:
                self._rows.append(row)
        self.setting.emit(out)

    def _leaving(self, now: int) -> Chunk:
        out: Chunk = []
        while self._rows and self._rows[0].values[self._attribute] + self._time_ms <= now:
            out.append(self._rows.popleft().copy(RowKind.EXPIRED, now))
        return out
