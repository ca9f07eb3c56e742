"""What signals' rows ask for: prices and distances, pending orders, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.account.orders import FAR, Order, UnusableError, order_of
from cep.backtest.orders import as_requests, orders
from cep.backtest.trading import Trading
from mt5bridge.broker import Specification, codes
from tests.backtest.test_trading import as_ticks, ticks_of

PLAIN = {
    "stream": "Go", "time_msc": 5, "side": "buy", "symbol": "X", "lots": None,
    "stop_points": None, "target_points": None, "valid_ms": 1_000,
}  # fmt: skip
PENDING = {"order": "limit", "price": 2.0}
COMPUTED = ["price", "stop", "target", "stop_distance", "target_distance"]


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


def test_what_makes_no_order() -> None:
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


def traded(*rows: dict[str, Any]) -> Trading:
    found, _ = orders([(10 * n, {**PLAIN, **row}) for n, row in enumerate(rows, 1)], 60_000)
    trading = Trading(found, {"X": Specification(0.01)})
    trading.push(as_ticks(ticks_of((2, 2), (2, 2), (1.5, 1.5), (1.75, 1.75), (2, 2))))
    return trading


def test_a_limit_fills_when_it_is_reached() -> None:
    found = traded({**PENDING, "price": 1.6, "stop_distance": 0.3, "target": 1.75})
    [trade] = found.trades
    assert (trade.open_price, trade.close_price, trade.reason) == (1.5, 1.75, "target")


def test_a_close_with_lots_closes_so_much() -> None:
    found = traded({"lots": 0.3}, {"side": "close", "lots": 0.1}, {"side": "close"})
    assert [(one.lots, one.reason) for one in found.trades] == [(0.1, "close"), (0.2, "close")]


def test_what_was_not_reached_is_told() -> None:
    found = traded({**PENDING, "price": 1.0}, {**PENDING, "price": 1.1, "valid_ms": 40})
    assert found.refused == {"not reached yet": 1, "not reached in time": 1}
    assert found.take_ended() == [2] and not found.take_ended()
