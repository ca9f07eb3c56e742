"""What every window is, and the small things they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.rows import Chunk, Emit, Row, RowKind
from cep.plan.expressions import Column, Constant
from cep.plan.steps import Window
from cep.plan.types import Schema


class Setting:
    """What a window is made of: its plan, the schema of its rows, its place, its output."""

    def __init__(self, window: Window, schema: Schema, context: Context, emit: Emit) -> None:
        self.window = window
        self.schema = schema
        self.context = context
        self._emit = emit

    def emit(self, chunk: Chunk) -> None:
        """Send a chunk on; an empty one is none."""
        if chunk:
            self._emit(chunk)

    @property
    def now_ms(self) -> int:
        """The clock."""
        return self.context.now_ms

    def constant(self, position: int) -> Any:
        """The value of an argument that is a constant; TypeError when it is none."""
        argument = self.window.arguments[position]
        if not isinstance(argument, Constant):
            raise TypeError(f"{self.window.name}: argument {position + 1} is no constant")
        return argument.value

    def columns(self, first: int) -> list[int]:
        """Positions in the row of the arguments from `first` on that are attributes."""
        rest = self.window.arguments[first:]
        return [argument.position for argument in rest if isinstance(argument, Column)]

    def column(self, position: int) -> int:
        """The position in the row of an argument that is an attribute; TypeError otherwise."""
        argument = self.window.arguments[position]
        if not isinstance(argument, Column):
            raise TypeError(f"{self.window.name}: argument {position + 1} is no attribute")
        return argument.position


class WindowPart(ABC):
    """A running window. Rows in it are those that came; what leaves is a copy."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def process(self, chunk: Chunk) -> None:
        """Take rows, send on what comes of them."""

    @abstractmethod
    def held(self) -> Iterable[Row]:
        """The rows that joins and queries on demand find in it."""

    @abstractmethod
    def state(self) -> Any:
        """Plain data for a snapshot."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""


class QueueWindow(WindowPart):
    """A window that is a queue of rows and nothing else: the oldest leaves first."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._rows: deque[Row] = deque()

    def held(self) -> Iterable[Row]:
        return self._rows

    def state(self) -> Any:
        return list(self._rows)

    def restore(self, state: Any) -> None:
        self._rows.extend(state)


def expired(rows: Iterable[Row], time_ms: int) -> Chunk:
    """The rows as they leave, at that time."""
    return [row.copy(RowKind.EXPIRED, time_ms) for row in rows]


def current(chunk: Chunk) -> Chunk:
    """The rows of a chunk that enter windows."""
    return [row for row in chunk if row.kind is RowKind.CURRENT]
