"""NumPy dtypes of the records a terminal sends; both are packed and little-endian."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# Arrays of TICK or DEAL; NumPy's types cannot say which.
Records: TypeAlias = NDArray[Any]

# Byte for byte MqlTick, and what MetaTrader5.copy_ticks_range returns.
TICK = np.dtype(
    [
        ("time", "<i8"),
        ("bid", "<f8"),
        ("ask", "<f8"),
        ("last", "<f8"),
        ("volume", "<u8"),
        ("time_msc", "<i8"),
        ("flags", "<u4"),
        ("volume_real", "<f8"),
    ]
)

SYMBOL_BYTES = 32
COMMENT_BYTES = 64
EXTERNAL_ID_BYTES = 32

DEAL = np.dtype(
    [
        ("ticket", "<u8"),
        ("order", "<u8"),
        ("time_msc", "<i8"),
        ("magic", "<i8"),
        ("position_id", "<i8"),
        ("volume", "<f8"),
        ("price", "<f8"),
        ("commission", "<f8"),
        ("swap", "<f8"),
        ("profit", "<f8"),
        ("fee", "<f8"),
        ("sl", "<f8"),
        ("tp", "<f8"),
        ("type", "<u4"),
        ("entry", "<u4"),
        ("reason", "<u4"),
        ("revision", "<u4"),
        ("kind", "<u4"),
        ("symbol", f"S{SYMBOL_BYTES}"),
        ("comment", f"S{COMMENT_BYTES}"),
        ("external_id", f"S{EXTERNAL_ID_BYTES}"),
    ]
)


class DealKind(IntEnum):
    """What a deal record says about its ticket; a later revision replaces an earlier one."""

    ADD = 0
    UPDATE = 1
    DELETE = 2


class DealType(IntEnum):
    """MetaTrader's ENUM_DEAL_TYPE, as far as trades need it."""

    BUY = 0
    SELL = 1
    BALANCE = 2


class DealEntry(IntEnum):
    """MetaTrader's ENUM_DEAL_ENTRY."""

    IN = 0
    OUT = 1
    INOUT = 2
    OUT_BY = 3


class TickFlag(IntEnum):
    """MetaTrader's TICK_FLAG_* bits: which fields of a tick changed."""

    BID = 2
    ASK = 4
    LAST = 8
    VOLUME = 16
    BUY = 32
    SELL = 64


def fixed_text(text: str, bytes_max: int) -> bytes:
    """`text` as UTF-8 of at most `bytes_max` bytes, cut between characters."""
    raw = text.encode("utf-8", errors="replace")
    return raw[:bytes_max].decode("utf-8", errors="ignore").encode("utf-8")


def text_of(raw: bytes) -> str:
    """The text of a fixed-width field; bytes that are no UTF-8 become U+FFFD."""
    return raw.rstrip(b"\0").decode("utf-8", errors="replace")


def utc_msc(records: Records, utc_offset_ms: int) -> NDArray[np.int64]:
    """`time_msc` of ticks or deals as UTC, given the server's measured offset from UTC."""
    utc: NDArray[np.int64] = records["time_msc"].astype(np.int64) - utc_offset_ms
    return utc
