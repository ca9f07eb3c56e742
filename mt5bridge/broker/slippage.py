"""How much worse than the quote market and stop orders fill."""

from __future__ import annotations

import math

from mt5bridge.broker.state import Record, State

_WORD = 0xFFFFFFFF


def slippage_of(state: State, order: Record, lots: float) -> float:
    """A difference of prices, for so many lots of an order: what the symbol's terms come to.

    All but the constant one, together, are rounded up to whole steps of its prices.
    """
    symbol = state.symbols[order["symbol"]]
    point = symbol["point"]
    constant = symbol["slippage_points"] * point
    grown = symbol["slippage_spread"] * max(symbol["ask"] - symbol["bid"], 0.0)
    if symbol["impact_points"] > 0.0:
        grown += symbol["impact_points"] * point * impact(symbol, lots)
    if symbol["slippage_range"] > 0.0:
        grown += symbol["slippage_range"] * recent_range(symbol)
    if symbol["slippage_random_points"] > 0.0:
        number = int(order["ticket"]) - int(state.account[0]["first_ticket"])
        share = draw(int(symbol["slippage_seed"]), number)
        grown += symbol["slippage_random_points"] * point * share
    if grown <= 0.0:
        return float(constant)
    step = symbol["tick_size"] if symbol["tick_size"] > 0.0 else point
    return float(constant + math.ceil(grown / step - 1e-6) * step)


def impact(symbol: Record, lots: float) -> float:
    """Lots by `impact_lots`, to the `impact_power`: 1 grows with the lots, 0.5 as their root."""
    share = lots / symbol["impact_lots"]
    power = symbol["impact_power"]
    if power == 1.0:
        return float(share)
    return math.sqrt(share) if power == 0.5 else math.pow(share, power)


def recent_range(symbol: Record) -> float:
    """The highest bid less the lowest, of this period or the one before: whichever is more."""
    return float(max(symbol["range_high"] - symbol["range_low"], symbol["range_before"]))


def note_range(state: State, row: int, time_msc: int, bid: float) -> None:
    """A tick of the symbol in this row; one that comes late counts for the newest period."""
    symbol = state.symbols[row]
    length_ms = symbol["slippage_range_ms"]
    if length_ms <= 0 or not bid > 0.0:
        return
    period = time_msc // length_ms
    if period <= symbol["range_period"]:
        symbol["range_low"] = min(symbol["range_low"], bid)
        symbol["range_high"] = max(symbol["range_high"], bid)
        return
    follows = period == symbol["range_period"] + 1
    symbol["range_before"] = symbol["range_high"] - symbol["range_low"] if follows else 0.0
    symbol["range_period"] = period
    symbol["range_low"] = bid
    symbol["range_high"] = bid


def draw(seed: int, number: int) -> float:
    """A share below 1 by chance, the same for the same two numbers: no state, so that it does not
    matter what was drawn before. A mixer of 32 bits whose products fit into 63.
    """
    mixed = 0
    for word in (seed & _WORD, number & _WORD, (number >> 32) & _WORD):
        mixed = _mix((mixed + 0x1E3779B9 + word) & _WORD)
    return mixed / 4294967296.0


def _mix(word: int) -> int:
    word ^= word >> 16
    word = (word * 0x21F0AAAD) & _WORD
    word ^= word >> 15
    word = (word * 0x735A2D97) & _WORD
    return word ^ (word >> 15)
