"""The frames; field order and types are the byte tables of PROTOCOL.md section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

from mt5bridge.records import SYMBOL_BYTES, Records, fixed_text
from mt5bridge.wire.checks import (
    SEQUENCE_MAX,
    UTC_OFFSET_MS_MAX,
    check_count,
    check_finite,
    check_interval,
    check_name,
    check_offset,
    check_sequences,
    check_sizes,
    check_times,
    require,
)
from mt5bridge.wire.codes import (
    AccountMode,
    ErrorCode,
    FrameType,
    LostReason,
    OrderKind,
    OrderSide,
    Side,
    SignalStatus,
    TradeMode,
)
from mt5bridge.wire.event_frames import Event, Subscribe, Subscribed
from mt5bridge.wire.layout import (
    F8,
    I4,
    I8,
    TEXT_BYTES_MAX,
    U1,
    U4,
    U8,
    DealArray,
    Text,
    TickArray,
)
from mt5bridge.wire.proof_frames import Challenge, Proof
from mt5bridge.wire.properties_frame import Properties

DEALS_STREAM = 0
TICKS_MAX = 16_384
DEALS_MAX = 4_096
IDENTITY_BYTES_MAX = 128
ASKED_MAX = 1_024
SYMBOLS_MAX = 16_384
STREAMS_MAX = SYMBOLS_MAX + 1
"""Of one terminal: its symbols and its deals; as many fit every frame that lists streams."""


def _check_batch(first: int, utc_offset_ms: int, records: Records, records_max: int) -> None:
    count = len(records)
    is_right = 0 < count <= records_max and 0 < first <= SEQUENCE_MAX - count
    if is_right and -UTC_OFFSET_MS_MAX <= utc_offset_ms <= UTC_OFFSET_MS_MAX:
        return  # nearly always, and then no text is made
    require(1 <= count <= records_max, f"{count} records, 1 to {records_max} allowed")
    check_interval(first, first + count - 1)
    check_offset(utc_offset_ms)


@dataclass(frozen=True, slots=True)
class Hello:
    """Terminal: who I am. `instance` is drawn at program start and kept while it runs."""

    TYPE: ClassVar = FrameType.HELLO
    instance: U8
    account: U8
    time_msc: I8
    utc_offset_ms: I4
    leverage: U4
    account_mode: Annotated[AccountMode, "B"]
    demo: U1
    trades: Annotated[TradeMode, "B"]
    identity: Text
    broker: Text
    server: Text
    currency: Text
    program: Text

    def __post_init__(self) -> None:
        check_name(self.identity, "identity", IDENTITY_BYTES_MAX)
        check_times(self.time_msc)
        check_offset(self.utc_offset_ms)


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a stream stands on the daemon's disk; `name` is the symbol, empty for deals.

    `count_at_msc` durable ticks have the newest durable time, `time_msc` (server time).
    """

    durable: U8
    time_msc: I8
    count_at_msc: U4
    name: Text

    def __post_init__(self) -> None:
        check_sequences(self.durable)


@dataclass(frozen=True, slots=True)
class Welcome:
    """Daemon: go on from here, at this pace."""

    TYPE: ClassVar = FrameType.WELCOME
    session: U8
    time_msc: I8
    heartbeat_ms: U4
    timeout_ms: U4
    window_records: U4
    program: Text
    streams: tuple[Resume, ...]

    def __post_init__(self) -> None:
        check_times(self.time_msc)
        check_count(len(self.streams), STREAMS_MAX, "streams")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol's properties; `stream` names it on this connection and is at least 1."""

    stream: U4
    digits: U4
    filling_modes: U4
    point: F8
    tick_size: F8
    contract_size: F8
    volume_min: F8
    volume_max: F8
    volume_step: F8
    name: Text

    def __post_init__(self) -> None:
        require(self.stream != DEALS_STREAM, "stream 0 is the deals'")
        check_name(self.name, "symbol", SYMBOL_BYTES)
        check_sizes(self.point, self.tick_size, self.contract_size)
        check_sizes(self.volume_min, self.volume_max, self.volume_step)


@dataclass(frozen=True, slots=True)
class Symbols:
    """Terminal: the symbols whose ticks follow; may be sent again with more."""

    TYPE: ClassVar = FrameType.SYMBOLS
    symbols: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        check_count(len(self.symbols), SYMBOLS_MAX, "symbols")


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """Terminal: ticks of one symbol, `first` being the sequence of `records[0]`."""

    TYPE: ClassVar = FrameType.TICKS
    stream: U4
    utc_offset_ms: I4
    first: U8
    records: TickArray

    def __post_init__(self) -> None:
        require(self.stream != DEALS_STREAM, "stream 0 is the deals'")
        _check_batch(self.first, self.utc_offset_ms, self.records, TICKS_MAX)


@dataclass(frozen=True, slots=True, eq=False)
class Deals:
    """Terminal: deal revisions, `first` being the sequence of `records[0]`."""

    TYPE: ClassVar = FrameType.DEALS
    stream: U4
    utc_offset_ms: I4
    first: U8
    records: DealArray

    def __post_init__(self) -> None:
        require(self.stream == DEALS_STREAM, f"stream {self.stream} is not the deals'")
        _check_batch(self.first, self.utc_offset_ms, self.records, DEALS_MAX)


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a side is in a stream.

    `taken`: last sequence taken from the source (tick base, or wire). `passed`: last one passed
    on (the terminal has sent it, the daemon has it on disk).
    """

    stream: U4
    taken: U8
    passed: U8

    def __post_init__(self) -> None:
        check_sequences(self.taken, self.passed)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Both: I live. The daemon answers each of the terminal's at once, with its `token`.

    `round_trip_us` is the last round trip that the sender has measured, 0 when unknown. A terminal
    has sent all ticks that are older than `complete_msc`, in server time; 0: it promises nothing.
    """

    TYPE: ClassVar = FrameType.HEARTBEAT
    token: U8
    time_msc: I8
    utc_offset_ms: I4
    round_trip_us: U4
    complete_msc: I8
    marks: tuple[Mark, ...]

    def __post_init__(self) -> None:
        check_times(self.time_msc, self.complete_msc)
        check_offset(self.utc_offset_ms)
        check_count(len(self.marks), STREAMS_MAX, "marks")


@dataclass(frozen=True, slots=True)
class Durable:
    """A stream is on disk up to and including `sequence`."""

    stream: U4
    sequence: U8

    def __post_init__(self) -> None:
        check_sequences(self.sequence)


@dataclass(frozen=True, slots=True)
class Ack:
    """Daemon: what is on disk and may be forgotten."""

    TYPE: ClassVar = FrameType.ACK
    streams: tuple[Durable, ...]

    def __post_init__(self) -> None:
        check_count(len(self.streams), STREAMS_MAX, "streams")


@dataclass(frozen=True, slots=True)
class Resend:
    """Daemon: `first` to `last` are missing; go on from `first`."""

    TYPE: ClassVar = FrameType.RESEND
    stream: U4
    first: U8
    last: U8

    def __post_init__(self) -> None:
        check_interval(self.first, self.last)


@dataclass(frozen=True, slots=True)
class Lost:
    """Terminal: `first` to `last` cannot be sent; go on behind them."""

    TYPE: ClassVar = FrameType.LOST
    stream: U4
    first: U8
    last: U8
    reason: Annotated[LostReason, "H"]
    text: Text

    def __post_init__(self) -> None:
        check_interval(self.first, self.last)


_OPENING = (OrderKind.MARKET, OrderKind.LIMIT, OrderKind.STOP)


@dataclass(frozen=True, slots=True)
class Signal:
    """Daemon: please trade; `id` makes it idempotent. Zero lots, points, time mean "not given"."""

    TYPE: ClassVar = FrameType.SIGNAL
    id: U8
    time_msc: I8
    valid_until_msc: I8
    magic: I8
    lots: F8
    stop_points: F8
    target_points: F8
    side: Annotated[Side, "B"]
    name: Text
    symbol: Text

    def __post_init__(self) -> None:
        check_times(self.time_msc, self.valid_until_msc)
        check_sizes(self.lots, self.stop_points, self.target_points)


@dataclass(frozen=True, slots=True)
class SignalOrder(Signal):
    """Daemon: a signal that says prices: those of a pending order, of stop and target.

    Distances are in prices, from that of execution, or from that at which a pending order waits.
    With `risk_percent` the stop costs so much of the account's equity, and `lots` are the most.
    The kinds MODIFY and CANCEL have the side CLOSE, as they open nothing: other levels for all that
    `magic` holds of `symbol`, and the end of its pending orders there.
    """

    TYPE: ClassVar = FrameType.SIGNAL_ORDER
    kind: Annotated[OrderKind, "B"]
    price: F8
    stop: F8
    target: F8
    stop_distance: F8
    target_distance: F8
    risk_percent: F8

    def __post_init__(self) -> None:
        Signal.__post_init__(self)
        check_sizes(self.price, self.stop, self.target, self.stop_distance, self.target_distance)
        check_sizes(self.risk_percent)
        is_pending = self.kind in (OrderKind.LIMIT, OrderKind.STOP)
        require(is_pending == (self.price > 0), "pending orders have a price, and no others")
        if self.kind in _OPENING:
            require(self.side is not Side.CLOSE, f"{self.kind.name} needs a side")
            return
        kind = self.kind.name
        require(self.kind is not OrderKind.CLOSE, f"a signal's order is no {kind}")
        require(self.side is Side.CLOSE, f"{kind} has no side")
        require(bool(self.symbol), f"{kind} needs a symbol")
        require(not (self.lots or self.risk_percent), f"{kind} deals no lots")
        says = self.stop or self.stop_points or self.stop_distance
        says = says or self.target or self.target_points or self.target_distance
        is_change = self.kind is OrderKind.MODIFY
        require(bool(says) == is_change, "MODIFY has a stop or a target, CANCEL has none")


@dataclass(frozen=True, slots=True)
class SignalResult:
    """Terminal: what became of a signal or order; `lots` and `price` are those of this fill."""

    TYPE: ClassVar = FrameType.SIGNAL_RESULT
    id: U8
    deal: U8
    order: U8
    time_msc: I8
    lots: F8
    price: F8
    retcode: U4
    status: Annotated[SignalStatus, "H"]
    text: Text

    def __post_init__(self) -> None:
        check_times(self.time_msc)
        check_sizes(self.lots)
        check_finite(self.price)


@dataclass(frozen=True, slots=True)
class Error:
    """Both: something was refused; `text` says what and how to cure it."""

    TYPE: ClassVar = FrameType.ERROR
    code: Annotated[ErrorCode, "H"]
    text: Text

    @classmethod
    def of(cls, code: ErrorCode, text: str) -> Error:
        """An error whose text may quote what the other side sent, cut to what a text can hold."""
        return cls(code, fixed_text(text.replace("\0", "?"), TEXT_BYTES_MAX).decode())


@dataclass(frozen=True, slots=True)
class Bye:
    """Both: I close on purpose; do not wait for me."""

    TYPE: ClassVar = FrameType.BYE
    text: Text


@dataclass(frozen=True, slots=True)
class Account:
    """Terminal: the account's state, in its currency; `allowed` has the bits of `Allowed`."""

    TYPE: ClassVar = FrameType.ACCOUNT
    time_msc: I8
    balance: F8
    credit: F8
    profit: F8
    equity: F8
    margin: F8
    margin_free: F8
    positions: U4
    orders: U4
    allowed: U1

    def __post_init__(self) -> None:
        check_times(self.time_msc)
        check_finite(self.balance, self.credit, self.profit)
        check_finite(self.equity, self.margin, self.margin_free)


@dataclass(frozen=True, slots=True)
class Order:
    """Daemon: please do this; `id` makes it idempotent. Zero prices and times mean "not given".

    `ticket` is the position or the pending order meant; `lots` 0 in a CLOSE means all.
    """

    TYPE: ClassVar = FrameType.ORDER
    id: U8
    time_msc: I8
    valid_until_msc: I8
    magic: I8
    ticket: U8
    lots: F8
    price: F8
    sl: F8
    tp: F8
    deviation_points: U4
    kind: Annotated[OrderKind, "B"]
    side: Annotated[OrderSide, "B"]
    name: Text
    symbol: Text

    def __post_init__(self) -> None:
        check_times(self.time_msc, self.valid_until_msc)
        check_sizes(self.lots, self.price, self.sl, self.tp)
        kind = self.kind
        if kind in _OPENING:
            require(self.side is not OrderSide.NONE, f"{kind.name} needs a side")
            require(self.lots > 0, f"{kind.name} needs lots")
        if kind in (OrderKind.LIMIT, OrderKind.STOP):
            require(self.price > 0, f"{kind.name} needs a price")
        if kind in (OrderKind.MODIFY, OrderKind.CANCEL):
            require(self.ticket > 0, f"{kind.name} needs a ticket")
        if kind is OrderKind.CLOSE:
            require(bool(self.ticket or self.symbol), "CLOSE needs a ticket or a symbol")


@dataclass(frozen=True, slots=True)
class Asked:
    """The id of a signal or order."""

    id: U8


@dataclass(frozen=True, slots=True)
class Ask:
    """Daemon: what became of these? Asking executes nothing."""

    TYPE: ClassVar = FrameType.ASK
    ids: tuple[Asked, ...]

    def __post_init__(self) -> None:
        count = len(self.ids)
        require(1 <= count <= ASKED_MAX, f"{count} ids, 1 to {ASKED_MAX} allowed")


@dataclass(frozen=True, slots=True)
class Halt:
    """Daemon: the kill switch, on with `halted` 1."""

    TYPE: ClassVar = FrameType.HALT
    halted: U1
    reason: Text

    def __post_init__(self) -> None:
        require(self.halted in (0, 1), f"halted {self.halted} is neither 0 nor 1")


@dataclass(frozen=True, slots=True)
class Recount:
    """Terminal: the tick base holds `count` ticks with from_msc <= time_msc < to_msc.

    All of them have numbers up to `sequence`.
    """

    TYPE: ClassVar = FrameType.RECOUNT
    stream: U4
    sequence: U8
    from_msc: I8
    to_msc: I8
    count: U4

    def __post_init__(self) -> None:
        require(self.stream != DEALS_STREAM, "stream 0 is the deals'")
        check_sequences(self.sequence)
        check_times(self.from_msc, self.to_msc)
        require(self.from_msc < self.to_msc, f"{self.from_msc}..{self.to_msc} is no interval")


Frame: TypeAlias = (
    Hello
    | Welcome
    | Symbols
    | Ticks
    | Deals
    | Heartbeat
    | Ack
    | Resend
    | Lost
    | Signal
    | SignalResult
    | Error
    | Bye
    | Account
    | Order
    | Ask
    | Halt
    | Recount
    | Subscribe
    | Subscribed
    | Event
    | Challenge
    | Proof
    | SignalOrder
    | Properties
)

FRAMES: tuple[type[Frame], ...] = (
    Hello,
    Welcome,
    Symbols,
    Ticks,
    Deals,
    Heartbeat,
    Ack,
    Resend,
    Lost,
    Signal,
    SignalResult,
    Error,
    Bye,
    Account,
    Order,
    Ask,
    Halt,
    Recount,
    Subscribe,
    Subscribed,
    Event,
    Challenge,
    Proof,
    SignalOrder,
    Properties,
)
