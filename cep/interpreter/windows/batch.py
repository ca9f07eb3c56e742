"""`batch([n])`: the rows that come together, at most n at a time."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting
from cep.interpreter.windows.batched import BatchedWindow


class BatchWindow(BatchedWindow):
    """Rows that came together before expire, a reset, the rows; in chunks of n where n is given."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._length: int = setting.constant(0)
        self._reset: Row | None = None

    def process(self, chunk: Chunk) -> None:
        leaving = self.leaving()
        context = self.setting.context
        if context.wants_expired or not context.compat:
            self._previous = list(chunk)
        size = self._length or max(len(chunk), 1)
        parts = [chunk[start : start + size] for start in range(0, len(chunk), size)]
        outs = [self._batch(part) for part in parts]
        for out in [[*leaving, *outs[0]], *outs[1:]]:
            self.setting.emit(out)

    def _batch(self, rows: Chunk) -> Chunk:
        reset = [] if self._reset is None else [self._reset]
        context = self.setting.context
        if not (context.compat and context.key and not context.wants_expired):
            self._reset = rows[0].copy(RowKind.RESET)  # Siddhi's state of a key is lost here
        return [*reset, *rows]

    def state(self) -> Any:
        return [super().state(), self._reset]

    def restore(self, state: Any) -> None:
        super().restore(state[0])
        self._reset = state[1]
