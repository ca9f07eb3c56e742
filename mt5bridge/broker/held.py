"""By magic number: other levels for what a strategy holds, the end of what it has pending."""

from __future__ import annotations

from mt5bridge.broker.checks import check_levels, is_order_frozen
from mt5bridge.broker.codes import (
    DONE,
    FARTHER,
    FROZEN,
    INVALID_ORDER,
    MARKET_CLOSED,
    NO_CHANGES,
    POSITION_CLOSED,
    PRICE_OFF,
    TOO_FAR,
)
from mt5bridge.broker.find import remove_order
from mt5bridge.broker.holdings import closable
from mt5bridge.broker.money import snapped
from mt5bridge.broker.sessions import is_open
from mt5bridge.broker.sizing import is_too_far
from mt5bridge.broker.state import Record, State


def change_held(state: State, request: Record) -> int:
    """Another stop, target or both for each position of a symbol, the oldest first.

    Distances are measured from what closing a position brings now. A level that is not said, or is
    there already, stays. What one position may not have changes nothing of the others; the answer
    is that of the first that was refused.
    """
    answer = POSITION_CLOSED
    sl, tp = request["sl"], request["tp"]
    for row in range(state.account[0]["positions"]):
        if closable(state, request, state.positions[row]) > 0.0:
            request["sl"] = sl
            request["tp"] = tp
            retcode = _change(state, request, row)
            if answer in (POSITION_CLOSED, DONE):
                answer = retcode
    return answer


def _change(state: State, request: Record, row: int) -> int:
    position = state.positions[row]
    symbol = state.symbols[position["symbol"]]
    price = symbol["bid"] if position["side"] > 0 else symbol["ask"]
    if price <= 0.0:
        return PRICE_OFF
    away = position["side"] * symbol["point"]
    if request["stop_points"] > 0.0:
        request["sl"] = price - away * request["stop_points"]
    if request["target_points"] > 0.0:
        request["tp"] = price + away * request["target_points"]
    if is_too_far(state, request, price):
        return TOO_FAR
    request["sl"] = snapped(symbol, request["sl"]) if request["sl"] != 0.0 else position["sl"]
    request["tp"] = snapped(symbol, request["tp"]) if request["tp"] != 0.0 else position["tp"]
    if request["is_halted"] == 1 and _is_farther(request, position):
        return FARTHER
    refusal = check_levels(state, request, row)
    if refusal == NO_CHANGES:
        return DONE
    if refusal == 0:
        position["sl"] = request["sl"]
        position["tp"] = request["tp"]
    return refusal if refusal != 0 else DONE


def _is_farther(request: Record, position: Record) -> bool:
    """Whether a stop or target that is there would be farther from the market."""
    side, sl, tp = position["side"], position["sl"], position["tp"]
    by_stop = sl != 0.0 and (request["sl"] - sl) * side < 0.0
    by_target = tp != 0.0 and (tp - request["tp"]) * side < 0.0
    return bool(by_stop or by_target)


def cancel_held(state: State, request: Record) -> int:
    """Take back the pending orders of a symbol, but for those that are frozen."""
    answer, row = INVALID_ORDER, 0
    while row < state.account[0]["orders"]:
        order = state.orders[row]
        if order["symbol"] != request["symbol"] or order["magic"] != request["magic"]:
            row += 1
        elif not is_open(state, request["symbol"]):
            return MARKET_CLOSED
        elif is_order_frozen(state, row):
            answer = FROZEN
            row += 1
        else:
            _note_taken_back(state, order["tag"])
            remove_order(state, row)
            if answer != FROZEN:
                answer = DONE
    return answer


def _note_taken_back(state: State, tag: int) -> None:
    account = state.account[0]
    state.taken_back[account["taken_back"]]["tag"] = tag
    account["taken_back"] += 1
