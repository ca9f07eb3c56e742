"""The trader's order journal as bytes: its records, and the states of legs."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.mql5.trading import Floor

LEG, STATE_AT = 2, 11  # kind of record; u1 kind, u8 id, u2 index, then its state
WAITING, SENT = 0, 1  # of a leg


def journal_of(floor: Floor) -> Path:
    """Where the trader keeps it."""
    return next(floor.terminal.folder.rglob("orders.journal"))


def records(journal: bytes) -> list[tuple[bytes, int]]:
    """The payloads of a journal's records, and where each ends."""
    at, found = 8, []
    while at < len(journal) and (size := struct.unpack_from("<I", journal, at)[0]):
        found.append((journal[at + 8 : at + 8 + size], at + 8 + size))
        at += 8 + size
    return found
