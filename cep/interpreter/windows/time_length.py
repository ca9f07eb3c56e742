"""`timeLength(t, n)`: the last n rows of the last time t."""

from __future__ import annotations

from cep.interpreter.rows import Chunk, Kind, Row
from cep.interpreter.windows.base import QueueWindow, Setting


class TimeLengthWindow(QueueWindow):
    """Rows leave when they are t old, or when there are more than n."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._time_ms: int = setting.constant(0)
        self._length: int = setting.constant(1)
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        now = self.setting.now_ms
        out: Chunk = []
        for row in chunk:
            out += self._leaving(now)
            if row.kind is Kind.CURRENT:
                out += self._enter(row, now)
        self.setting.emit(out)

    def _enter(self, row: Row, now: int) -> Chunk:
        self._timer.at(row.time + self._time_ms)
        if not self._length:
            return [row]
        self._rows.append(row)
        if len(self._rows) <= self._length:
            return [row]
        return [self._rows.popleft().copy(Kind.EXPIRED, now), row]

    def _leaving(self, now: int) -> Chunk:
        out: Chunk = []
        while self._rows and self._rows[0].time + self._time_ms <= now:
            out.append(self._rows.popleft().copy(Kind.EXPIRED, now))
        return out

    def _due(self, due_ms: int) -> None:
        self.setting.emit(self._leaving(self.setting.now_ms))
