"""What a tick sets off: expiry, pending orders, then stops and targets, each by ticket."""

from __future__ import annotations

from mt5bridge.broker.checks import equity, gain_of, margin
from mt5bridge.broker.codes import (
    BUY,
    BUY_LIMIT,
    BUY_STOP,
    BUY_STOP_LIMIT,
    BY_STOP,
    BY_STOP_OUT,
    BY_TARGET,
    NO_SWAP,
    SELL,
    SELL_LIMIT,
)
from mt5bridge.broker.fills import FAR, new_order, offered_lots, side_of, work
from mt5bridge.broker.find import remove_order
from mt5bridge.broker.margins import watch_margin
from mt5bridge.broker.nights import night_msc, pass_nights
from mt5bridge.broker.sessions import is_open
from mt5bridge.broker.state import Record, State

NEVER_MSC = 1 << 62


def on_tick(state: State, row: int, time_msc: int, bid: float, ask: float) -> None:
    """A tick of the symbol in this row."""
    account, symbol = state.account[0], state.symbols[row]
    account["time_msc"] = max(account["time_msc"], time_msc)
    symbol["bid"] = bid
    symbol["ask"] = ask
    is_due = time_msc >= account["due_msc"]
    if not is_due and not _beyond(symbol, bid, ask):
        return
    symbol["bid_taken"] = 0.0
    symbol["ask_taken"] = 0.0
    if is_due:
        pass_nights(state)
        expire(state, time_msc)
    if bid > 0.0 and ask > 0.0 and is_open(state, row):
        trigger_orders(state, row)
        trigger_levels(state, row)
    stop_out(state)
    watch(state)


def _beyond(symbol: Record, bid: float, ask: float) -> bool:
    """Whether a tick can reach an order or a level."""
    by_bid = bid <= symbol["bid_low"] or bid >= symbol["bid_high"]
    return bool(by_bid or ask <= symbol["ask_low"] or ask >= symbol["ask_high"])


def expire(state: State, time_msc: int) -> None:
    row = 0
    while row < state.account[0]["orders"]:
        expires_msc = state.orders[row]["expires_msc"]
        if expires_msc != 0 and time_msc >= expires_msc:
            remove_order(state, row)
        else:
            row += 1


def is_at_market(order: Record) -> bool:
    """Whether any price does: it has only not been filled whole."""
    return bool(order["works"] == 1 and order["type"] not in (BUY_LIMIT, SELL_LIMIT))


def is_reached(order: Record, symbol: Record) -> bool:
    kind, price = order["type"], order["price"]
    if is_at_market(order):
        return True
    if kind == BUY_LIMIT:
        return bool(symbol["ask"] <= price)
    if kind == SELL_LIMIT:
        return bool(symbol["bid"] >= price)
    if kind in (BUY_STOP, BUY_STOP_LIMIT):
        return bool(symbol["ask"] >= price)
    return bool(symbol["bid"] <= price)


def trigger_orders(state: State, symbol: int) -> None:
    row = 0
    while row < state.account[0]["orders"]:
        order = state.orders[row]
        is_met = order["symbol"] == symbol and is_reached(order, state.symbols[symbol])
        if is_met and order["type"] < BUY_STOP_LIMIT:
            before = state.account[0]["orders"]
            work(state, row)
            if state.account[0]["orders"] == before:
                row += 1
            continue
        if is_met:  # it waits for its limit from the next tick on
            order["type"] = BUY_LIMIT if order["type"] == BUY_STOP_LIMIT else SELL_LIMIT
            order["price"] = order["limit_price"]
        row += 1


def trigger_levels(state: State, symbol: int) -> None:
    row = 0
    while row < state.account[0]["positions"]:
        position = state.positions[row]
        before = state.account[0]["positions"]
        if position["symbol"] == symbol:
            sl, tp, side = position["sl"], position["tp"], position["side"]
            price = state.symbols[symbol]["bid"] if side > 0 else state.symbols[symbol]["ask"]
            if sl > 0.0 and (price - sl) * side <= 0.0:
                close_position(state, row, BY_STOP, sl)
            elif tp > 0.0 and (price - tp) * side >= 0.0:
                close_position(state, row, BY_TARGET, tp)
        if state.account[0]["positions"] == before:
            row += 1


def close_position(state: State, row: int, reason: int, price: float) -> None:
    """The server closes a position as far as lots are offered."""
    position = state.positions[row]
    kind = SELL if position["side"] > 0 else BUY
    at = new_order(state, position["symbol"], kind, position["lots"], 0)
    order = state.orders[at]
    order["reason"] = reason
    order["price"] = price
    order["magic"] = position["magic"]
    if state.account[0]["hedging"] == 1:
        order["position"] = position["ticket"]
    work(state, at)


def stop_out(state: State) -> None:
    """Close the position with the greatest loss, until the margin is covered as far as it must, or
    nobody offers lots.
    """
    account = state.account[0]
    while account["stop_out_percent"] > 0.0 and account["positions"] > 0 and is_short(state):
        worst, least = -1, 0.0
        for row in range(account["positions"]):
            position = state.positions[row]
            symbol = state.symbols[position["symbol"]]
            if offered_lots(symbol, SELL if position["side"] > 0 else BUY) <= 0.0:
                continue
            gain = gain_of(state, symbol, position)
            if worst < 0 or gain < least:
                worst, least = row, gain
        if worst < 0:
            return
        close_position(state, worst, BY_STOP_OUT, state.positions[worst]["sl"])


def is_short(state: State) -> bool:
    """Whether equity is too small for the margin."""
    blocked = margin(state)
    least = state.account[0]["stop_out_percent"]
    return bool(blocked > 0.0 and equity(state) / blocked * 100.0 < least)


def watch(state: State) -> None:
    """Set the prices and the time before which no tick changes anything."""
    account = state.account[0]
    account["due_msc"] = NEVER_MSC
    for row in range(len(state.symbols)):
        symbol = state.symbols[row]
        symbol["bid_low"] = -1.0
        symbol["ask_low"] = -1.0
        symbol["bid_high"] = FAR
        symbol["ask_high"] = FAR
        if symbol["bid_taken"] > 0.0 or symbol["ask_taken"] > 0.0:
            symbol["bid_low"] = FAR  # the next tick offers anew
    for row in range(account["positions"]):
        _watch_position(state, state.positions[row])
    for row in range(account["orders"]):
        _watch_order(state, state.orders[row])
    if account["stop_out_percent"] > 0.0 and account["positions"] > 0:
        watch_margin(state)


def _watch_position(state: State, position: Record) -> None:
    account, symbol = state.account[0], state.symbols[position["symbol"]]
    if symbol["swap_mode"] != NO_SWAP:
        account["due_msc"] = min(account["due_msc"], night_msc(account, position["day"]))
    sl, tp = position["sl"], position["tp"]
    if position["side"] > 0:
        symbol["bid_low"] = max(symbol["bid_low"], sl if sl > 0.0 else -1.0)
        symbol["bid_high"] = min(symbol["bid_high"], tp if tp > 0.0 else FAR)
    else:
        symbol["ask_high"] = min(symbol["ask_high"], sl if sl > 0.0 else FAR)
        symbol["ask_low"] = max(symbol["ask_low"], tp if tp > 0.0 else -1.0)


def _watch_order(state: State, order: Record) -> None:
    account, symbol = state.account[0], state.symbols[order["symbol"]]
    kind, price = order["type"], order["price"]
    if order["expires_msc"] != 0:
        account["due_msc"] = min(account["due_msc"], order["expires_msc"])
    if is_at_market(order):
        symbol["bid_low"] = FAR
    elif kind == BUY_LIMIT:
        symbol["ask_low"] = max(symbol["ask_low"], price)
    elif kind == SELL_LIMIT:
        symbol["bid_high"] = min(symbol["bid_high"], price)
    elif kind in (BUY_STOP, BUY_STOP_LIMIT):
        symbol["ask_high"] = min(symbol["ask_high"], price)
    else:
        symbol["bid_low"] = max(symbol["bid_low"], price)


def side_price(symbol: Record, kind: int) -> float:
    """What an order of this type trades at now."""
    return float(symbol["ask"] if side_of(kind) > 0 else symbol["bid"])
