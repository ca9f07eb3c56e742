"""`lengthBatch(n[, stream_current])`: n rows at a time."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting
from cep.interpreter.windows.batched import BatchedWindow


class LengthBatchWindow(BatchedWindow):
    """A full batch goes out as one chunk: the batch before it expired, a reset, the rows.

    With `stream_current` rows go on at once, and the first of the next batch ends the one before.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._length: int = setting.constant(0)
        self._streams: bool = setting.constant(1)
        self._take = self._pass_on if self._streams else self._collect
        if not self._length:
            self._take = _pass_through
        self._rows: Chunk = []

    def process(self, chunk: Chunk) -> None:
        now = self.setting.now_ms
        for out in [self._take(row, now) for row in chunk]:
            self.setting.emit(out)

    def _collect(self, row: Row, now: int) -> Chunk:
        self._rows.append(row)
        if len(self._rows) < self._length:
            return []
        out = [*self.leaving(), self._rows[0].copy(RowKind.RESET, now), *self._rows]
        self._sent(self._rows)
        self._rows = []
        return out

    def _pass_on(self, row: Row, now: int) -> Chunk:
        out: Chunk = []
        if len(self._rows) == self._length:
            out = [*self.leaving(), self._rows[0].copy(RowKind.RESET, now)]
            self._rows = []
        self._rows.append(row)
        self._previous.append(row)
        return [*out, row]

    def state(self) -> Any:
        return [super().state(), self._rows]

    def restore(self, state: Any) -> None:
        super().restore(state[0])
        self._rows = state[1]
        if self._streams and not self._rows:  # snapshots of older releases do not tell them apart
            self._rows = self._previous[-self._length :]


def _pass_through(row: Row, now: int) -> Chunk:
    """A batch without rows: each row comes, leaves and takes the aggregates with it."""
    return [row, row.copy(RowKind.EXPIRED, now), row.copy(RowKind.RESET, now)]
