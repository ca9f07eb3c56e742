"""`expression('condition')`: the newest rows for which the condition holds."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart
from cep.interpreter.windows.condition import Condition
from cep.plan.expressions import Column


class ConditionedWindow(WindowPart):
    """A window with a condition, which may be an attribute: a new text judges all rows again."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        text = setting.window.arguments[0]
        self._text = text.position if isinstance(text, Column) else None
        self._condition: Condition | None = None
        if self._text is None:
            self._condition = Condition(setting.constant(0), setting)

    def _judge(self, row: Row) -> Condition:
        """The condition that counts from this row on."""
        if self._text is not None:
            text = row.values[self._text]
            if self._condition is None or text != self._condition.text:
                self._condition = Condition(text, self.setting)
                self.judge_again(self._condition)
        assert self._condition is not None
        return self._condition

    @abstractmethod
    def judge_again(self, condition: Condition) -> None:
        """Put the rows of the window through a new condition."""

    def state(self) -> Any:
        condition = self._condition
        return None if condition is None else [condition.text, condition.state()]

    def restore(self, state: Any) -> None:
        if state is not None:
            self._condition = Condition(state[0], self.setting)
            self._condition.restore(state[1])


class ExpressionWindow(ConditionedWindow):
    """Where a new row makes the condition false, the oldest leave until it holds again."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._rows: deque[Row] = deque()
        self._gone: Chunk = []

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        for row in chunk:
            self._enter(row, self._judge(row))
            gone, self._gone = self._gone, []
            out += [*gone, row]
        self.setting.emit(out)

    def judge_again(self, condition: Condition) -> None:
        rows, self._rows = self._rows, deque()
        for row in rows:
            self._enter(row, condition)

    def _enter(self, row: Row, condition: Condition) -> None:
        self._rows.append(row)
        holds = condition.enter(row, self._rows[0], row)
        while self._rows and not holds:
            oldest = self._rows.popleft().copy(RowKind.EXPIRED, self.setting.now_ms)
            self._gone.append(oldest)
            holds = condition.leave(oldest, self._rows[0] if self._rows else oldest, row)

    def held(self) -> Iterable[Row]:
        return self._rows

    def state(self) -> Any:
        return [super().state(), list(self._rows)]

    def restore(self, state: Any) -> None:
        super().restore(state[0])
        self._rows.extend(state[1])
