"""`expressionBatch('condition'[, include_trigger[, stream_current]])`: rows until it fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, expired
from cep.interpreter.windows.condition import Condition
from cep.interpreter.windows.expression import ConditionedWindow


class ExpressionBatchWindow(ConditionedWindow):
    """The row that makes the condition false ends the batch: the batch before expires, the rows.

    That row is the last of its batch with `include_trigger`, else the first of the next one; where
    it ends a batch without rows it passes alone. The aggregates of the condition start with it.
    With `stream_current` rows go on at once, and expire at the end of their batch.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._includes = evaluator(setting.window.arguments[1], setting.context)
        self._streams: bool = setting.constant(2)
        self._rows: Chunk = []
        self._previous: Chunk = []
        self._outs: list[Chunk] = []
        self._kept_back: Chunk = []

    def process(self, chunk: Chunk) -> None:
        for row in chunk:
            condition = self._judge(row)
            if self._streams:
                self._pass_on(row, condition)
            else:
                self._collect(row, condition)
        outs, self._outs = self._outs, []
        for out in outs:
            self.setting.emit(out)

    def judge_again(self, condition: Condition) -> None:
        if self._streams:
            rows, self._previous = self._previous, []
            for row in rows:
                self._stay(row, condition)
            return
        rows, self._rows = self._rows, []
        for row in rows:
            self._collect(row, condition)

    def _holds(self, row: Row, condition: Condition, batch: Chunk) -> bool:
        """Whether a row belongs to the batch; if not, the condition starts again with it."""
        first = batch[0] if batch else row
        if condition.enter(row, first, row):
            return True
        condition.reset()
        condition.enter(row, first, row)
        return False

    def _collect(self, row: Row, condition: Condition) -> None:
        if self._holds(row, condition, self._rows):
            self._rows.append(row)
            return
        now = self.setting.now_ms
        out = expired(self._previous, now)
        self._previous = [one.copy(time=now) for one in self._rows]
        if not self._rows:
            out += _alone(row, now)
        elif self._includes(row) is True:
            self._rows = []
            self._previous.append(row)
        else:
            self._rows = [row]
        self._outs.append([*out, *self._previous])

    def _pass_on(self, row: Row, condition: Condition) -> None:
        """A row that has just come."""
        now = self.setting.now_ms
        out, self._kept_back = self._kept_back, []
        if self._holds(row, condition, self._previous):
            self._previous.append(row)
            out.append(row)
        elif not self._previous:
            out += _alone(row, now)
        elif self._includes(row) is True:
            out += [row, *expired([*self._previous, row], now)]
            self._previous = []
        else:
            out += [*expired(self._previous, now), row]
            self._previous = [row]
        self._outs.append(out)

    def _stay(self, row: Row, condition: Condition) -> None:
        """A row that went on before: what it makes expire is kept back until the next row."""
        if self._holds(row, condition, self._previous):
            self._previous.append(row)
        elif not self._previous:
            self._kept_back.append(row.copy(RowKind.EXPIRED))
        elif self._includes(row) is True:
            self._kept_back += expired([*self._previous, row], self.setting.now_ms)
            self._previous = []
        else:
            self._kept_back += expired(self._previous, self.setting.now_ms)
            self._previous = [row]

    def held(self) -> Iterable[Row]:
        return self._previous

    def state(self) -> Any:
        return [super().state(), self._rows, self._previous, self._kept_back]

    def restore(self, state: Any) -> None:
        super().restore(state[0])
        self._rows, self._previous, self._kept_back = state[1:]


def _alone(row: Row, now: int) -> Chunk:
    """A row for which the condition never holds leaves before it comes, as in Siddhi."""
    return [row.copy(RowKind.EXPIRED, now), row.copy(time=now)]
