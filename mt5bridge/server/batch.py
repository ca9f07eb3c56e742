"""What the server hands on: new records in sequence, and intervals that are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from mt5bridge.records import Records
from mt5bridge.validate import QualityArray
from mt5bridge.wire import Account, Hello, LostReason, SignalResult, TradeMode

StreamKey: TypeAlias = tuple[str, ...]
"""("ticks", symbol), behind it the terminal's own name if it has another, or ("deals",)."""

DEALS: StreamKey = ("deals",)


def ticks_of(symbol: str, name: str = "") -> StreamKey:
    """The stream of a symbol's ticks; `name` is the terminal's own for it, if it has another."""
    return ("ticks", symbol) if name in ("", symbol) else ("ticks", symbol, name)


def wire_name(stream: StreamKey) -> str:
    """How a WELCOME names a stream: as the terminal calls its symbol, the deals by nothing."""
    return "" if stream == DEALS else stream[-1]


class Batch(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Records never handed on before, gapless behind the previous batch of their stream.

    `stream` is ("ticks", symbol) with TICK or ("deals",) with DEAL records; `quality`, u1 of shape
    (n,), marks odd ones, or is empty. `records` may be a read-only view of the frame.
    """

    identity: str
    stream: StreamKey
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
class Watermark:
    """All ticks of a terminal before `time_msc`, server time, were handed on, but for late ones."""

    identity: str
    time_msc: int
    utc_offset_ms: int

    @property
    def utc_msc(self) -> int:
        """The same moment, UTC."""
        return self.time_msc - self.utc_offset_ms


@dataclass(frozen=True, slots=True)
class Gap:
    """An interval of sequences which the terminal declared lost."""

    identity: str
    stream: StreamKey
    first: int
    last: int
    reason: LostReason
    text: str
    arrival_msc: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a terminal reported about a signal or an order."""

    identity: str
    result: SignalResult
    owner: str = ""  # names its account
    was_asked: bool = False  # what became of it, since it is not to be executed any more


@dataclass(frozen=True, slots=True)
class Trader:
    """A terminal that trades, and the symbols it may trade."""

    identity: str
    owner: str  # names the account that it may trade on; empty: any, until it has traded on one
    trades: TradeMode
    symbols: tuple[str, ...]

    @property
    def is_forgotten(self) -> bool:
        """Whether a user let it go and it has not come back since."""
        return self.trades is TradeMode.NONE and not self.symbols


@dataclass(frozen=True, slots=True)
class Funds:
    """How the account of a terminal stands."""

    identity: str
    owner: str
    account: Account


def owner_of(hello: Hello) -> str:
    """Names the account behind a terminal; two programs of one account have the same."""
    return f"{hello.account}@{hello.server}"
