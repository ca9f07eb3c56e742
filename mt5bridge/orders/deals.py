"""Deal records as what they mean for risk."""

from __future__ import annotations

import math
import re

import numpy as np

from mt5bridge.orders.records import Dealt
from mt5bridge.records import DealEntry, DealKind, DealType, Records, text_of, utc_msc

_TRADES = (DealType.BUY, DealType.SELL)
_COSTS = (*range(7, 13), *range(15, 18))
"""Commissions, interest, dividends and tax: deals that are no trade and still gain or lose."""
_BY_BROKER = (4, 5, 6)
"""DEAL_REASON_SL, DEAL_REASON_TP, DEAL_REASON_SO: what an order has left to the trade server."""
_ID = re.compile("([0-9a-f]{16})(?:[ :]|$)")
_EXITS = (DealEntry.OUT, DealEntry.OUT_BY)


def dealt(owner: str, deals: Records, utc_offset_ms: int) -> list[Dealt]:
    """What deals of an account mean; deposits and the like mean nothing, deletions undo.

    Each names its request, as if nobody knew it.
    """
    times = utc_msc(deals, utc_offset_ms).tolist()
    return [
        Dealt(
            owner=owner,
            ticket=int(deal["ticket"]),
            revision=int(deal["revision"]),
            time_msc=time_msc,
            position=int(deal["position_id"]),
            symbol=text_of(bytes(deal["symbol"])),
            lots=_lots(deal),
            profit=_profit(deal),
            is_exit=int(deal["entry"]) in _EXITS,
            magic=int(deal["magic"]),
            by_broker=int(deal["reason"]) in _BY_BROKER,
            unremembered=request_in(text_of(bytes(deal["comment"]))),
        )
        for deal, time_msc in zip(deals, times, strict=True)
        if int(deal["type"]) in (*_TRADES, *_COSTS) or int(deal["revision"]) > 0
    ]


def request_in(comment: str) -> int:
    """The id of its request that an order's comment begins with; 0: none."""
    found = _ID.match(comment)
    return int(found[1], 16) if found else 0


def _lots(deal: np.void) -> float | None:
    is_trade = int(deal["type"]) in _TRADES and int(deal["kind"]) != DealKind.DELETE
    sign = -1 if int(deal["type"]) == DealType.SELL else 1
    if not is_trade:
        return 0.0
    volume = float(deal["volume"])
    return sign * volume if math.isfinite(volume) and volume >= 0 else None


def _profit(deal: np.void) -> float | None:
    is_gone = int(deal["kind"]) == DealKind.DELETE
    if is_gone or int(deal["type"]) not in (*_TRADES, *_COSTS):
        return 0.0
    profit = sum(float(deal[name]) for name in ("profit", "commission", "swap", "fee"))
    return profit if math.isfinite(profit) else None
