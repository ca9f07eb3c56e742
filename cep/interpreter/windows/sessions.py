"""Sessions: rows of one key that follow one another."""

from __future__ import annotations

from typing import Any

from cep.interpreter.rows import Chunk


class Session:
    """Rows of one key, from the time of the first to `gap` after the last."""

    def __init__(self, rows: Chunk, start_ms: int, end_ms: int) -> None:
        self.rows = rows
        self.start_ms = start_ms
        self.end_ms = end_ms

    def put_in_front(self, rows: Chunk) -> None:
        """Take in rows that are older than the session."""
        self.rows[:0] = rows

    def last_until(self, end_ms: int) -> None:
        """A row has come that lets the session last at least so long."""
        self.end_ms = max(self.end_ms, end_ms)

    def state(self) -> Any:
        """Plain data."""
        return [self.rows, self.start_ms, self.end_ms]


class SiddhiSession(Session):
    """A session with the defects of Siddhi's: a late row can end it early, and older rows go in
    front of a reading mark that moves on with each, instead of the first row."""

    def __init__(self, rows: Chunk, start_ms: int, end_ms: int, mark: int = -1) -> None:
        super().__init__(rows, start_ms, end_ms)
        self._mark = mark

    def put_in_front(self, rows: Chunk) -> None:
        if self._mark + 1 < len(self.rows):
            self._mark += 1
        self.rows[self._mark : self._mark] = rows
        self._mark += len(rows)

    def last_until(self, end_ms: int) -> None:
        self.end_ms = end_ms

    def state(self) -> Any:
        return [*super().state(), self._mark]
