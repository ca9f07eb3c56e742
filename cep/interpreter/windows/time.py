"""`time(t)`: the rows of the last time t; `delay(t)`: rows, a time t later."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart


class TimedQueue(WindowPart):
    """Rows that wait until their time plus t, each by itself: a late one leaves before newer ones.

    They are found in the order in which they came. In Siddhi a late row leaves when those that came
    before it have, a timer is set for each row that is newer than all before it, and all that
    leaves carries the time of the clock.
    """

    kind = RowKind.EXPIRED

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._time_ms: int = setting.constant(0)
        self._rows: dict[int, Row] = {}
        self._ends: list[tuple[int, int]] = []  # a heap; of rows that are gone, too
        self._last_end_ms = 0
        self._arrived = 0
        self._newest_ms: int | None = None
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        for row in chunk:
            out += self._leaving()
            if row.kind is RowKind.CURRENT:
                out += self.enter(row)
        self.setting.emit(out)

    def enter(self, row: Row) -> Chunk:
        """What goes on when a row enters."""
        is_newest = self._newest_ms is None or row.time > self._newest_ms
        if is_newest:
            self._newest_ms = row.time
        self._hold(row)
        if is_newest or not self.setting.context.compat:
            self._timer.at(self.end_ms(row))
        return [row]

    def end_ms(self, row: Row) -> int:
        """When the row leaves."""
        return row.time + self._time_ms

    def _hold(self, row: Row) -> None:
        end_ms = self.end_ms(row)
        if self.setting.context.compat and self._rows:
            end_ms = max(end_ms, self._last_end_ms)
        self._last_end_ms = end_ms
        self._rows[self._arrived] = row
        heapq.heappush(self._ends, (end_ms, self._arrived))
        self._arrived += 1

    def _leaving(self) -> Chunk:
        now_ms, compat = self.setting.now_ms, self.setting.context.compat
        out: Chunk = []
        while self._ends and self._ends[0][0] <= now_ms:
            end_ms, place = heapq.heappop(self._ends)
            if place in self._rows:
                row = self._rows.pop(place)
                out.append(row.copy(self.kind, now_ms if compat else self.left_ms(row, end_ms)))
        return out

    def left_ms(self, row: Row, end_ms: int) -> int:
        """The time that a row has which leaves when it is due."""
        return end_ms

    def _due(self, due_ms: int) -> None:
        self.setting.emit(self._leaving())

    def held(self) -> Iterable[Row]:
        return self._rows.values()

    def state(self) -> Any:
        return [self._newest_ms, list(self._rows.values())]

    def restore(self, state: Any) -> None:
        self._newest_ms, rows = state
        for row in rows:
            self._hold(row)


class TimeWindow(TimedQueue):
    """Rows go on at once, and leave when they are t old."""


class DelayWindow(TimedQueue):
    """Rows go on, as current ones, when they are t old."""

    kind = RowKind.CURRENT

    def enter(self, row: Row) -> Chunk:
        super().enter(row)
        return []

    def left_ms(self, row: Row, end_ms: int) -> int:
        return row.time
