"""Numbers on the wire and their names (PROTOCOL.md sections 4 and 9)."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class FrameType(IntEnum):
    """The type byte of a frame's header."""

    HELLO = 1
    WELCOME = 2
    SYMBOLS = 3
    TICKS = 4
    DEALS = 5
    HEARTBEAT = 6
    ACK = 7
    RESEND = 8
    LOST = 9
    SIGNAL = 10
    SIGNAL_RESULT = 11
    ERROR = 12
    BYE = 13
    ACCOUNT = 14
    ORDER = 15
    ASK = 16
    HALT = 17
    RECOUNT = 18
    SUBSCRIBE = 19
    SUBSCRIBED = 20
    EVENT = 21
    CHALLENGE = 22
    PROOF = 23
    SIGNAL_ORDER = 24
    PROPERTIES = 25


class AccountMode(IntEnum):
    """How an account keeps positions (MetaTrader's ENUM_ACCOUNT_MARGIN_MODE)."""

    NETTING = 0
    EXCHANGE = 1
    HEDGING = 2


class TradeMode(IntEnum):
    """What a terminal does with the signals and orders it is sent."""

    NONE = 0  # it publishes only
    LIVE = 1
    DRY_RUN = 2  # it says what it would do


class Allowed(IntFlag):
    """What lets a terminal trade; all five bits are needed."""

    CONNECTED = 1  # to its trade server
    TERMINAL = 2  # algo trading is on in the terminal
    PROGRAM = 4  # and for this program
    ACCOUNT = 8  # the account may trade
    EXPERTS = 16  # and may trade by program


class SwapMode(IntEnum):
    """What the swaps of a symbol are, for each lot and night."""

    UNTOLD = 0  # in none of these ways
    NONE = 1
    POINTS = 2
    MONEY = 3  # of the account's currency
    PERCENT = 4  # of its worth a year, at the price of the day


class LostReason(IntEnum):
    """Why a terminal cannot send an interval again."""

    OTHER = 0
    DISCARDED = 1  # acknowledged once, therefore no longer kept
    NOT_IN_TICK_BASE = 2
    OVERFLOW = 3


class Side(IntEnum):
    """What a signal asks for."""

    BUY = 0
    SELL = 1
    CLOSE = 2


class OrderKind(IntEnum):
    """What an order does."""

    MARKET = 0
    LIMIT = 1
    STOP = 2
    MODIFY = 3  # of a position or a pending order
    CANCEL = 4  # of a pending order
    CLOSE = 5  # of a position, or of all with one symbol and magic number


class OrderSide(IntEnum):
    """Which way an order goes."""

    BUY = 0
    SELL = 1
    NONE = 2


class SignalStatus(IntEnum):
    """What became of a signal or an order."""

    RECEIVED = 0
    PARTIAL = 1
    EXECUTED = 2
    REJECTED = 3
    EXPIRED = 4
    DRY_RUN = 5
    PLACED = 6  # a pending order stands at the broker
    CANCELLED = 7
    UNKNOWN = 8  # answers an ASK: this id was never seen, nothing was done for it

    @property
    def final(self) -> bool:
        """Whether no further result follows for this id; UNKNOWN ends only what was asked."""
        return self not in _OPEN

    @property
    def is_fill(self) -> bool:
        """Whether lots were dealt."""
        return self in (SignalStatus.PARTIAL, SignalStatus.EXECUTED)


_OPEN = (
    SignalStatus.RECEIVED,
    SignalStatus.PARTIAL,
    SignalStatus.PLACED,
    SignalStatus.UNKNOWN,
)


class Wanted(IntEnum):
    """What an entry of SUBSCRIBE says."""

    ALL = 0  # complex events of all engines
    ENGINE = 1  # those of an engine
    NAMED = 2  # those of a name
    KNOWN = 3  # the number of the newest one that has come of a name


class FieldKind(IntEnum):
    """What a field of a bound event holds."""

    NULL = 0
    BOOL = 1  # whole: 0 or 1
    WHOLE = 2
    NUMBER = 3
    TEXT = 4


class ErrorCode(IntEnum):
    """Why the other side refused something."""

    BAD_FRAME = 1
    WRONG_VERSION = 2
    HELLO_FIRST = 3
    IDENTITY_IN_USE = 4
    SUPERSEDED = 5
    UNKNOWN_STREAM = 6
    UNEXPECTED_FRAME = 7
    LIMIT = 8
    NOT_ALLOWED = 9
