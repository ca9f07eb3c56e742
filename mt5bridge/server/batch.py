"""What the server hands on: new records in sequence, and intervals that are lost."""

from __future__ import annotations

from dataclasses import dataclass

from mt5bridge.records import Records
from mt5bridge.validate import QualityArray
from mt5bridge.wire import LostReason, SignalResult

DEALS = ""  # the stream name of deals; every other name is a symbol


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Records never handed on before, gapless behind the previous batch of their stream.

    `stream` is a symbol (TICK records) or DEALS (DEAL records); `quality`, u1 of shape (n,), marks
    odd ticks and is 0 for deals. `records` may be a read-only view of the frame.
    """

    identity: str
    stream: str
    first: int
    records: Records
    quality: QualityArray
    utc_offset_ms: int
    arrival_msc: int

    @property
    def last(self) -> int:
        """The sequence of the last record."""
        return self.first + len(self.records) - 1


@dataclass(frozen=True, slots=True)
class Gap:
    """An interval of sequences which the terminal declared lost."""

    identity: str
    stream: str
    first: int
    last: int
    reason: LostReason
    text: str
    arrival_msc: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a terminal reported about a signal."""

    identity: str
    result: SignalResult
