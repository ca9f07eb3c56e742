"""What a request that a strategy has computed comes to: lots by risk, and levels that are none."""

from __future__ import annotations

import math

from mt5bridge.broker.checks import equity
from mt5bridge.broker.money import profit_of, stepped
from mt5bridge.broker.state import Record, State

_MANY = 1e6  # lots whose loss is computed, so that rounding to cents is nothing
_DUST = 1e8


def lots_at_risk(state: State, request: Record, price: float) -> float:
    """Lots, rounded down, whose loss at the stop is `risk_percent` of the equity.

    The most are the symbol's, and `lots` where they are said. 0: nothing is lost at the stop.
    """
    symbol, stop = state.symbols[request["symbol"]], request["sl"]
    if not (stop > 0.0 and price > 0.0):
        return 0.0
    a_lot = abs(profit_of(state, symbol, 1, _MANY, price, stop)) / _MANY
    if not a_lot > 0.0:
        return 0.0
    lots = max(0.0, equity(state)) * request["risk_percent"] / 100.0 / a_lot
    if request["lots"] > 0.0:
        lots = min(lots, request["lots"])
    if symbol["volume_max"] > 0.0:
        lots = min(lots, symbol["volume_max"])
    if symbol["volume_step"] > 0.0:
        return stepped(symbol, lots)
    return float(math.floor(lots * _DUST) / _DUST)


def is_too_far(state: State, request: Record, price: float) -> bool:
    """Whether stop or target are farther from the price than half of it."""
    if request["is_priced"] != 1 or not price > 0.0:
        return False
    point = state.symbols[request["symbol"]]["point"]
    for level, points in (
        (request["sl"], request["stop_points"]),
        (request["tp"], request["target_points"]),
    ):
        away = points * point
        if away <= 0.0 and level != 0.0:
            away = abs(level - price)
        if away > price / 2.0:
            return True
    return False
