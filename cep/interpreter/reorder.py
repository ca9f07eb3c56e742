"""The reorder stage: rows that come out of order wait a bounded time and leave in order."""

from __future__ import annotations

import heapq
from typing import Any

from cep.dropped import Reason
from cep.interpreter.context import Context
from cep.interpreter.rows import Chunk, Row
from cep.plan.nodes import Reorder


class ReorderStage:
    """Holds rows until they are `max_delay_ms` older than the newest; equal times keep their order.

    A row older than the watermark is late: it is given back apart, at once, and dropped where no
    stream takes it.
    """

    def __init__(self, reorder: Reorder, context: Context) -> None:
        self.late_stream = reorder.late_stream
        self.max_delay_ms = reorder.max_delay_ms
        self._context = context
        self._waiting: list[tuple[int, int, Row]] = []
        self._count = 0
        self._watermark_ms: int | None = None
        context.keep(self, "reorder")

    def push(self, rows: Chunk) -> tuple[Chunk, Chunk]:
        """Take rows; gives (rows that may go on, in order of time; rows that are late)."""
        late = [row for row in rows if not self._wait(row)]
        if self.late_stream is None:
            self._context.drop_for(Reason.REORDER, len(late))
        return self._due(), late

    def advance(self, time_ms: int) -> Chunk:
        """Time has passed without rows: what may go on now."""
        self._raise_to(time_ms - self.max_delay_ms)
        return self._due()

    def flush(self) -> Chunk:
        """Everything that waits, in order of time."""
        if self._waiting:
            self._raise_to(max(time_ms for time_ms, _, _ in self._waiting))
        return self._due()

    def _wait(self, row: Row) -> bool:
        if self._watermark_ms is not None and row.time < self._watermark_ms:
            return False
        heapq.heappush(self._waiting, (row.time, self._count, row))
        self._count += 1
        self._raise_to(row.time - self.max_delay_ms)
        return True

    def _raise_to(self, time_ms: int) -> None:
        if self._watermark_ms is None or time_ms > self._watermark_ms:
            self._watermark_ms = time_ms

    def _due(self) -> Chunk:
        due: Chunk = []
        watermark_ms = self._watermark_ms
        while self._waiting and watermark_ms is not None and self._waiting[0][0] <= watermark_ms:
            due.append(heapq.heappop(self._waiting)[2])
        return due

    def state(self) -> Any:
        rows = [row for _, _, row in sorted(self._waiting, key=lambda item: item[:2])]
        return [self._watermark_ms, rows]

    def restore(self, state: Any) -> None:
        self._watermark_ms, rows = state
        self._waiting = [(row.time, count, row) for count, row in enumerate(rows)]
        self._count = len(rows)
