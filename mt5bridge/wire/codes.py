"""Numbers on the wire and their names (PROTOCOL.md sections 4 and 9)."""

from __future__ import annotations

from enum import IntEnum


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


class AccountMode(IntEnum):
    """How an account keeps positions (MetaTrader's ENUM_ACCOUNT_MARGIN_MODE)."""

    NETTING = 0
    EXCHANGE = 1
    HEDGING = 2


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


class SignalStatus(IntEnum):
    """What became of a signal; all but RECEIVED and PARTIAL are final."""

    RECEIVED = 0
    PARTIAL = 1
    EXECUTED = 2
    REJECTED = 3
    EXPIRED = 4
    DRY_RUN = 5

    @property
    def final(self) -> bool:
        """Whether no further result follows for this signal."""
        return self not in (SignalStatus.RECEIVED, SignalStatus.PARTIAL)


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
