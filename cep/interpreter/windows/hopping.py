"""`hopping(size, hop)`: every `hop`, the rows of the last `size`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from cep.dropped import Reason
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart, current, expired


class HoppingWindow(WindowPart):
    """Every `hop` from the first row on, one chunk: the rows shown last expire, a reset, the rows
    of the time `size` before.

    A hop without rows lets those shown last expire; then the window sleeps until a row comes. With
    `size` equal to `hop` it is `timeBatch`.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._size_ms: int = setting.constant(0)
        self._hop_ms: int = setting.constant(1)
        self._rows: deque[Row] = deque()
        self._shown: Chunk = []
        self._end_ms: int | None = None
        self._awake = False
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        if not self._awake:
            self._wake()
        rows = current(chunk)
        if self.setting.context.cause.is_late and self._end_ms is not None:
            first_ms = self._end_ms - self._size_ms
            too_late = sum(row.time < first_ms for row in rows)  # for any hop that is to come
            self.setting.context.drop_for(Reason.LATE, too_late)
        self._rows.extend(rows)

    def _wake(self) -> None:
        """Set the timer for the next hop; hops stay where the first row put them."""
        now = self.setting.now_ms
        end = now if self._end_ms is None else self._end_ms
        self._end_ms = end + max((now - end) // self._hop_ms + 1, 0) * self._hop_ms
        self._awake = True
        self._timer.at(self._end_ms)

    def _due(self, due_ms: int) -> None:
        rows = self._within(due_ms)
        out = expired(self._shown, self.setting.now_ms)
        if rows:
            out += [rows[0].copy(RowKind.RESET, due_ms), *rows]
        self._shown = rows
        self._end_ms = due_ms + self._hop_ms
        self._awake = bool(self._rows or rows)
        if self._awake:
            self._timer.at(self._end_ms)
        self.setting.emit(out)

    def _within(self, end_ms: int) -> Chunk:
        """The rows of the time before `end_ms`; those that no later hop shows are forgotten."""
        rows = [row for row in self._rows if row.time >= end_ms - self._size_ms]
        while self._rows and self._rows[0].time < end_ms + self._hop_ms - self._size_ms:
            self._rows.popleft()
        return rows

    def held(self) -> Iterable[Row]:
        return self._shown

    def state(self) -> Any:
        return [list(self._rows), self._shown, self._end_ms, self._awake]

    def restore(self, state: Any) -> None:
        rows, self._shown, self._end_ms, self._awake = state
        self._rows.extend(rows)
