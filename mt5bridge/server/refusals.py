"""Tells of peers that were not let in, without letting them flood the log."""

from __future__ import annotations

from loguru import logger

from mt5bridge.server.sink import Sink

EVERY_MS = 60_000


class Refusals:
    """Counts all of them, and tells of each kind once in `EVERY_MS`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._told: dict[str, tuple[int, int]] = {}  # kind: when, and how many by then

    def refuse(self, kind: str, text: str, now_ms: int) -> None:
        """Count one of a kind, a name of a counter."""
        self._sink.note(kind, text)
        count = self._sink.counters[kind]
        told_ms, before = self._told.get(kind, (now_ms - EVERY_MS, 0))
        if now_ms - told_ms < EVERY_MS:
            return
        self._told[kind] = now_ms, count
        more = f" ({count - before} since this was last told)" if before else ""
        self._sink.complaints.append(f"{kind}: {text}")
        logger.warning("not let in: {}{}", text, more)
