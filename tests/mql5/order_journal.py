"""The trader's order journal as bytes: its records, and the states of legs."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.mql5.trading import Floor

ENTRY = 1
LEG, STATE_AT = 2, 11  # kind of record; u1 kind, u8 id, u2 index, then its state
WAITING, SENT = 0, 1  # of a leg
MARK_LENGTH, MARK_SUM = struct.pack("<I", 16384), struct.pack("<I", 0x6B72616D)
"""In place of a record's head: here the file ends, whatever lies behind."""


def journal_of(floor: Floor) -> Path:
    """Where the trader keeps it."""
    return next(floor.terminal.folder.rglob("orders.journal"))


def records(journal: bytes) -> list[tuple[bytes, int]]:
    """The payloads of a journal's records, and where each ends."""
    at, found = 8, []
    while at < len(journal) and journal[at : at + 4] not in (bytes(4), MARK_LENGTH):
        (size,) = struct.unpack_from("<I", journal, at)
        found.append((journal[at + 8 : at + 8 + size], at + 8 + size))
        at += 8 + size
    return found
