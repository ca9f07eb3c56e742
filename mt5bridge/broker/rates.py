"""Amounts in the currency of a symbol's profits become the account's, at the quotes of pairs.

A pair is a symbol of the table, whether it is traded or only quoted. Its way says which of its
currencies is given away: DIRECT, the first, which brings the bid; INVERSE, the second, which costs
the ask. A second pair makes a cross. A symbol without a way has the account's currency.
"""

from __future__ import annotations

from mt5bridge.broker.state import Record, State

DIRECT = 1
INVERSE = -1


def converted(state: State, symbol: Record, amount: float) -> float:
    """An amount in the account's currency; 0 while a quote is missing."""
    if symbol["rate_way"] == 0:
        return amount
    found = exchanged(state.symbols[symbol["rate_row"]], symbol["rate_way"], amount)
    if symbol["cross_way"] == 0:
        return found
    return exchanged(state.symbols[symbol["cross_row"]], symbol["cross_way"], found)


def exchanged(pair: Record, way: int, amount: float) -> float:
    """What giving away an amount of one currency of a pair brings of the other."""
    if way == DIRECT:
        return float(amount * pair["bid"]) if pair["bid"] > 0.0 else 0.0
    return float(amount / pair["ask"]) if pair["ask"] > 0.0 else 0.0


def has_rate(state: State, symbol: Record) -> bool:
    """Whether all quotes are there that amounts of a symbol need."""
    return converted(state, symbol, 1.0) > 0.0
