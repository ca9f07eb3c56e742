"""What batch windows share: the batch sent last, which leaves when the next one goes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart, expired


class BatchedWindow(WindowPart):
    """Joins find the batch sent last.

    In Siddhi a search leaves the reading mark of the rows at their end, so that they keep their own
    time when they leave; and where no expired rows are wanted, what joins find is never let go.
    With `compat` both are so here.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._previous: Chunk = []
        self._searched = 0
        """How many of these rows a search has passed."""

    def held(self) -> Iterable[Row]:
        self._searched = len(self._previous)
        return self._previous

    def leaving(self) -> Chunk:
        """The rows sent last, as they leave now; none is left."""
        context = self.setting.context
        if context.compat and not context.wants_expired:
            return []
        kept = self._searched if context.compat else 0
        rows, self._previous, self._searched = self._previous, [], 0
        own_time = [row.copy(RowKind.EXPIRED) for row in rows[:kept]]
        return own_time + expired(rows[kept:], self.setting.now_ms)

    def _sent(self, rows: Chunk) -> None:
        """A batch has gone out, behind what was left of those before it."""
        self._previous += rows

    def state(self) -> Any:
        return [self._previous, self._searched]

    def restore(self, state: Any) -> None:
        self._previous, self._searched = state
