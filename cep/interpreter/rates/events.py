"""Rates that count rows. Without `group by` all rows are of one group, the empty one."""

from __future__ import annotations

from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.rates.limiter import Limiter, data_rows
from cep.interpreter.rows import Chunk, Emit, Row


class AllEvents(Limiter):
    """`output every n events`: rows wait until there are n."""

    def __init__(self, events: int, emit: Emit) -> None:
        super().__init__(emit)
        self._events = events
        self._waiting: Chunk = []

    def process(self, chunk: Chunk) -> None:
        self._waiting += data_rows(chunk)
        whole = len(self._waiting) // self._events * self._events
        if whole:
            out, self._waiting = self._waiting[:whole], self._waiting[whole:]
            self.emit(out)

    def state(self) -> Any:
        return self._waiting

    def restore(self, state: Any) -> None:
        self._waiting = state


class FirstEvents(Limiter):
    """`output first every n events`: the first of n rows, counted per group.

    Siddhi also counts reset rows, and with n = 1 lets only the first row ever pass.
    """

    def __init__(self, events: int, context: Context, emit: Emit) -> None:
        super().__init__(emit)
        self._events = events
        self._compat = context.compat
        self._counts: dict[Any, int] = {}

    def process(self, chunk: Chunk) -> None:
        rows = chunk if self._compat else data_rows(chunk)
        out = [row for row in rows if self._passes(row)]
        if out:
            self.emit(out)

    def _passes(self, row: Row) -> bool:
        count = self._counts.get(row.group, 0) + 1
        if count == self._events and not (self._compat and count == 1):
            self._counts.pop(row.group, None)
        else:
            self._counts[row.group] = count
        return count == 1

    def state(self) -> Any:
        return [[list(group or ()), count] for group, count in self._counts.items()]

    def restore(self, state: Any) -> None:
        self._counts = {tuple(group): count for group, count in state}


class LastEvents(Limiter):
    """`output last every n events`: after n rows, the last one of each group among them."""

    def __init__(self, events: int, emit: Emit) -> None:
        super().__init__(emit)
        self._events = events
        self._count = 0
        self._last: dict[Any, Row] = {}

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        for row in data_rows(chunk):
            self._last[row.group] = row
            self._count += 1
            if self._count == self._events:
                out += self._last.values()
                self._last, self._count = {}, 0
        if out:
            self.emit(out)

    def state(self) -> Any:
        return [self._count, list(self._last.values())]

    def restore(self, state: Any) -> None:
        self._count, rows = state
        self._last = {row.group: row for row in rows}
