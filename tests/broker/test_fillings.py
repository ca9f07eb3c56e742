"""Lots that a tick offers: what is dealt, what waits and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt5bridge.broker import REQUEST, Broker, Specification, Terms, codes
from tests.campaign import examples

DEPTH = 1.0


def request(action: int, kind: int, lots: float, **more: Any) -> Any:
    record = np.zeros(1, REQUEST)[0]
    for name, value in {"tag": 1, "action": action, "type": kind, "lots": lots, **more}.items():
        record[name] = value
    return record


def market(hedging: bool = False, depth: float = DEPTH, **more: Any) -> Broker:
    """One symbol at 100 / 101 whose ticks offer a lot on each side."""
    symbol = Specification(1.0, 1.0, 1.0, 0.01, 100.0, 0.01, depth_lots=depth, **more)
    broker = Broker(Terms(hedging, 1e6), [symbol])
    broker.tick(0, 1, 100.0, 101.0)
    return broker


def volumes(broker: Broker) -> list[float]:
    return [float(one) for one in broker.take_deals()["volume"]]


@pytest.mark.parametrize(
    ("filling", "lots", "retcode", "dealt", "later"),
    [
        (codes.FOK, 1.0, codes.DONE, [1.0], []),
        (codes.FOK, 1.01, codes.REJECT, [], []),
        (codes.IOC, 2.5, codes.DONE_PARTIAL, [1.0], []),
        (codes.IOC, 0.7, codes.DONE, [0.7], []),
        (codes.RETURN, 2.5, codes.PLACED, [1.0], [1.0, 0.5]),
        (codes.RETURN, 0.5, codes.DONE, [0.5], []),
        (9, 0.5, codes.INVALID_FILL, [], []),
    ],
)
def test_a_market_order_takes_what_its_filling_mode_says(
    filling: int, lots: float, retcode: int, dealt: list[float], later: list[float]
) -> None:
    """Fill or kill: all or nothing; immediate or cancel: a part; return: the rest works on."""
    broker = market()
    asked = request(codes.DEAL, codes.BUY, lots, filling=filling)
    assert broker.execute(asked)["retcode"] == retcode
    assert volumes(broker) == dealt
    for time_msc in range(2, 6):
        broker.tick(0, time_msc, 100.0, 101.0)
    assert volumes(broker) == later and not len(broker.orders)


def test_orders_at_one_tick_share_what_it_offers_each_side_its_own() -> None:
    broker = market(hedging=True)
    answers = [
        broker.execute(request(codes.DEAL, kind, 0.7, filling=codes.IOC))["retcode"]
        for kind in (codes.BUY, codes.SELL, codes.BUY, codes.BUY)
    ]
    assert answers == [codes.DONE, codes.DONE, codes.DONE_PARTIAL, codes.CANCELLED]
    assert volumes(broker) == [0.7, 0.7, 0.3]
    broker.tick(0, 2, 100.0, 101.0)
    assert broker.execute(request(codes.DEAL, codes.BUY, 1.0))["retcode"] == codes.DONE


def test_an_order_that_says_none_has_the_mode_of_its_symbol() -> None:
    only = {"filling": codes.IOC, "filling_modes": 1 << codes.IOC}
    assert market(**only).execute(request(codes.DEAL, codes.BUY, 2.0))["retcode"] == 10_010
    asked = request(codes.DEAL, codes.BUY, 0.5, filling=codes.FOK)
    assert market(**only).execute(asked)["retcode"] == codes.INVALID_FILL
    pending = request(codes.PENDING, codes.BUY_LIMIT, 3.0, price=90.0, filling=codes.RETURN)
    assert market(**only).execute(pending)["retcode"] == codes.DONE  # pending ones may always rest


@pytest.mark.parametrize(
    ("filling", "dealt"),
    [(codes.AS_USUAL, [1.0, 1.0, 0.5]), (codes.IOC, [1.0]), (codes.FOK, [])],
)
def test_a_stop_that_is_reached_is_an_order_at_the_market(filling: int, dealt: list[float]) -> None:
    """So what is left of it needs its price no more; a limit still does."""
    broker = market()
    pending = {"filling": filling, "price": 110.0}
    broker.execute(request(codes.PENDING, codes.BUY_STOP, 2.5, **pending))
    for time_msc, ask in enumerate((110.0, 105.0, 103.0, 103.0), 2):
        broker.tick(0, time_msc, ask - 1.0, ask)
    deals = broker.take_deals()
    assert deals["volume"].tolist() == dealt and not len(broker.orders)
    assert deals["price"].tolist() == [110.0, 105.0, 103.0][: len(dealt)]


def test_what_is_left_of_a_limit_waits_for_its_price() -> None:
    broker = market()
    broker.execute(request(codes.PENDING, codes.BUY_LIMIT, 2.5, price=90.0, expires_msc=6))
    for time_msc, ask in enumerate((90.0, 95.0, 89.0), 2):
        broker.tick(0, time_msc, ask - 1.0, ask)
    assert broker.take_deals()["price"].tolist() == [90.0, 89.0]
    (order,) = broker.orders
    assert (order["lots"], order["type"]) == (0.5, codes.BUY_LIMIT)
    broker.tick(0, 6, 80.0, 81.0)
    assert not len(broker.orders) and not volumes(broker)  # its time has passed


@pytest.mark.parametrize("hedging", [False, True])
def test_a_level_that_is_not_met_whole_is_met_again(hedging: bool) -> None:
    broker = market(hedging)
    asked = request(codes.DEAL, codes.BUY, 2.5, filling=codes.RETURN, sl=80.0)
    broker.execute(asked)
    broker.tick(0, 2, 100.0, 101.0)
    broker.tick(0, 3, 100.0, 101.0)
    assert sum(volumes(broker)) == 2.5
    for time_msc, bid in enumerate((80.0, 85.0, 79.0, 78.0, 60.0), 4):
        broker.tick(0, time_msc, bid, bid + 1.0)
    deals = broker.take_deals()
    assert deals["volume"].tolist() == [1.0, 1.0, 0.5]
    assert deals["price"].tolist() == [80.0, 79.0, 78.0] and not len(broker.positions)


@pytest.mark.parametrize("hedging", [False, True])
@pytest.mark.parametrize(
    ("filling", "retcode", "left"),
    [(codes.FOK, codes.REJECT, 1.5), (codes.IOC, 10_010, 0.5), (codes.RETURN, 10_010, 0.5)],
)
def test_closing_leaves_no_order_behind(
    hedging: bool, filling: int, retcode: int, left: float
) -> None:
    """Not even with RETURN: the answer says what is left to close."""
    broker = market(hedging)
    broker.execute(request(codes.DEAL, codes.BUY, 2.0, filling=codes.RETURN))
    broker.tick(0, 2, 100.0, 101.0)
    assert sum(volumes(broker)) == 2.0 and not len(broker.orders)
    answer = broker.execute(request(codes.CLOSE, codes.BUY, 1.5, filling=filling))
    assert (answer["retcode"], answer["left"]) == (retcode, left) and not len(broker.orders)
    assert sum(volumes(broker)) == 1.5 - left
    again = broker.execute(request(codes.CLOSE, codes.BUY, 0.5, filling=codes.IOC))
    assert again["retcode"] == (codes.DONE if filling == codes.FOK else codes.CANCELLED)


def test_a_stop_out_goes_on_with_what_is_offered() -> None:
    """Where nobody offers lots it waits, and does not turn in circles."""
    symbols = [Specification(1.0, 1.0, depth_lots=1.0), Specification(1.0, 1.0)]
    broker = Broker(Terms(True, 100.0, 10.0, stop_out_percent=50.0), symbols)
    for row in range(2):
        broker.tick(row, 1, 100.0, 100.0)
    broker.execute(request(codes.DEAL, codes.BUY, 3.0, filling=codes.RETURN))
    broker.execute(request(codes.DEAL, codes.BUY, 0.1, symbol=1))
    for time_msc in (2, 3):
        broker.tick(0, time_msc, 100.0, 100.0)
    broker.take_deals()
    broker.tick(0, 4, 70.0, 70.0)
    found = broker.take_deals()
    assert found["reason"].tolist() == [codes.BY_STOP_OUT] * 2
    assert found["volume"].tolist() == [1.0, 0.1]
    broker.tick(0, 5, 60.0, 60.0)
    assert volumes(broker) == [1.0]


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_no_tick_deals_more_than_it_offers_and_nothing_is_lost(seed: int, hedging: bool) -> None:
    """What was asked for was dealt, waits, or was given up as the answers say."""
    random = np.random.default_rng(seed)
    broker = market(hedging, depth=0.5)
    asked: dict[int, float] = {}
    dealt: dict[int, float] = {}
    at_tick = np.zeros(2)
    for step in range(60):
        if random.random() < 0.5:
            bid = 100.0 + float(random.integers(-3, 4))
            broker.tick(0, 10 + step, bid, bid + 1.0)
            at_tick[:] = 0.0
        else:
            kind, filling = int(random.integers(2)), int(random.integers(1, 4))
            lots = round(0.1 * int(random.integers(1, 16)), 2)
            answer = broker.execute(request(codes.DEAL, kind, lots, filling=filling))
            if answer["retcode"] in codes.WORKED:
                asked[int(answer["order"])] = lots
        for deal in broker.take_deals():
            order, lots = int(deal["order"]), float(deal["volume"])
            at_tick[deal["type"]] += lots
            dealt[order] = dealt.get(order, 0.0) + lots
            assert dealt[order] <= asked.get(order, lots) + 1e-9
        assert (at_tick <= 0.5 + 1e-9).all()
    waits = {int(one["ticket"]): float(one["lots"]) for one in broker.orders}
    for order, lots in waits.items():
        assert asked[order] == pytest.approx(lots + dealt.get(order, 0.0))
