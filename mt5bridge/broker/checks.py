"""What a request must fulfil: return codes as a MetaTrader server gives them; 0 is none."""

from __future__ import annotations

from mt5bridge.broker.codes import (
    AS_USUAL,
    BUY,
    BUY_LIMIT,
    BUY_STOP_LIMIT,
    DEAL,
    FOK,
    FROZEN,
    INVALID,
    INVALID_CLOSE_VOLUME,
    INVALID_EXPIRATION,
    INVALID_FILL,
    INVALID_ORDER,
    INVALID_PRICE,
    INVALID_STOPS,
    INVALID_VOLUME,
    MARKET_CLOSED,
    NO_CHANGES,
    NO_MONEY,
    PENDING,
    POSITION_CLOSED,
    PRICE_OFF,
    REJECT,
    RETURN,
    SELL,
    SELL_LIMIT,
    SELL_STOP_LIMIT,
)
from mt5bridge.broker.fills import offered_lots, side_of
from mt5bridge.broker.find import order_row, position_in, position_row
from mt5bridge.broker.money import half_away, margin_of, on_grid, profit_of
from mt5bridge.broker.rates import has_rate
from mt5bridge.broker.sessions import is_open
from mt5bridge.broker.state import Record, State

_EPSILON = 1e-9


def check_open(state: State, request: Record) -> int:
    """Of a market or a pending order."""
    symbol = state.symbols[request["symbol"]]
    kind = request["type"]
    if request["action"] == DEAL:
        if kind < BUY or kind > SELL:
            return INVALID
    elif kind < BUY_LIMIT or kind > SELL_STOP_LIMIT:
        return INVALID
    if not is_open(state, request["symbol"]):
        return MARKET_CLOSED
    if not (symbol["bid"] > 0.0 and symbol["ask"] > 0.0 and has_rate(state, symbol)):
        return PRICE_OFF
    refusal = check_volume(symbol, request["lots"])
    if refusal == 0:
        refusal = check_filling(symbol, request)
    if refusal == 0:
        refusal = check_position(state, request)
    if refusal == 0:
        refusal = check_price(state, request, kind)
    if refusal == 0:
        refusal = check_expiration(state, request)
    return refusal if refusal != 0 else check_money(state, request)


def check_volume(symbol: Record, lots: float) -> int:
    most = symbol["volume_max"]
    if not (lots >= symbol["volume_min"] - _EPSILON and lots > 0.0):
        return INVALID_VOLUME
    if most > 0.0 and lots > most + _EPSILON:
        return INVALID_VOLUME
    if symbol["volume_step"] > 0.0:
        count = lots / symbol["volume_step"]
        if abs(count - half_away(count)) >= 1e-6:
            return INVALID_VOLUME
    return 0


def check_filling(symbol: Record, request: Record) -> int:
    """Pending orders may always rest; a market order that wants all or nothing needs all."""
    filling = filling_of(symbol, request)
    is_market = request["action"] == DEAL
    if filling < FOK or filling > RETURN:
        return INVALID_FILL
    is_allowed = (symbol["filling_modes"] >> filling) & 1 == 1
    if not is_allowed and (is_market or filling != RETURN):
        return INVALID_FILL
    if not is_market or filling != FOK:
        return 0
    return REJECT if request["lots"] > offered_lots(symbol, request["type"]) + _EPSILON else 0


def filling_of(symbol: Record, request: Record) -> int:
    """What a request says, else pending orders rest and others are as the symbol's."""
    if request["filling"] != AS_USUAL:
        return int(request["filling"])
    return RETURN if request["action"] == PENDING else int(symbol["filling"])


def check_position(state: State, request: Record) -> int:
    """Of the position that a market order takes from; on hedging accounts it may name one."""
    if request["action"] != DEAL:
        return 0
    if state.account[0]["hedging"] == 0:
        row = position_in(state, request["symbol"])
        takes = row >= 0 and state.positions[row]["side"] != side_of(request["type"])
        return FROZEN if takes and is_position_frozen(state, row) else 0
    if request["position"] == 0:
        return 0
    row = position_row(state, request["position"])
    if row < 0:
        return POSITION_CLOSED
    position = state.positions[row]
    if position["symbol"] != request["symbol"] or position["side"] == side_of(request["type"]):
        return INVALID
    if request["lots"] > position["lots"] + _EPSILON:
        return INVALID_CLOSE_VOLUME
    return FROZEN if is_position_frozen(state, row) else 0


def check_price(state: State, request: Record, kind: int) -> int:
    """The price of an order of this type, and its stop and target."""
    symbol = state.symbols[request["symbol"]]
    buys = side_of(kind) > 0
    price = request["price"]
    if request["action"] == DEAL:
        price = symbol["bid"] if buys else symbol["ask"]
        return check_stops(symbol, side_of(kind), price, request["sl"], request["tp"])
    market = symbol["ask"] if buys else symbol["bid"]
    is_below = (kind in (BUY_LIMIT, SELL_LIMIT)) == buys
    distance = market - price if is_below else price - market
    level = max(symbol["stops_level_points"] * symbol["point"], 1e-12)
    if not (price > 0.0 and distance >= level - symbol["point"] / 2.0) or not on_grid(
        symbol, price
    ):
        return INVALID_PRICE
    if kind in (BUY_STOP_LIMIT, SELL_STOP_LIMIT):
        limit = request["limit_price"]
        distance = (price - limit) * side_of(kind)
        least = max(level, symbol["point"]) - symbol["point"] / 2.0
        if not (limit > 0.0 and distance >= least) or not on_grid(symbol, limit):
            return INVALID_PRICE
        price = limit
    return check_stops(symbol, side_of(kind), price, request["sl"], request["tp"])


def check_stops(symbol: Record, side: int, price: float, sl: float, tp: float) -> int:
    """A long's stop is below the price and its target above, by the stops level at least."""
    least = symbol["stops_level_points"] * symbol["point"] - symbol["point"] / 2.0
    for level, away in ((sl, (price - sl) * side), (tp, (tp - price) * side)):
        if level != 0.0 and not (away > 0.0 and away >= least and on_grid(symbol, level)):
            return INVALID_STOPS
    return 0


def check_expiration(state: State, request: Record) -> int:
    if request["action"] == DEAL or request["expires_msc"] == 0:
        return 0
    return 0 if request["expires_msc"] > state.account[0]["time_msc"] else INVALID_EXPIRATION


def check_money(state: State, request: Record) -> int:
    """Whether the free margin is enough for what would be added."""
    account = state.account[0]
    if account["leverage"] <= 0.0:
        return 0
    lots = request["lots"]
    symbol = state.symbols[request["symbol"]]
    if account["hedging"] == 1 and request["position"] != 0:
        return 0
    row = position_in(state, request["symbol"])
    if account["hedging"] == 0 and row >= 0:
        position = state.positions[row]
        if position["side"] != side_of(request["type"]):
            lots -= min(lots, 2.0 * position["lots"])
    price = request["price"] if request["action"] == PENDING else symbol["ask"]
    free = equity(state) - margin(state)
    return 0 if margin_of(state, symbol, lots, price) <= free else NO_MONEY


def equity(state: State) -> float:
    """What the account would be worth, were all positions closed now."""
    return float(state.account[0]["balance"] + floating(state))


def floating(state: State) -> float:
    """What open positions would bring now."""
    account = state.account[0]
    total = 0.0
    for row in range(account["positions"]):
        position = state.positions[row]
        symbol = state.symbols[position["symbol"]]
        total += gain_of(state, symbol, position) + position["swap"]
    return total


def gain_of(state: State, symbol: Record, position: Record) -> float:
    """What a position would bring now, without swap; nothing where there is no price."""
    price = symbol["bid"] if position["side"] > 0 else symbol["ask"]
    if price <= 0.0:
        return 0.0
    return profit_of(state, symbol, position["side"], position["lots"], position["price"], price)


def margin(state: State) -> float:
    """What open positions block."""
    account = state.account[0]
    total = 0.0
    if account["leverage"] > 0.0:
        for row in range(account["positions"]):
            position = state.positions[row]
            symbol = state.symbols[position["symbol"]]
            total += margin_of(state, symbol, position["lots"], position["price"])
    return total


def _same(one: float, other: float) -> bool:
    return abs(one - other) < _EPSILON


def check_levels(state: State, request: Record, row: int) -> int:
    """Of a change of a position's stop and target."""
    if row < 0:
        return POSITION_CLOSED
    position = state.positions[row]
    if _same(position["sl"], request["sl"]) and _same(position["tp"], request["tp"]):
        return NO_CHANGES
    if not is_open(state, position["symbol"]):
        return MARKET_CLOSED
    if is_position_frozen(state, row):
        return FROZEN
    symbol = state.symbols[position["symbol"]]
    price = symbol["bid"] if position["side"] > 0 else symbol["ask"]
    return check_stops(symbol, position["side"], price, request["sl"], request["tp"])


def is_position_frozen(state: State, row: int) -> bool:
    """Whether the market is too near to stop or target for a position to be changed or closed."""
    position = state.positions[row]
    symbol = state.symbols[position["symbol"]]
    frozen = symbol["freeze_level_points"] * symbol["point"]
    if not frozen > 0.0:
        return False
    side = position["side"]
    price = symbol["bid"] if side > 0 else symbol["ask"]
    near_stop = position["sl"] != 0.0 and (price - position["sl"]) * side <= frozen + _EPSILON
    near_target = position["tp"] != 0.0 and (position["tp"] - price) * side <= frozen + _EPSILON
    return bool(near_stop or near_target)


def is_order_frozen(state: State, row: int) -> bool:
    """Whether the market is too near to a pending order for it to be changed or taken back."""
    order = state.orders[row]
    symbol = state.symbols[order["symbol"]]
    frozen = symbol["freeze_level_points"] * symbol["point"]
    buys = side_of(order["type"]) > 0
    market = symbol["ask"] if buys else symbol["bid"]
    is_below = (order["type"] in (BUY_LIMIT, SELL_LIMIT)) == buys
    distance = market - order["price"] if is_below else order["price"] - market
    is_free = order["works"] == 1 or frozen <= 0.0
    return bool(not is_free and market > 0.0 and distance <= frozen + _EPSILON)


def check_change(state: State, request: Record) -> int:
    """Of a change of a pending order; the request has the order's symbol."""
    row = order_row(state, request["order"])
    if row < 0 or state.orders[row]["works"] == 1:
        return INVALID_ORDER
    order = state.orders[row]
    is_same = _same(order["price"], request["price"]) and _same(order["sl"], request["sl"])
    if (
        is_same
        and _same(order["limit_price"], request["limit_price"])
        and _same(order["tp"], request["tp"])
        and order["expires_msc"] == request["expires_msc"]
    ):
        return NO_CHANGES
    if not is_open(state, order["symbol"]):
        return MARKET_CLOSED
    if is_order_frozen(state, row):
        return FROZEN
    refusal = check_price(state, request, order["type"])
    return refusal if refusal != 0 else check_expiration(state, request)
