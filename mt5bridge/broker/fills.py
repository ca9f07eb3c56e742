"""Working orders become deals, and deals make of positions what the account's kind says."""

from __future__ import annotations

from mt5bridge.broker.codes import (
    BUY,
    BUY_LIMIT,
    BY_EXPERT,
    BY_TARGET,
    ENTRY_SIDE,
    EXIT_SIDE,
    FOK,
    IN,
    INOUT,
    IOC,
    OUT,
    RETURN,
    SELL,
    SELL_LIMIT,
)
from mt5bridge.broker.find import (
    position_in,
    position_row,
    remove_order,
    remove_position,
    room_for_position,
)
from mt5bridge.broker.holdings import hold, let_go
from mt5bridge.broker.money import money, profit_of, stepped, tidy
from mt5bridge.broker.nights import day_of
from mt5bridge.broker.rates import converted
from mt5bridge.broker.slippage import slippage_of
from mt5bridge.broker.state import Record, State

FAR = 1e300
"""More than any lots or price."""


def side_of(kind: int) -> int:
    """Of an order's type: 1 buys, -1 sells."""
    return 1 if kind % 2 == 0 else -1


def new_order(state: State, symbol: int, kind: int, lots: float, tag: int) -> int:
    """The row of a new working order; the caller sets what else it has."""
    account = state.account[0]
    row = int(account["orders"])
    account["orders"] += 1
    order = state.orders[row]
    order["ticket"] = account["next_order"]
    account["next_order"] += 1
    order["symbol"] = symbol
    order["type"] = kind
    order["lots"] = lots
    order["tag"] = tag
    order["reason"] = BY_EXPERT
    order["magic"] = 0
    order["position"] = 0
    order["filling"] = IOC  # a level that is not met whole is met again
    order["works"] = 0
    order["expires_msc"] = 0
    order["price"] = 0.0
    order["limit_price"] = 0.0
    order["sl"] = 0.0
    order["tp"] = 0.0
    return row


def fill_price(state: State, order: Record, lots: float) -> float:
    """Limits and targets are met at their own price or better, others at the slipped market."""
    symbol = state.symbols[order["symbol"]]
    kind, price = order["type"], order["price"]
    buys = side_of(kind) > 0
    market = symbol["ask"] if buys else symbol["bid"]
    if kind in (BUY_LIMIT, SELL_LIMIT):
        return float(min(market, price) if buys else max(market, price))
    if order["reason"] == BY_TARGET:
        return float(price)
    slipped = slippage_of(state, order, lots)
    return float(market + slipped if buys else market - slipped)


def offered_lots(symbol: Record, kind: int) -> float:
    """What is left of the lots that the newest tick offers to an order of this type."""
    if symbol["depth_lots"] <= 0.0:
        return FAR
    taken = symbol["ask_taken"] if side_of(kind) > 0 else symbol["bid_taken"]
    return stepped(symbol, max(0.0, tidy(symbol["depth_lots"] - taken)))


def take(symbol: Record, kind: int, lots: float) -> None:
    """Lots that an order of this type has left for nobody else at this tick."""
    if side_of(kind) > 0:
        symbol["ask_taken"] += lots
    else:
        symbol["bid_taken"] += lots


def work(state: State, row: int) -> float:
    """Fill the order of a row as far as lots are offered; the lots that were dealt.

    What is left of it waits for ticks that offer more (RETURN), else it ends here. One that wants
    all or nothing (FOK) has no deal where not all is offered.
    """
    order = state.orders[row]
    symbol = state.symbols[order["symbol"]]
    lots, offered = order["lots"], offered_lots(symbol, order["type"])
    is_starved = lots > offered + 1e-9
    if is_starved:
        lots = 0.0 if order["filling"] == FOK else offered
    filled = fill_in_shares(state, order, lots)
    if symbol["depth_lots"] > 0.0:
        take(symbol, order["type"], filled)
    if is_starved and order["filling"] == RETURN and filled >= lots:
        order["lots"] = tidy(order["lots"] - filled)
        order["works"] = 1
    else:
        remove_order(state, row)
    return filled


def fill_in_shares(state: State, order: Record, lots: float) -> float:
    """Deals in the shares of the account, all at one price; the lots that were dealt."""
    if lots <= 0.0:
        return 0.0
    symbol = state.symbols[order["symbol"]]
    price = fill_price(state, order, lots)
    shares, asked, filled = 0.0, 0.0, 0.0
    for at in range(len(state.fills)):
        shares += state.fills[at]
        is_last = at == len(state.fills) - 1
        part = tidy((lots if is_last else stepped(symbol, lots * shares + 1e-9)) - asked)
        if part > 0.0:
            filled = tidy(filled + fill(state, order, part, price))
            asked = tidy(asked + part)
    return filled


def fill(state: State, order: Record, lots: float, price: float) -> float:
    """One deal of an order; fewer lots when the position to be closed has become smaller."""
    account = state.account[0]
    closes = account["hedging"] == 1 and order["position"] != 0
    if account["hedging"] == 1:
        row = position_row(state, order["position"] if closes else order["ticket"])
    else:
        row = position_in(state, order["symbol"])
    if closes and row < 0:
        return 0.0
    side = side_of(order["type"])
    if closes:
        lots = min(lots, state.positions[row]["lots"])
    deal = new_deal(state, order, lots, price)
    if row < 0 or state.positions[row]["side"] == side:
        open_lots(state, order, deal, row)
    elif lots <= state.positions[row]["lots"]:
        close_lots(state, deal, row)
    else:
        reverse(state, order, deal, row)
    deal["commission"] = commission_of(state, deal)
    gained = deal["profit"] + deal["swap"] + deal["commission"]
    account["balance"] = money(account, account["balance"] + gained)
    return float(lots)


def new_deal(state: State, order: Record, lots: float, price: float) -> Record:
    account = state.account[0]
    deal = state.deals[account["deals"]]
    account["deals"] += 1
    deal["ticket"] = account["next_deal"]
    account["next_deal"] += 1
    deal["order"] = order["ticket"]
    deal["time_msc"] = account["time_msc"]
    deal["place"] = account["place"]
    deal["at_symbol"] = account["at_symbol"]
    deal["magic"] = order["magic"]
    deal["symbol"] = order["symbol"]
    deal["tag"] = order["tag"]
    deal["type"] = BUY if side_of(order["type"]) > 0 else SELL
    deal["reason"] = order["reason"]
    deal["volume"] = lots
    deal["price"] = price
    deal["order_price"] = order["price"]
    deal["sl"] = order["sl"]
    deal["tp"] = order["tp"]
    deal["profit"] = 0.0
    deal["rate"] = converted(state, state.symbols[order["symbol"]], 1.0)
    deal["swap"] = 0.0
    deal["commission"] = 0.0
    deal["closed_lots"] = 0.0
    deal["open_price"] = 0.0
    deal["opened_msc"] = 0
    deal["opened_by"] = 0
    return deal


def commission_of(state: State, deal: Record) -> float:
    """What a deal costs: its lots that open, that close, or both are charged."""
    symbol = state.symbols[deal["symbol"]]
    lots = deal["volume"]
    if symbol["commission_side"] == ENTRY_SIDE:
        lots = lots - deal["closed_lots"]
    elif symbol["commission_side"] == EXIT_SIDE:
        lots = deal["closed_lots"]
    worth = symbol["contract_size"] * deal["price"]
    share = converted(state, symbol, symbol["commission_per_mille"] / 1000.0 * worth)
    a_lot = symbol["commission_per_lot"] + share
    return money(state.account[0], -a_lot * lots)


def new_position(state: State, order: Record, deal: Record, lots: float) -> Record:
    """A position that an order opens; it is named after the order."""
    position = state.positions[room_for_position(state, order["ticket"])]
    position["ticket"] = order["ticket"]
    position["identifier"] = order["ticket"]
    position["symbol"] = order["symbol"]
    position["side"] = side_of(order["type"])
    position["magic"] = order["magic"]
    position["tag"] = order["tag"]
    position["time_msc"] = deal["time_msc"]
    position["lots"] = lots
    position["price"] = deal["price"]
    position["sl"] = order["sl"]
    position["tp"] = order["tp"]
    position["swap"] = 0.0
    position["day"] = day_of(state.account[0], state.account[0]["time_msc"])
    return position


def share(state: State, deal: Record) -> None:
    """On a netting account: whose lots they are."""
    if state.account[0]["hedging"] == 0:
        lots = deal["volume"] if deal["type"] == BUY else -deal["volume"]
        hold(state, deal["position_id"], deal["magic"], lots)


def open_lots(state: State, order: Record, deal: Record, row: int) -> None:
    """A new position, or more of one: levels that the order names replace those it had."""
    deal["entry"] = IN
    if row < 0:
        deal["position_id"] = order["ticket"]
        new_position(state, order, deal, deal["volume"])
    else:
        position = state.positions[row]
        deal["position_id"] = position["identifier"]
        lots = tidy(position["lots"] + deal["volume"])
        cost = position["price"] * position["lots"] + deal["price"] * deal["volume"]
        position["price"] = cost / lots
        position["lots"] = lots
        if order["sl"] > 0.0:
            position["sl"] = order["sl"]
        if order["tp"] > 0.0:
            position["tp"] = order["tp"]
    share(state, deal)


def note_closed(state: State, deal: Record, position: Record, lots: float) -> None:
    """What a deal closes, and what that brings."""
    account, symbol = state.account[0], state.symbols[position["symbol"]]
    deal["position_id"] = position["identifier"]
    deal["closed_lots"] = lots
    deal["open_price"] = position["price"]
    deal["opened_msc"] = position["time_msc"]
    deal["opened_by"] = position["tag"]
    deal["profit"] = profit_of(
        state, symbol, position["side"], lots, position["price"], deal["price"]
    )
    deal["swap"] = money(account, position["swap"] * lots / position["lots"])
    position["swap"] = money(account, position["swap"] - deal["swap"])


def close_lots(state: State, deal: Record, row: int) -> None:
    """Less of a position, or none."""
    position = state.positions[row]
    deal["entry"] = OUT
    note_closed(state, deal, position, deal["volume"])
    share(state, deal)
    position["lots"] = tidy(position["lots"] - deal["volume"])
    if position["lots"] <= 0.0:
        let_go(state, position["identifier"])
        remove_position(state, row)


def reverse(state: State, order: Record, deal: Record, row: int) -> None:
    """One deal closes a position and opens one on the other side.

    The identifier stays, the ticket becomes that of the order.
    """
    position = state.positions[row]
    identifier, lots = position["identifier"], tidy(deal["volume"] - position["lots"])
    deal["entry"] = INOUT
    note_closed(state, deal, position, position["lots"])
    remove_position(state, row)
    new_position(state, order, deal, lots)["identifier"] = identifier
    share(state, deal)
