"""What every limiter is, and the one that limits nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from cep.interpreter.rows import Chunk, Emit, RowKind


class Limiter(ABC):
    """Takes the selected rows of a query and emits some of them, now or later."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit

    @abstractmethod
    def process(self, chunk: Chunk) -> None:
        """Take a chunk of selected rows."""

    def start(self, time_ms: int) -> None:  # noqa: B027 -- only limiters with a clock need it
        """The query, or its instance in a partition, starts."""

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:  # noqa: B027 -- only limiters with state need it
        """Take over what `state` gave."""


class Passing(Limiter):
    """`process` is `emit`: no rate is given."""

    def process(self, chunk: Chunk) -> None:
        self.emit(chunk)


def data_rows(chunk: Chunk) -> Chunk:
    """Current and expired rows."""
    return [row for row in chunk if row.kind is RowKind.CURRENT or row.kind is RowKind.EXPIRED]
