"""What signals' rows ask for: prices and distances, pending orders, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.account.market import Market
from cep.account.orders import FAR, Order, UnusableError, order_of
from cep.backtest.orders import as_requests, orders
from cep.backtest.trading import Trading
from cep.plan import compile_rules
from cep.plan.nodes import says_of
from mt5bridge.broker import Specification, Terms, codes
from tests.backtest.test_trading import as_ticks, ticks_of

PLAIN = {
    "stream": "Go", "time_msc": 5, "side": "buy", "symbol": "X", "lots": None,
    "stop_points": None, "target_points": None, "valid_ms": 1_000,
}  # fmt: skip
PENDING = {"order": "limit", "price": 2.0}
COMPUTED = ["price", "stop", "target", "stop_distance", "target_distance", "risk_percent"]


def order(**more: Any) -> Order:
    return order_of({**PLAIN, **more}, 60_000, 7)


def reason(**more: Any) -> str:
    with pytest.raises(UnusableError) as found:
        order(**more)
    return found.value.reason


def test_a_row_says_no_more_than_it_did() -> None:
    found = order(lots=0.3, stop_points=20)
    assert found == Order(7, 5, "Go", "X", "buy", 0.3, 20.0, None, 1_005) and found.is_plain


def test_prices_distances_and_a_pending_order() -> None:
    found = order(**PENDING, stop=1.9, target_distance=0.3)
    assert (found.kind, found.price, found.stop, found.target_distance) == ("limit", 2, 1.9, 0.3)
    assert not found.is_plain and not order(stop=1.0).is_plain


@pytest.mark.parametrize("name", [*COMPUTED, "lots", "stop_points", "target_points"])
@given(value=st.one_of(st.floats(max_value=0.0), st.sampled_from([math.nan, math.inf]), st.none()))
def test_a_number_that_is_no_size_makes_the_signal_unusable(name: str, value: float | None) -> None:
    """It is not sent half done: an order without the stop that was meant is worse than none."""
    if value is None and name not in COMPUTED:
        assert order(**{name: None}).is_plain  # the rule does not ask for it
        return
    is_number = value is not None and math.isfinite(value)
    why = "is not above 0" if is_number else "could not be computed"
    assert reason(**{**PENDING, name: value}) == f"{name.replace('_', ' ')} {why}"


@pytest.mark.parametrize("name", ["lots", "stop_points", "target_points", "valid_ms"])
def test_null_is_not_said_unless_the_rule_asks_for_it(name: str) -> None:
    """An order of lots or a stop that could not be computed is not one without them."""
    row = {**PLAIN, name: None}
    assert order_of(row, 60_000, says=("side",)).is_plain
    with pytest.raises(UnusableError, match="could not be computed"):
        order_of(row, 60_000, says=("side", name))


def test_a_plan_tells_what_its_signals_ask_for() -> None:
    plan = compile_rules(
        """@app:name('x') define stream Tick (symbol string, bid double, n long);
        define signal A on Tick[n > 1] buy bid lots stop n points for n;
        define signal B on Tick sell 'X' risk 1 percent at limit bid stop by bid target at bid;"""
    )
    always = {"complex", "key", "side", "symbol"}
    assert set(says_of(plan)["A"]) - always == {"lots", "stop_points", "valid_ms"}
    asked = {"risk_percent", "order", "price", "stop_distance", "target"}
    assert set(says_of(plan)["B"]) - always == asked


def test_what_makes_no_order() -> None:
    assert reason(risk_percent=1.0) == "risk without a stop"
    assert reason(risk_percent=101.0, stop=1.0) == "risk is above 100 percent"
    for side in ("modify", "cancel"):
        assert reason(side=side, lots=0.1) == f"a {side} with lots or a price"
        assert reason(side=side, **PENDING) == f"a {side} with lots or a price"
    assert reason(side="modify") == "a modify without stop or target"
    assert reason(side="cancel", target=1.0) == "a cancel with stop or target"
    assert reason(side="modify", stop=None) == "stop could not be computed"
    assert reason(valid_ms=-1) == "time is below 0"
    assert reason(symbol=None) == "no symbol"
    assert reason(order="limit") == "a limit order without a price"
    assert reason(side="hold") == "side hold cannot be traded"


@pytest.mark.parametrize("name", ["stop", "target"])
def test_a_distance_written_as_a_price_is_refused(name: str) -> None:
    assert reason(**PENDING, **{name: 0.0012}) == f"{name} {FAR}"
    assert reason(**PENDING, **{f"{name}_distance": 1.9}) == f"{name} {FAR}"
    assert order(**PENDING, **{name: 1.0}).price == 2.0  # half of it is not farther


def test_reasons_are_counted() -> None:
    rows = [PLAIN, {**PLAIN, "stop": None}, {**PLAIN, "stop": math.nan}, {**PLAIN, "symbol": ""}]
    found, unusable = orders(list(enumerate(rows)), 60_000)
    assert [one.order for one in found] == [0]
    assert unusable == {"stop could not be computed": 2, "no symbol": 1}


def test_a_distance_is_measured_in_points_of_the_symbol() -> None:
    [request] = as_requests([order(stop_distance=0.5, target=3.0)], {"X": 0}, {"X": 0.25})
    assert (request["stop_points"], request["tp"], request["sl"]) == (2.0, 3.0, 0.0)


@pytest.mark.parametrize(
    ("side", "kind", "type_"),
    [
        ("buy", "limit", codes.BUY_LIMIT),
        ("sell", "limit", codes.SELL_LIMIT),
        ("buy", "stop", codes.BUY_STOP),
        ("sell", "stop", codes.SELL_STOP),
    ],
)
def test_a_pending_order_stands_as_long_as_its_signal(side: str, kind: str, type_: int) -> None:
    asked = order(side=side, order=kind, price=2.0)
    [request] = as_requests([asked], {"X": 0}, {"X": 0.01})
    assert (request["action"], request["type"]) == (codes.PENDING, type_)
    assert request["expires_msc"] == asked.valid_until_msc == 1_005


sizes = st.sampled_from([0.0, 0.5, 2.0])
anything = st.builds(
    Order, st.integers(0, 99), st.integers(0, 99), st.just("Go"), st.sampled_from("XY"),
    st.sampled_from(["buy", "sell", "close", "modify", "cancel"]), sizes, st.none() | sizes,
    st.none() | sizes, st.integers(0, 99), st.sampled_from(["", "limit", "stop"]),
    *[sizes] * len(COMPUTED),
)  # fmt: skip


def plainly(asked: Order, tag: int, rows: dict[str, int], market: Market) -> dict[str, float]:
    """The fields of a request, each for itself; those that are not there are 0."""
    found = {
        "tag": tag, "magic": market.magic, "symbol": rows[asked.symbol], "after": asked.order,
        "earliest_msc": asked.time_msc + market.latency_ms, "lots": asked.lots_wanted,
        "valid_until_msc": asked.valid_until_msc, "action": codes.DEAL,
    }  # fmt: skip
    others = {"close": codes.CLOSE, "modify": codes.CHANGE_HELD, "cancel": codes.CANCEL_HELD}
    found["action"] = others.get(asked.side, codes.DEAL)
    if asked.opens:
        kind = f"{asked.side}_{asked.kind}" if asked.kind else asked.side
        found["type"] = getattr(codes, kind.upper())
        found["price"], found["risk_percent"] = asked.price, asked.risk_percent
    if asked.opens and asked.kind:
        found["action"], found["expires_msc"] = codes.PENDING, asked.valid_until_msc
    if asked.opens or asked.side == "modify":
        found["sl"], found["tp"] = asked.stop, asked.target
        for name in ("stop", "target"):
            found[f"{name}_points"] = asked.points(name, 0.25)
        is_more = any(getattr(asked, name) for name in COMPUTED)
        found["is_priced"] = asked.changes or bool(asked.kind) or is_more
    return found


@given(st.lists(anything, max_size=5), st.integers(1, 9))
def test_requests_are_what_orders_say(given_: list[Order], first_tag: int) -> None:
    market, rows = Market(Terms(), latency_ms=20, magic=77), {"X": 3, "Y": 1}
    found = as_requests(given_, rows, {"X": 0.25, "Y": 0.25}, market, first_tag)
    assert len(found) == len(given_)
    for tag, (asked, row) in enumerate(zip(given_, found, strict=True), first_tag):
        expected = plainly(asked, tag, rows, market)
        assert {name: row[name] for name in found.dtype.names} == {
            name: expected.get(name, 0) for name in found.dtype.names
        }


def traded(*rows: dict[str, Any], balance: float = 0.0, **symbol: float) -> Trading:
    found, _ = orders([(10 * n, {**PLAIN, **row}) for n, row in enumerate(rows, 1)], 60_000)
    trading = Trading(found, {"X": Specification(0.01, **symbol)}, Market(Terms(balance=balance)))
    trading.push(as_ticks(ticks_of((2, 2), (2, 2), (1.5, 1.5), (1.75, 1.75), (2, 2))))
    return trading


def test_a_limit_fills_when_it_is_reached() -> None:
    found = traded({**PENDING, "price": 1.6, "stop_distance": 0.3, "target": 1.75})
    [trade] = found.trades
    assert (trade.open_price, trade.close_price, trade.reason) == (1.5, 1.75, "target")


def test_a_close_with_lots_closes_so_much() -> None:
    found = traded({"lots": 0.3}, {"side": "close", "lots": 0.1}, {"side": "close"})
    assert [(one.lots, one.reason) for one in found.trades] == [(0.1, "close"), (0.2, "close")]


@pytest.mark.parametrize("more", [{"stop": 0.5}, {"stop_distance": 1.5}, {"target": 3.5}])
def test_a_market_order_is_refused_for_a_level_too_far_away(more: dict[str, float]) -> None:
    assert traded(more).refused == {FAR_TEXT: 1}
    assert not traded({name: 1.8 if name == "stop" else 2.2 for name in more}).refused or (
        "stop_distance" in more
    )


def test_a_modify_changes_the_levels_of_what_is_held() -> None:
    """Sold at 2.00; the modify comes at 1.50, then 1.75."""
    sold, near = {"side": "sell"}, {"side": "modify", "stop_distance": 0.25}
    [trade] = traded(sold, near).trades
    assert (trade.close_price, trade.reason) == (1.75, "stop")
    [trade] = traded({}, {"side": "modify", "target": 1.75}).trades
    assert (trade.close_price, trade.reason) == (1.75, "target")
    assert traded(sold, near, {"side": "modify", "stop": 1.9}).trades[0].reason == "stop"  # late
    assert traded(near).refused == {"no such position (10036)": 1}
    assert traded({}, {"side": "modify", "stop": 0.4}).refused == {FAR_TEXT: 1}


def test_a_cancel_takes_back_what_is_pending() -> None:
    found = traded({**PENDING, "price": 1.4}, {"side": "cancel"}, {"side": "cancel"})
    assert found.refused == {"taken back": 1, "no such order (10035)": 1}
    assert found.take_ended() == [3, 1] and not found.trades and found.is_done


FAR_TEXT = codes.TEXTS[codes.TOO_FAR]
RISK = {"risk_percent": 2.0, "stop_distance": 0.5}


def test_lots_by_risk_lose_so_much_at_the_stop() -> None:
    """2 % of 1,000 are 20; a lot of 10 units loses 5 at a stop 0.5 away."""
    found = traded(RISK, balance=1_000.0, contract_size=10.0)
    assert found.deals["volume"].tolist()[0] == 4.0
    assert found.trades[0].reason == "stop" and found.trades[0].profit == pytest.approx(-20)


@pytest.mark.parametrize(
    ("symbol", "lots"),
    [({"volume_step": 0.3}, 3.9), ({"volume_max": 1.5}, 1.5), ({"volume_min": 4.0}, 4.0)],
)
def test_lots_by_risk_are_rounded_down_and_limited(symbol: dict[str, float], lots: float) -> None:
    found = traded(RISK, balance=1_000.0, contract_size=10.0, **symbol)
    assert found.deals["volume"].tolist()[0] == lots


def test_less_than_the_least_is_not_opened() -> None:
    found = traded(RISK, balance=1_000.0, contract_size=10.0, volume_min=4.1)
    assert found.refused == {"invalid volume (10014)": 1} and not len(found.deals)


def test_lots_by_risk_are_no_more_than_a_limit_allows() -> None:
    found = order_of({**PLAIN, **RISK}, 60_000, lots_most=0.3)
    assert (found.lots, found.lots_wanted) == (0.3, 0.3)
    assert order_of({**PLAIN, "lots": 2.0}, 60_000, lots_most=0.3).lots == 2.0  # the guard judges


@given(
    st.floats(1.0, 1e6), st.floats(0.01, 100.0), st.integers(1, 100), st.sampled_from([1, 100]),
    st.booleans(),
)  # fmt: skip
def test_any_lots_by_risk(
    balance: float, percent: float, points: int, size: int, is_sold: bool
) -> None:
    """The slow way: the most steps of 0.01 lots whose loss is no more than the share."""
    row = {"risk_percent": percent, "stop_points": points, "side": "sell" if is_sold else "buy"}
    found = traded(row, balance=balance, contract_size=float(size), volume_step=0.01)
    budget = Fraction(balance) * Fraction(percent) / 100
    most = budget / (Fraction(points, 100) * size)
    dealt = Fraction(round(100 * float(found.deals["volume"][0])), 100) if len(found.deals) else 0
    assert most - dealt + Fraction(1, 10**7) >= 0 and most - dealt < Fraction(10_002, 10**6)


def test_what_was_not_reached_is_told() -> None:
    found = traded({**PENDING, "price": 1.0}, {**PENDING, "price": 1.1, "valid_ms": 40})
    assert found.refused == {"not reached yet": 1, "not reached in time": 1}
    assert found.take_ended() == [2] and not found.take_ended()
