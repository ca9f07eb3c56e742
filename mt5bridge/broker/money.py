"""Amounts: lots without the dust of binary fractions, money, prices, profit and margin."""

from __future__ import annotations

import math

from mt5bridge.broker.rates import converted
from mt5bridge.broker.state import Record, State


def half_away(value: float) -> float:
    """The nearest whole number; halves go away from zero, as in C."""
    whole = float(math.floor(abs(value)))
    if abs(value) - whole >= 0.5:
        whole += 1.0
    return math.copysign(whole, value)


def tidy(value: float) -> float:
    """Lots or a price in eight decimals: 0.3 - 0.1 is 0.2, not 0.19999999999999998."""
    return half_away(value * 1e8) / 1e8


def money(account: Record, amount: float) -> float:
    """An amount in the parts of the account's currency."""
    parts = account["parts_of_unit"]
    return half_away(amount * parts) / parts if parts > 0.0 else half_away(amount * 1e10) / 1e10


def stepped(symbol: Record, lots: float) -> float:
    """Lots rounded down to the symbol's step."""
    step = symbol["volume_step"]
    return tidy(math.floor(lots / step + 1e-7) * step) if step > 0.0 else lots


def on_grid(symbol: Record, price: float) -> bool:
    """Whether a price is a whole number of the symbol's price steps."""
    if symbol["tick_size"] <= 0.0:
        return True
    count = price / symbol["tick_size"]
    return bool(abs(count - half_away(count)) < 1e-4)


def snapped(symbol: Record, price: float) -> float:
    """The price step that is nearest to a price."""
    step = symbol["tick_size"]
    return tidy(half_away(price / step) * step) if step > 0.0 else half_away(price * 1e10) / 1e10


def profit_of(
    state: State, symbol: Record, side: int, lots: float, opened: float, closed: float
) -> float:
    """What closing so many lots brings."""
    gain = closed - opened if side > 0 else opened - closed
    amount = gain * lots * symbol["contract_size"]
    return money(state.account[0], converted(state, symbol, amount))


def margin_of(state: State, symbol: Record, lots: float, price: float) -> float:
    """What so many lots block; the account's leverage is above 0."""
    account = state.account[0]
    amount = lots * symbol["contract_size"] * price / account["leverage"]
    return money(account, converted(state, symbol, amount))
