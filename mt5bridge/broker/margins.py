"""How far prices may move before the margin can be short: no tick within is looked at closer."""

from __future__ import annotations

from mt5bridge.broker.checks import equity, gain_of, margin
from mt5bridge.broker.money import margin_of
from mt5bridge.broker.rates import converted, has_rate
from mt5bridge.broker.state import Record, State

RATE_SHARE = 0.01
"""By so much rates may move at most before they are looked at anew."""


def watch_margin(state: State) -> None:
    """No tick within these prices can make the equity too small, whichever come together."""
    account, blocked = state.account[0], margin(state)
    if not are_rates_known(state):
        account["due_msc"] = 0
        return
    if blocked <= 0.0:
        return
    worth = equity(state)
    slack = worth - account["stop_out_percent"] / 100.0 * blocked
    # of each position half a cent may be rounded, here and there, in worth and in margin
    parts = account["parts_of_unit"]
    cents = 1.0 + account["stop_out_percent"] / 100.0 * exposed_share(state)
    slack -= 1e-9 * abs(worth) + cents * account["positions"] * (
        1.0 / parts if parts > 0.0 else 1e-9
    )
    if slack <= 0.0:
        account["due_msc"] = 0
        return
    exposed = exposure(state)
    if exposed > 0.0:  # half of it for rates, half for prices
        slack /= 2.0
        watch_rates(state, min(RATE_SHARE, slack / exposed))
    share = slack / account["positions"]  # as many sides of symbols at most
    for row in range(account["positions"]):
        watch_loss(state, state.positions[row], share)


def are_rates_known(state: State) -> bool:
    """Whether what is open can be converted now."""
    for row in range(state.account[0]["positions"]):
        if not has_rate(state, state.symbols[state.positions[row]["symbol"]]):
            return False
    return True


def exposed_share(state: State) -> float:
    """1 where a rate moves what is blocked, else 0."""
    for row in range(state.account[0]["positions"]):
        if state.symbols[state.positions[row]["symbol"]]["rate_way"] != 0:
            return 1.0
    return 0.0


def exposure(state: State) -> float:
    """What moves with rates: gains, and what equity must cover of the margin; all of it above 0."""
    account, total = state.account[0], 0.0
    for row in range(account["positions"]):
        position = state.positions[row]
        symbol = state.symbols[position["symbol"]]
        if symbol["rate_way"] != 0:
            total += abs(gain_of(state, symbol, position))
            blocked = margin_of(state, symbol, position["lots"], position["price"])
            total += account["stop_out_percent"] / 100.0 * blocked
    return total


def watch_rates(state: State, share: float) -> None:
    """Rates of open positions may move by this share of them: a third of it each pair."""
    for row in range(state.account[0]["positions"]):
        symbol = state.symbols[state.positions[row]["symbol"]]
        if symbol["rate_way"] != 0:
            _watch_pair(state.symbols[symbol["rate_row"]], share / 3.0)
        if symbol["cross_way"] != 0:
            _watch_pair(state.symbols[symbol["cross_row"]], share / 3.0)


def _watch_pair(pair: Record, share: float) -> None:
    pair["bid_low"] = max(pair["bid_low"], pair["bid"] * (1.0 - share))
    pair["bid_high"] = min(pair["bid_high"], pair["bid"] * (1.0 + share))
    pair["ask_low"] = max(pair["ask_low"], pair["ask"] * (1.0 - share))
    pair["ask_high"] = min(pair["ask_high"], pair["ask"] * (1.0 + share))


def watch_loss(state: State, position: Record, share: float) -> None:
    """Prices at which all positions of a symbol and side have lost so much more, all together."""
    symbol, side = state.symbols[position["symbol"]], position["side"]
    lots = 0.0
    for row in range(state.account[0]["positions"]):
        other = state.positions[row]
        if other["symbol"] == position["symbol"] and other["side"] == side:
            lots += other["lots"]
    a_price = converted(state, symbol, lots * symbol["contract_size"])
    if symbol["rate_way"] != 0:
        a_price *= 1.0 + RATE_SHARE
    away = share / a_price if a_price > 0.0 else 0.0
    if side > 0 and symbol["bid"] > 0.0:
        symbol["bid_low"] = max(symbol["bid_low"], symbol["bid"] - away, 0.0)
    elif side > 0:
        symbol["bid_high"] = 0.0  # any price changes what it is worth
    elif symbol["ask"] > 0.0:
        symbol["ask_high"] = min(symbol["ask_high"], symbol["ask"] + away)
        symbol["ask_low"] = max(symbol["ask_low"], 0.0)
    else:
        symbol["ask_high"] = 0.0
