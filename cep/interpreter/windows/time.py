"""`time(t)`: the rows of the last time t; `delay(t)`: rows, a time t later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Kind, Row
from cep.interpreter.windows.base import Setting, WindowPart


class TimedQueue(WindowPart):
    """Rows that wait until their time plus t, each by itself: a late one is in front of newer ones.

    In Siddhi it is behind them and leaves when they have, since a timer is set for each row that is
    newer than all before it.
    """

    kind = Kind.EXPIRED

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._time_ms: int = setting.constant(0)
        self._rows: deque[Row] = deque()
        self._newest_ms: int | None = None
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        for row in chunk:
            out += self._leaving()
            if row.kind is Kind.CURRENT:
                self._enter(row)
                out += self.passed(row)
        self.setting.emit(out)

    def passed(self, row: Row) -> Chunk:
        """What goes on of a row that enters."""
        return [row]

    def end_ms(self, row: Row) -> int:
        """When the row leaves."""
        return row.time + self._time_ms

    def _enter(self, row: Row) -> None:
        is_newest = self._newest_ms is None or row.time > self._newest_ms
        place = len(self._rows)
        if not self.setting.context.compat:
            while place and self._rows[place - 1].time > row.time:
                place -= 1
        self._rows.insert(place, row)
        if is_newest:
            self._newest_ms = row.time
        if is_newest or place < len(self._rows) - 1:
            self._timer.at(self.end_ms(row))

    def _leaving(self) -> Chunk:
        now = self.setting.now_ms
        out: Chunk = []
        while self._rows and self.end_ms(self._rows[0]) <= now:
            out.append(self._rows.popleft().copy(self.kind, now))
        return out

    def _due(self, due_ms: int) -> None:
        self.setting.emit(self._leaving())

    def held(self) -> Iterable[Row]:
        return self._rows

    def state(self) -> Any:
        return [self._newest_ms, list(self._rows)]

    def restore(self, state: Any) -> None:
        self._newest_ms, rows = state
        self._rows.extend(rows)


class TimeWindow(TimedQueue):
    """Rows go on at once, and leave when they are t old."""


class DelayWindow(TimedQueue):
    """Rows go on, as current ones, when they are t old."""

    kind = Kind.CURRENT

    def passed(self, row: Row) -> Chunk:
        return []
