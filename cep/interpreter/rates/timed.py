"""Rates that follow the clock, counted from the start of the query (or of its partition key)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.rates.limiter import Limiter, data_rows
from cep.interpreter.rows import Chunk, Emit, Row

NEVER_MS = 2**62
"""A due time that does not come."""


class Periodic(Limiter):
    """A limiter with a timer every `every_ms`; `due_ms` is when it fires next."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(emit)
        self.every_ms = every_ms
        self.due_ms = NEVER_MS
        self._timer = context.timer("rate", self.fire)

    def start(self, time_ms: int) -> None:
        self.due_ms = time_ms + self.every_ms
        self._timer.at(self.due_ms)

    def next_period(self) -> None:
        """Wait for the next one."""
        self.due_ms += self.every_ms
        self._timer.at(self.due_ms)

    @abstractmethod
    def fire(self, due_ms: int) -> None:
        """The timer's time has come."""


class Waiting(Periodic):
    """Keeps rows until the period ends."""

    def fire(self, due_ms: int) -> None:
        out = self.taken()
        self.next_period()
        if out:
            self.emit(out)

    @abstractmethod
    def taken(self) -> Chunk:
        """What has waited; nothing waits afterwards."""


class AllTimed(Waiting):
    """`output every t`: all rows at the end of the period, in one chunk."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(every_ms, context, emit)
        self._waiting: Chunk = []

    def process(self, chunk: Chunk) -> None:
        self._waiting += data_rows(chunk)

    def taken(self) -> Chunk:
        out, self._waiting = self._waiting, []
        return out

    def state(self) -> Any:
        return [self.due_ms, self._waiting]

    def restore(self, state: Any) -> None:
        self.due_ms, self._waiting = state


class LastTimed(Waiting):
    """`output last every t`: the last row of each group at the end of the period."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(every_ms, context, emit)
        self._last: dict[Any, Row] = {}

    def process(self, chunk: Chunk) -> None:
        for row in data_rows(chunk):
            self._last[row.group] = row

    def taken(self) -> Chunk:
        out, self._last = list(self._last.values()), {}
        return out

    def state(self) -> Any:
        return [self.due_ms, list(self._last.values())]

    def restore(self, state: Any) -> None:
        self.due_ms, rows = state
        self._last = {row.group: row for row in rows}


class FirstTimed(Limiter):
    """`output first every t`: a row passes when the one before passed at least t ago, per group."""

    def __init__(self, every_ms: int, context: Context, emit: Emit) -> None:
        super().__init__(emit)
        self._every_ms = every_ms
        self._context = context
        self._passed_ms: dict[Any, int] = {}

    def process(self, chunk: Chunk) -> None:
        now_ms = self._context.now_ms
        out = [row for row in data_rows(chunk) if self._passes(row, now_ms)]
        if out:
            self.emit(out)

    def _passes(self, row: Row, now_ms: int) -> bool:
        passed_ms = self._passed_ms.get(row.group)
        if passed_ms is not None and now_ms < passed_ms + self._every_ms:
            return False
        self._passed_ms[row.group] = now_ms
        return True

    def state(self) -> Any:
        return [[list(group), passed_ms] for group, passed_ms in self._passed_ms.items()]

    def restore(self, state: Any) -> None:
        self._passed_ms = {tuple(group): passed_ms for group, passed_ms in state}
