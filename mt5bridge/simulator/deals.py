"""The broker's deals as the records that a terminal sends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt5bridge.broker import Record, Table, codes
from mt5bridge.records import COMMENT_BYTES, DEAL, DealKind, Records, fixed_text
from mt5bridge.simulator.wish import Wish
from mt5bridge.wire import Symbol

_COMMENT_CHARACTERS = 31  # brokers keep no more
_COPIED = (
    "ticket", "order", "time_msc", "magic", "position_id", "volume", "price", "commission",
    "swap", "profit", "sl", "tp", "type", "entry", "reason",
)  # fmt: skip


def as_deals(rows: Table, symbols: Sequence[Symbol], wishes: Sequence[Wish]) -> Records:
    """DEAL, one for each row; `wishes` are those of the tags 1, 2, and so on."""
    found = np.zeros(len(rows), DEAL)
    for name in _COPIED:
        found[name] = rows[name]
    found["kind"] = DealKind.ADD
    for deal, row in zip(found, rows, strict=True):
        symbol = symbols[row["symbol"]]
        deal["symbol"] = symbol.name.encode()
        deal["comment"] = (
            comment(wishes[row["tag"] - 1]) if row["tag"] else level_comment(row, symbol.digits)
        )
    return found


def comment(wish: Wish) -> bytes:
    """A deal's comment for what was wished."""
    return request_comment(wish.id, wish.name)


def request_comment(identifier: int, name: str) -> bytes:
    """The request's id in 16 hexadecimal digits, and as much of its name as fits."""
    return fixed_text(f"{identifier:016x} {name}"[:_COMMENT_CHARACTERS], COMMENT_BYTES)


def level_comment(row: Record, digits: int) -> bytes:
    """As a MetaTrader server comments what it closes by itself."""
    if row["reason"] == codes.BY_STOP_OUT:
        return b"so"
    what = "sl" if row["reason"] == codes.BY_STOP else "tp"
    return f"[{what} {row['order_price']:.{digits}f}]".encode()
