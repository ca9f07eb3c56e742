"""`timeBatch` as Siddhi has it, with its defects, for `@app:compat('siddhi')`."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, current
from cep.interpreter.windows.batched import BatchedWindow


class SiddhiTimeBatchWindow(BatchedWindow):
    """There the end of the batch is one for all keys of a partition, and not in snapshots.

    So a second key's batch waits for a timer that the first key has set, or for ever.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._time_ms: int = setting.constant(0)
        self._start_ms: int | None = setting.constant(1)
        self._streams: bool = setting.constant(2)
        self._rows: Chunk = []
        self._reset: Row | None = None
        self._ends = setting.context.shared.common.setdefault(setting.context.place, {})
        self._timer = setting.context.timer("window", lambda due_ms: self.process([]))

    def process(self, chunk: Chunk) -> None:
        is_over = self._is_over()
        rows = current(chunk)
        if rows and self._reset is None:
            self._reset = rows[0].copy(RowKind.RESET)
        (self._previous if self._streams else self._rows).extend(rows)
        out = rows if self._streams else []
        self.setting.emit([*out, *self._end()] if is_over else out)

    def _is_over(self) -> bool:
        """Whether the batch has come to its end, and then the end of the next one is set."""
        now = self.setting.now_ms
        end_ms: int | None = self._ends.get("end_ms")
        if end_ms is None:
            start = now if self._start_ms is None else self._start_ms
            self._wait(now + self._time_ms - (now - start) % self._time_ms)
            return False
        if now < end_ms:
            return False
        self._wait(end_ms + self._time_ms)
        return True

    def _wait(self, end_ms: int) -> None:
        self._ends["end_ms"] = end_ms
        self._timer.at(end_ms)

    def _end(self) -> Chunk:
        out = self.leaving()
        if self._reset is not None:
            out.append(self._reset)
            self._reset = None
        out += self._rows
        self._sent(self._rows)
        self._rows = []
        return out

    def state(self) -> Any:
        return [super().state(), self._rows, self._reset]

    def restore(self, state: Any) -> None:
        batch, self._rows, self._reset = state
        super().restore(batch)
