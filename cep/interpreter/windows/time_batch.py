"""`timeBatch(t[, start][, stream_current])`: the rows of each time t."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, current
from cep.interpreter.windows.batched import BatchedWindow


class TimeBatchWindow(BatchedWindow):
    """Every t, from the first row or from `start`, one chunk: the last batch, a reset, the rows.

    A batch without rows lets the one before it expire; then the window sleeps until a row comes.
    With `stream_current` rows go on at once, and leave at the end of their batch.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._time_ms: int = setting.constant(0)
        self._start_ms: int | None = setting.constant(1)
        self._streams: bool = setting.constant(2)
        self._rows: Chunk = []
        self._reset: Row | None = None
        self._end_ms: int | None = None
        self._awake = False
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        self._wake()
        is_over = self._is_over
        rows = current(chunk)
        if rows and self._reset is None:
            self._reset = rows[0].copy(RowKind.RESET)
        (self._previous if self._streams else self._rows).extend(rows)
        out = rows if self._streams else []
        self.setting.emit([*out, *self._end()] if is_over else out)

    @property
    def _is_over(self) -> bool:
        return self._end_ms is not None and self.setting.now_ms >= self._end_ms

    def _wake(self) -> None:
        """Set the timer for the end of the batch that runs now."""
        if self._awake:
            return
        now = self.setting.now_ms
        if self._end_ms is None:
            start = now if self._start_ms is None else self._start_ms
            self._end_ms = now + self._time_ms - (now - start) % self._time_ms
        elif self._end_ms <= now:
            self._end_ms += ((now - self._end_ms) // self._time_ms + 1) * self._time_ms
        self._wait(self._end_ms)

    def _wait(self, end_ms: int) -> None:
        self._awake = True
        self._end_ms = end_ms
        self._timer.at(end_ms)

    def _due(self, due_ms: int) -> None:
        if self._is_over:
            self.setting.emit(self._end())

    def _end(self) -> Chunk:
        """End the batch; the next one begins, unless there is nothing left to expire."""
        out = self.leaving()
        if self._reset is not None:
            out.append(self._reset)
            self._reset = None
        out += self._rows
        self._previous, self._rows = self._rows, []
        assert self._end_ms is not None
        self._end_ms += self._time_ms
        self._awake = False
        if self._previous:
            self._wait(self._end_ms)
        return out

    def state(self) -> Any:
        return [super().state(), self._rows, self._reset, self._end_ms, self._awake]

    def restore(self, state: Any) -> None:
        batch, self._rows, self._reset, self._end_ms, self._awake = state
        super().restore(batch)
