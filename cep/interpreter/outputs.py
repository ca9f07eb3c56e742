"""Where the rows of a query go: to its callbacks, then into a stream, table or window."""

from __future__ import annotations

from collections.abc import Callable

from cep.interpreter.context import Context
from cep.interpreter.rows import Chunk, Emit, RowKind
from cep.interpreter.streams import Junction
from cep.interpreter.tables import make_writer
from cep.plan.steps import Holder, Insert, Output, Return

QueryCallback = Callable[[int, Chunk | None, Chunk | None], None]
"""Told (time of the last row, current rows, expired rows); None where there are none of a kind."""

NO_TIME = -1
"""The time of an empty chunk, as in Siddhi."""


class Publisher:
    """The end of a query. Expired rows that are inserted become current ones."""

    def __init__(self, callbacks: list[QueryCallback], write: Emit | None) -> None:
        self._callbacks = callbacks
        self._write = write

    def send(self, chunk: Chunk) -> None:
        """Callbacks first; an empty chunk, or one of reset rows, reaches callbacks only."""
        if self._callbacks:
            self._tell(chunk)
        if self._write is not None:
            rows = [
                row if row.kind is RowKind.CURRENT else row.copy(RowKind.CURRENT)
                for row in chunk
                if row.kind is not RowKind.RESET
            ]
            if rows:
                self._write(rows)

    def _tell(self, chunk: Chunk) -> None:
        time = chunk[-1].time if chunk else NO_TIME
        current = [row for row in chunk if row.kind is RowKind.CURRENT] or None
        expired = [row for row in chunk if row.kind is RowKind.EXPIRED] or None
        for callback in self._callbacks:
            callback(time, current, expired)


def make_write(output: Output, stream: Callable[[str], Junction], context: Context) -> Emit | None:
    """What writes the rows of a query; `stream` finds the junction of a stream by name."""
    match output:
        case Return():
            return None
        case Insert(holder=Holder.STREAM):
            return stream(output.target).send
        case Insert(holder=Holder.WINDOW):
            return _adder(context.shared.windows[output.target].add)
        case Insert():
            return _adder(context.shared.tables[output.target].add)
        case _:
            return make_writer(output, context)


def _adder(add: Callable[[Chunk], object]) -> Emit:
    def write(chunk: Chunk) -> None:
        add(chunk)

    return write
