"""`externalTimeBatch(attribute, t[, start[, timeout[, replace]]])`: batches by an attribute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart, current, expired
from cep.plan.expressions import Column
from cep.plan.numbers import remainder


class ExternalTimeBatchWindow(WindowPart):
    """A row at or past the end of the batch sends it out; times without rows are skipped.

    With a timeout the batch also goes out when the clock has passed it without a new batch; rows
    that come for it later send it out again as a whole. With `replace` rows carry the end of
    their batch in the attribute.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._attribute = setting.column(0)
        self._time_ms: int = setting.constant(1)
        start = setting.window.arguments[2]
        self._start_column = start.position if isinstance(start, Column) else None
        self._has_start = self._start_column is not None or setting.constant(2) is not None
        self._start_ms: int = 0 if self._start_column is not None else setting.constant(2) or 0
        self._timeout_ms: int = setting.constant(3) or 0
        self._replaces: bool = setting.constant(4)
        self._rows: Chunk = []
        self._previous: Chunk = []
        self._reset: Row | None = None
        self._end_ms: int | None = None
        self._newest_ms = 0
        self._wanted_ms: int | None = None
        self._flushed = False
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        rows = current(chunk)
        if rows and self._end_ms is None:
            self._begin(rows[0])
        for out in [self._take(row) for row in rows]:
            self.setting.emit(out)

    def _take(self, row: Row) -> Chunk:
        assert self._end_ms is not None
        time: int = row.values[self._attribute]
        self._newest_ms = max(self._newest_ms, time)
        if time < self._end_ms:
            self._enter(row)
            return []
        out = self._send_again() if self._flushed else self._send()
        self._flushed = False
        self._end_ms = self._end_after(self._newest_ms)
        self._enter(row)
        self._set_timer()
        return out

    def _begin(self, row: Row) -> None:
        """Where the first batch ends."""
        time: int = row.values[self._attribute]
        if self._start_column is not None:
            self._start_ms = row.values[self._start_column]
        elif not self._has_start:
            self._start_ms = time
        is_aligned = self._has_start and self._start_column is None
        self._end_ms = self._end_after(time) if is_aligned else self._start_ms + self._time_ms
        self._set_timer()

    def _end_after(self, time: int) -> int:
        return time + self._time_ms - (remainder(time - self._start_ms, self._time_ms) or 0)

    def _enter(self, row: Row) -> None:
        if self._reset is None:
            self._reset = row.copy(RowKind.RESET)
        if self._replaces:
            values = list(row.values)
            values[self._attribute] = self._end_ms
            row = Row(row.time, values)
        self._rows.append(row)

    def _set_timer(self) -> None:
        if self._timeout_ms > 0:
            self._wanted_ms = self.setting.now_ms + self._timeout_ms
            self._timer.at(self._wanted_ms)

    def _due(self, due_ms: int) -> None:
        """The timeout; one that a newer batch has put off does nothing."""
        if self._wanted_ms is None or self._wanted_ms > due_ms:
            return
        out = self._send_again() if self._flushed else self._send()
        self._flushed = True
        self._set_timer()
        self.setting.emit(out)

    def _send(self) -> Chunk:
        """The batch before expires, a reset, the rows."""
        out = self._leaving()
        if self._rows and self._reset is not None:
            out.append(self._reset.copy(time=self._newest_ms))
            self._reset = None
        out += self._rows
        self._previous, self._rows = self._rows, []
        return out

    def _leaving(self) -> Chunk:
        """The batch before, as it expires. Siddhi leaves it out where nobody wants it."""
        context = self.setting.context
        is_wanted = context.wants_expired or not context.compat
        return expired(self._previous, self._newest_ms) if is_wanted else []

    def _send_again(self) -> Chunk:
        """The batch went out already: it expires and comes again, with the rows since then."""
        if not self._rows or self._reset is None:
            return []
        out = [
            *self._leaving(),
            self._reset.copy(time=self._newest_ms),
            *self._previous,
            *self._rows,
        ]
        self._previous, self._rows = [*self._previous, *self._rows], []
        return out

    def held(self) -> Iterable[Row]:
        return self._previous

    def state(self) -> Any:
        rows = [self._rows, self._previous, self._reset]
        times = [self._start_ms, self._end_ms, self._newest_ms, self._wanted_ms]
        return [rows, times, self._flushed]

    def restore(self, state: Any) -> None:
        rows, times, self._flushed = state
        self._rows, self._previous, self._reset = rows
        self._start_ms, self._end_ms, self._newest_ms, self._wanted_ms = times
