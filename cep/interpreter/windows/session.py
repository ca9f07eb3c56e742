"""`session(gap[, key[, latency]])`: rows that follow one another, until nothing comes for `gap`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loguru import logger

from cep.dropped import Reason
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.tables.hash_order import in_hash_order, slots_for
from cep.interpreter.windows.base import Setting, WindowPart
from cep.interpreter.windows.sessions import Session, SiddhiSession
from cep.plan.expressions import Column


class SessionWindow(WindowPart):
    """Rows go on at once and expire together, with their own times, when their session is over.

    With a latency an ended session waits that much longer for late rows, as the one before the
    current one. Late rows that belong to no session are dropped.

    In Siddhi's mode a row that runs ahead of the clock, and so finds the session over before its
    timer has fired, belongs to no session without a latency; with one, a session that a timer ends
    takes the one before along.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        key = setting.window.arguments[1]
        self._gap_ms: int = setting.constant(0)
        self._key = key.position if isinstance(key, Column) else None
        self._latency_ms: int = setting.constant(2)
        self._make = SiddhiSession if setting.context.compat else Session
        self._now: dict[Any, Session] = {}
        self._before: dict[Any, Session] = {}
        self._timer = setting.context.timer("window", self._due)

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        gone: Chunk = []
        for row in chunk:
            if self._take(row, None if self._key is None else row.values[self._key], gone):
                out.append(row)
            else:
                logger.info("a row came too late for its session: {}", row)
                self.setting.context.drop_for(Reason.LATE)
        self.setting.emit(out + _leaving(gone))

    def _take(self, row: Row, key: Any, gone: Chunk) -> bool:
        """Put a row into its session; False when it is too late for any."""
        session = self._now.get(key)
        if session is not None and row.time < session.start_ms:
            return self._take_late(row, key, session)
        if session is not None and row.time > session.end_ms:
            if self.setting.context.compat and not self._latency_ms:
                return True
            self._end(key, session, gone)
            session = None
        end_ms = row.time + self._gap_ms
        if session is None:
            self._now[key] = self._make([row], row.time, end_ms)
        else:
            session.rows.append(row)
            session.last_until(end_ms)
        self._timer.at(end_ms)
        return True

    def _take_late(self, row: Row, key: Any, session: Session) -> bool:
        before = self._before.get(key)
        if row.time >= session.start_ms - self._gap_ms:
            session.put_in_front([row])
            session.start_ms = row.time
            self._merge(key)
            return True
        if before is None or row.time < before.start_ms - self._gap_ms:
            return False
        before.rows.append(row)
        if row.time < before.start_ms and row.time <= before.end_ms - self._gap_ms:
            before.start_ms = row.time
        else:
            before.last_until(row.time + self._gap_ms)
            self._merge(key)
        return True

    def _merge(self, key: Any) -> None:
        """The session before becomes part of the current one, when they are near enough."""
        before, session = self._before.get(key), self._now[key]
        if before is not None and before.end_ms >= session.start_ms - self._gap_ms:
            session.put_in_front(before.rows)
            session.start_ms = before.start_ms
            del self._before[key]

    def _end(self, key: Any, session: Session, gone: Chunk) -> None:
        """A session is over: it waits for late rows, or goes."""
        self._now.pop(key, None)
        if not self._latency_ms:
            gone += session.rows
            return
        before = self._before.get(key)
        if before is not None:
            gone += before.rows
        self._before[key] = session
        self._timer.at(session.end_ms + self._latency_ms)

    def _due(self, due_ms: int) -> None:
        gone: Chunk = []
        for key, session in _by_end(self._now):
            if session.end_ms <= due_ms:
                if self.setting.context.compat and key in self._before:
                    session.rows[:0] = self._before.pop(key).rows
                self._end(key, session, gone)
        for key, session in _by_end(self._before):
            if session.end_ms + self._latency_ms <= due_ms:
                gone += self._before.pop(key).rows
        self.setting.emit(_leaving(gone))

    def held(self) -> Iterable[Row]:
        if self.setting.context.compat:  # there joins look at what has just left, which is nothing
            return []
        sessions = [*self._before.values(), *self._now.values()]
        return [row for session in sessions for row in session.rows]

    def state(self) -> Any:
        return [
            [[key, session.state()] for key, session in sessions.items()]
            for sessions in (self._now, self._before)
        ]

    def restore(self, state: Any) -> None:
        self._now, self._before = (
            {key: self._make(*session) for key, session in sessions} for sessions in state
        )


def _leaving(rows: Chunk) -> Chunk:
    return [row.copy(RowKind.EXPIRED) for row in rows]


def _by_end(sessions: dict[Any, Session]) -> list[tuple[Any, Session]]:
    """Those that end first come first, of the same end in the order of Siddhi's hash table."""
    keys = {str(key): key for key in sessions}
    ordered = [keys[text] for text in in_hash_order(keys, slots_for(len(keys)))]
    items = [(key, sessions[key]) for key in ordered]
    return sorted(items, key=lambda item: item[1].end_ms)
