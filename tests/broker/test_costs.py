"""Commission and swap against a ledger that looks at every tick; stop-limit orders, stop-out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt5bridge.broker import REQUEST, Broker, Specification, Terms, codes
from mt5bridge.broker.nights import nights
from mt5bridge.broker.rates import DIRECT
from tests.broker.ledger import Ledger
from tests.campaign import examples

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
THURSDAY_MSC = 20_000 * 7 * DAY_MS
CONTRACTS = (100_000.0, 100.0)
POINTS = (1e-5, 0.01)
MIDDLES = (110_000, 190_000)


def request(action: int, kind: int, lots: float, **more: Any) -> Any:
    record = np.zeros(1, REQUEST)[0]
    named = {"tag": 1, "action": action, "type": kind, "lots": lots, **more}
    for name, value in named.items():
        record[name] = value
    return record


def specifications(draw: Any) -> list[Specification]:
    rates = st.sampled_from([-7.3, -0.4, 0.0, 1.9])
    return [
        Specification(
            point, point, contract, 0.01, 100.0, 0.01,
            commission_per_lot=draw(st.sampled_from([0.0, 3.5])),
            commission_per_mille=draw(st.sampled_from([0.0, 0.025])),
            commission_side=draw(st.integers(codes.EACH_SIDE, codes.EXIT_SIDE)),
            swap_mode=draw(st.integers(codes.NO_SWAP, codes.SWAP_PERCENT)),
            swap_long=draw(rates), swap_short=draw(rates),
            swap_triple_day=draw(st.integers(0, 6)),
        )
        for point, contract in zip(POINTS, CONTRACTS, strict=True)
    ]  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_costs_are_those_of_a_ledger_that_sees_every_tick(data: st.DataObject) -> None:
    terms = Terms(
        data.draw(st.booleans()), 10_000.0, money_digits=2,
        fills=data.draw(st.sampled_from([(1.0,), (0.6, 0.4)])),
        server_ahead_ms=data.draw(st.sampled_from([0, 2 * HOUR_MS, -5 * HOUR_MS])),
    )  # fmt: skip
    symbols = specifications(data.draw)
    broker, ledger = Broker(terms, symbols), Ledger(terms, symbols, terms.balance)
    if data.draw(st.booleans()):  # profits of the second are in the first one's currency
        broker.convert(1, [(0, DIRECT)])
        ledger.direct[1] = 0
    random = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    time_msc = THURSDAY_MSC
    for _ in range(60):
        symbol = int(random.integers(2))
        time_msc += int(random.choice([60_000, HOUR_MS, 9 * HOUR_MS, 3 * DAY_MS]))
        bid = (MIDDLES[symbol] + int(random.integers(-50, 50))) * POINTS[symbol]
        ask = bid + int(random.integers(0, 5)) * POINTS[symbol]
        broker.tick(symbol, time_msc, bid, ask)
        ledger.tick(symbol, time_msc, bid, ask)
        if random.random() < 0.6:
            lots, kind = float(random.choice([0.1, 0.3, 1.0])), int(random.integers(2))
            levels = {"stop_points": 30.0} if random.random() < 0.5 else {}
            broker.execute(request(codes.DEAL, kind, lots, symbol=symbol, **levels))
        elif random.random() < 0.3:
            broker.execute(request(codes.CLOSE, codes.BUY, 0.0, symbol=symbol))
        for deal in broker.take_deals():
            found = deal["commission"], deal["swap"]
            assert found == pytest.approx(ledger.deal(deal), abs=1e-9)
    assert broker.balance == ledger.balance
    held = {int(one["identifier"]): float(one["swap"]) for one in broker.positions}
    assert held == {key: one.swap for key, one in ledger.positions.items()}


def test_a_week_has_seven_nights() -> None:
    """A night counts three times once a week, and not at weekends."""
    assert [nights(day, codes.WEDNESDAY) for day in range(7)] == [1, 1, 0, 0, 1, 1, 3]
    for first in range(3):
        assert sum(nights(first + day, codes.WEDNESDAY) for day in range(7)) == 7


def test_commission_is_charged_on_the_side_that_is_said() -> None:
    """`commission_side`: all lots, those that open or those that close; a reversal does both."""
    charged = {}
    for side in (codes.EACH_SIDE, codes.ENTRY_SIDE, codes.EXIT_SIDE):
        symbol = Specification(1e-5, commission_per_lot=10.0, commission_side=side)
        broker = Broker(Terms(), [symbol])
        broker.tick(0, 1_000, 1.1, 1.1)
        broker.execute(request(codes.DEAL, codes.BUY, 1.0))
        broker.execute(request(codes.DEAL, codes.SELL, 3.0))
        charged[side] = [deal["commission"] for deal in broker.take_deals()]
    assert charged == {0: [-10.0, -30.0], 1: [-10.0, -20.0], 2: [0.0, -10.0]}


def test_the_greatest_loss_goes_first_when_the_margin_is_short() -> None:
    """Positions are closed while equity is less than `stop_out_percent` of the margin."""
    symbols = [Specification(0.01), Specification(0.01)]
    broker = Broker(Terms(True, 100.0, 1.0, stop_out_percent=50.0), symbols)
    for row in range(2):
        broker.tick(row, 1_000, 10.0, 10.0)
        assert broker.execute(request(codes.DEAL, codes.BUY, 4.0, symbol=row))["retcode"] == 10_009
    broker.tick(0, 2_000, 5.0, 5.0)
    assert broker.equity == 80.0 and not len(broker.take_deals()[2:])
    broker.tick(1, 3_000, 0.01, 0.01)
    assert broker.equity == pytest.approx(40.04) and not len(broker.take_deals())
    broker.tick(0, 4_000, 4.98, 4.98)
    (closed,) = broker.take_deals()
    assert (closed["reason"], closed["symbol"], closed["price"]) == (codes.BY_STOP_OUT, 1, 0.01)
    assert [position["symbol"] for position in broker.positions] == [0]


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 20), st.integers(1, 20))
def test_a_stop_limit_order_is_a_limit_order_once_its_stop_is_reached(
    seed: int, buys: bool, away: int, back: int
) -> None:
    """As if somebody had waited for the stop's price and placed the limit order then."""
    random = np.random.default_rng(seed)
    side = 1 if buys else -1
    kinds = (codes.BUY_STOP_LIMIT, codes.BUY_LIMIT) if buys else (
        codes.SELL_STOP_LIMIT, codes.SELL_LIMIT
    )  # fmt: skip
    bids = 1_000 + np.cumsum(random.integers(-4, 5, 200))
    asks = bids + random.integers(0, 3, 200)
    stop = int((asks if buys else bids)[0]) + side * away
    limit = stop - side * back
    given_, watched = (Broker(Terms(), [Specification(1.0, 1.0)]) for _ in range(2))
    is_placed = False
    for at, (bid, ask) in enumerate(zip(bids.tolist(), asks.tolist(), strict=True)):
        for broker in (given_, watched):
            broker.tick(0, at + 1, bid, ask)
        if at == 0:
            asked = request(codes.PENDING, kinds[0], 1.0, price=stop, limit_price=limit)
            assert given_.execute(asked)["retcode"] == codes.DONE
        elif not is_placed and (ask >= stop if buys else bid <= stop):
            is_placed = True
            watched.execute(request(codes.PENDING, kinds[1], 1.0, price=limit))
    for one, other in zip(given_.take_deals(), watched.take_deals(), strict=True):
        assert (one["time_msc"], one["price"]) == (other["time_msc"], other["price"])
    assert len(given_.positions) == len(watched.positions)


@pytest.mark.parametrize(
    ("limit", "retcode"), [(0.0, codes.INVALID_PRICE), (112.0, codes.INVALID_PRICE),
                           (110.0, codes.INVALID_PRICE), (109.0, codes.DONE)],
)  # fmt: skip
def test_the_limit_of_a_stop_limit_order_lies_before_its_stop(limit: float, retcode: int) -> None:
    broker = Broker(Terms(), [Specification(1.0, 1.0)])
    broker.tick(0, 1, 100.0, 101.0)
    asked = request(codes.PENDING, codes.BUY_STOP_LIMIT, 1.0, price=110.0, limit_price=limit)
    assert broker.execute(asked)["retcode"] == retcode
