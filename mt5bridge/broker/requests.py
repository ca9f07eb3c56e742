"""Requests: market and pending orders, changes, and what a strategy does with all it holds."""

from __future__ import annotations

from mt5bridge.broker.checks import (
    check_change,
    check_levels,
    check_open,
    filling_of,
    is_order_frozen,
    is_position_frozen,
)
from mt5bridge.broker.codes import (
    BUY,
    BUY_STOP_LIMIT,
    CANCEL_HELD,
    CANCELLED,
    CHANGE_HELD,
    CLOSE,
    DEAL,
    DONE,
    DONE_PARTIAL,
    FOK,
    FROZEN,
    INVALID,
    INVALID_EXPIRATION,
    INVALID_ORDER,
    INVALID_VOLUME,
    IOC,
    MARKET_CLOSED,
    MODIFY,
    PENDING,
    PLACED,
    POSITION_CLOSED,
    PRICE_OFF,
    REJECT,
    REMOVE,
    SELL,
    SELL_STOP_LIMIT,
    SLTP,
    TOO_FAR,
)
from mt5bridge.broker.fills import FAR, new_order, offered_lots, side_of, work
from mt5bridge.broker.find import order_row, position_in, position_row, remove_order
from mt5bridge.broker.held import cancel_held, change_held
from mt5bridge.broker.holdings import closable
from mt5bridge.broker.money import snapped, stepped
from mt5bridge.broker.sessions import is_open
from mt5bridge.broker.sizing import is_too_far, lots_at_risk
from mt5bridge.broker.state import Record, State
from mt5bridge.broker.ticks import side_price, watch


def execute(state: State, request: Record, answer: Record) -> None:
    """Do what a request asks for, or refuse it. What it leaves open is set in the request.

    Lots and prices become whole steps, distances become the prices of stop and target.
    """
    answer["order"] = 0
    answer["left"] = 0.0
    valid_until_msc = request["valid_until_msc"]
    if valid_until_msc != 0 and state.account[0]["time_msc"] > valid_until_msc:
        answer["retcode"] = INVALID_EXPIRATION
        return
    if request["action"] == CLOSE:
        answer["retcode"] = close(state, request, answer)
    elif request["action"] == CHANGE_HELD:
        answer["retcode"] = change_held(state, request)
    elif request["action"] == CANCEL_HELD:
        answer["retcode"] = cancel_held(state, request)
    else:
        price = 0.0
        if request["action"] in (DEAL, PENDING, SLTP, MODIFY):
            price = complete(state, request)
        if is_too_far(state, request, price):
            answer["retcode"] = TOO_FAR
            return
        answer["retcode"] = send(state, request, answer)
    watch(state)


def complete(state: State, request: Record) -> float:
    """Whole steps of lots and of prices, stop and target as prices, and lots by risk.

    The price that these are measured from.
    """
    symbol = state.symbols[request["symbol"]]
    request["lots"] = stepped(symbol, request["lots"])
    request["price"] = snapped(symbol, request["price"])
    request["limit_price"] = snapped(symbol, request["limit_price"])
    request["sl"] = snapped(symbol, request["sl"])
    request["tp"] = snapped(symbol, request["tp"])
    price = side_price(symbol, request["type"])
    if request["action"] == PENDING:
        price = request["price"]
        if request["type"] in (BUY_STOP_LIMIT, SELL_STOP_LIMIT):
            price = request["limit_price"]
    away = side_of(request["type"]) * symbol["point"]
    if request["stop_points"] > 0.0:
        request["sl"] = snapped(symbol, price - away * request["stop_points"])
    if request["target_points"] > 0.0:
        request["tp"] = snapped(symbol, price + away * request["target_points"])
    if request["risk_percent"] > 0.0:
        request["lots"] = lots_at_risk(state, request, price)
    return float(price)


def send(state: State, request: Record, answer: Record) -> int:
    """What a MetaTrader server does with a request; its return code."""
    action = request["action"]
    if action in (DEAL, PENDING):
        return open_order(state, request, answer)
    if action == SLTP:
        return change_levels(state, request)
    if action == MODIFY:
        return change_order(state, request, answer)
    if action == REMOVE:
        row = order_row(state, request["order"])
        if row < 0:
            return INVALID_ORDER
        if not is_open(state, state.orders[row]["symbol"]):
            return MARKET_CLOSED
        if is_order_frozen(state, row):
            return FROZEN
        answer["order"] = request["order"]
        remove_order(state, row)
        return DONE
    return INVALID


def open_order(state: State, request: Record, answer: Record) -> int:
    refusal = check_open(state, request)
    if refusal != 0:
        return refusal
    row = new_order(state, request["symbol"], request["type"], request["lots"], request["tag"])
    order = state.orders[row]
    answer["order"] = order["ticket"]
    order["magic"] = request["magic"]
    order["sl"] = request["sl"]
    order["tp"] = request["tp"]
    order["expires_msc"] = request["expires_msc"]
    order["filling"] = filling_of(state.symbols[request["symbol"]], request)
    if request["action"] == PENDING:
        order["price"] = request["price"]
        order["limit_price"] = request["limit_price"]
    else:
        order["position"] = request["position"]
        order["price"] = side_price(state.symbols[request["symbol"]], request["type"])
        before = state.account[0]["orders"]
        filled = work(state, row)
        if state.account[0]["orders"] == before:
            return PLACED
        return ending_of(filled, request["lots"])
    return DONE


def ending_of(filled: float, lots: float) -> int:
    """The return code of an order that has ended, with so much of its lots dealt."""
    if filled >= lots - 1e-9:
        return DONE
    return DONE_PARTIAL if filled > 0.0 else CANCELLED


def change_levels(state: State, request: Record) -> int:
    """Another stop and target for a position."""
    row = position_row(state, request["position"])
    if state.account[0]["hedging"] == 0 and request["position"] == 0:
        row = position_in(state, request["symbol"])
    refusal = check_levels(state, request, row)
    if refusal != 0:
        return refusal
    state.positions[row]["sl"] = request["sl"]
    state.positions[row]["tp"] = request["tp"]
    return DONE


def change_order(state: State, request: Record, answer: Record) -> int:
    """Another price, stop, target and expiry for a pending order."""
    row = order_row(state, request["order"])
    if row < 0:
        return INVALID_ORDER
    order = state.orders[row]
    request["symbol"] = order["symbol"]
    refusal = check_change(state, request)
    if refusal != 0:
        return refusal
    answer["order"] = order["ticket"]
    order["price"] = request["price"]
    order["limit_price"] = request["limit_price"]
    order["sl"] = request["sl"]
    order["tp"] = request["tp"]
    order["expires_msc"] = request["expires_msc"]
    return DONE


def close(state: State, request: Record, answer: Record) -> int:
    """Close a position by its ticket, or what a magic number holds of a symbol, oldest first.

    Zero lots are all of it. Positions that are frozen stay, and what nobody takes: no order of this
    kind waits, whatever the filling mode; where it is all or nothing, that is said of a position.
    """
    rest = FAR
    if request["lots"] > 0.0:
        rest = stepped(state.symbols[request["symbol"]], request["lots"])
        if rest <= 0.0:
            return INVALID_VOLUME
    has_closed, has_frozen, has_left, row = False, False, False, 0
    filling = IOC
    while row < state.account[0]["positions"] and rest > 0.0:
        ticket = state.positions[row]["ticket"]
        lots = min(rest, closable(state, request, state.positions[row]))
        if lots > 0.0:
            symbol = state.symbols[state.positions[row]["symbol"]]
            if not is_open(state, state.positions[row]["symbol"]):
                return MARKET_CLOSED
            if not (symbol["bid"] > 0.0 and symbol["ask"] > 0.0):
                return PRICE_OFF
            if is_position_frozen(state, row):
                has_frozen = True
                row += 1
                continue
            filling = filling_of(symbol, request)
            offered = offered_lots(symbol, SELL if state.positions[row]["side"] > 0 else BUY)
            if offered <= 0.0 or (filling == FOK and lots > offered + 1e-9):
                has_left = True
                row += 1
                continue
            answer["order"] = _close_lots(state, request, row, min(lots, offered))
            has_closed = True
            has_left = has_left or lots > offered + 1e-9
            rest -= min(lots, offered)
        if row < state.account[0]["positions"] and state.positions[row]["ticket"] == ticket:
            row += 1
    answer["left"] = rest if rest < FAR / 2.0 else 0.0
    if has_closed:
        return DONE_PARTIAL if has_left else DONE
    if has_left:
        return REJECT if filling == FOK else CANCELLED
    return FROZEN if has_frozen else POSITION_CLOSED


def _close_lots(state: State, request: Record, row: int, lots: float) -> int:
    """The ticket of the order that closes so much of the position in this row."""
    position = state.positions[row]
    kind = SELL if position["side"] > 0 else BUY
    at = new_order(state, position["symbol"], kind, lots, request["tag"])
    order = state.orders[at]
    ticket = int(order["ticket"])
    order["magic"] = request["magic"]
    if state.account[0]["hedging"] == 1:
        order["position"] = position["ticket"]
    work(state, at)
    return ticket
