"""`cron('..')`: the rows between the times of a calendar."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk
from cep.interpreter.windows.base import Setting
from cep.interpreter.windows.batched import BatchedWindow
from cep.plan.cron import Cron


class CronWindow(BatchedWindow):
    """At each time one chunk: the rows sent last expire, then the rows since. No reset.

    Without rows nothing happens, so the timer is set by the first row of a batch.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._cron = Cron.parse(setting.constant(0))
        self._rows: Chunk = []
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        if not self._rows:
            due = self._cron.next_after(self.setting.now_ms)
            if due is not None:
                self._timer.at(due)
        self._rows.extend(chunk)

    def _due(self, due_ms: int) -> None:
        out = [*self.leaving(), *self._rows]
        self._previous, self._rows = self._rows, []
        self.setting.emit(out)

    def state(self) -> Any:
        return [super().state(), self._rows]

    def restore(self, state: Any) -> None:
        super().restore(state[0])
        self._rows = state[1]
