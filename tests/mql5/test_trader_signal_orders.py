"""Signals that say prices: pending orders, stops and targets as prices or distances in prices."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from mt5bridge.wire import OrderKind, Side, SignalOrder, SignalStatus
from tests.mql5.trading import ASK, BID, IDENTITY, POINT, signal, trading

PLACED, EXECUTED, REJECTED = SignalStatus.PLACED, SignalStatus.EXECUTED, SignalStatus.REJECTED


_PRICES = ("price", "stop", "target", "stop_distance", "target_distance", "risk_percent")


def priced(
    side: Side, kind: OrderKind = OrderKind.MARKET, lots: float = 0.1, **more: float
) -> SignalOrder:
    """A signal that says these prices."""
    plain = signal(side, lots)
    prices = dict.fromkeys(_PRICES, 0.0)
    known = {one.name: getattr(plain, one.name) for one in fields(plain)}
    return SignalOrder(**known, kind=kind, **(prices | more))


def test_levels_and_distances_are_those_of_the_order(tmp_path: Path) -> None:
    """Distances in prices are points of the terminal's own symbol."""
    with trading(tmp_path) as floor:
        bought = priced(Side.BUY, stop=BID - 50 * POINT, target_distance=70 * POINT)
        assert floor.ask(bought).status is EXECUTED
        [deal] = floor.deals(bought.id)
        assert deal.sl == pytest.approx(BID - 50 * POINT)
        assert deal.tp == pytest.approx(ASK + 70 * POINT)
        sold = priced(Side.SELL, stop_distance=40 * POINT, target=BID - 90 * POINT)
        assert floor.ask(sold).status is EXECUTED
        [deal] = floor.deals(sold.id)
        assert deal.sl == pytest.approx(BID + 40 * POINT)
        assert deal.tp == pytest.approx(BID - 90 * POINT)
        wrong = floor.ask(priced(Side.BUY, stop=ASK + 10 * POINT))
        assert wrong.status is REJECTED and len(floor.trades()) == 2


def test_a_pending_order_measures_from_its_price_and_outlives_a_restart(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        price = BID - 300 * POINT
        limit = priced(Side.BUY, OrderKind.LIMIT, price=price, stop_distance=20 * POINT)
        floor.ask_until(limit, PLACED)
        [standing] = floor.broker().orders.values()
        assert standing.price_open == pytest.approx(price)
        assert standing.sl == pytest.approx(price - 20 * POINT)
        floor.restart()
        floor.server.send(IDENTITY, limit)
        floor.wait_status(limit.id, PLACED)
        assert len(floor.broker().orders) == 1


def test_a_distance_written_as_a_price_is_refused(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        for more in ({"stop": 0.0012}, {"stop_distance": BID}, {"target": 2 * ASK}):
            found = floor.ask(priced(Side.BUY, **more))
            assert found.status is REJECTED and "farther away than half the price" in found.text
        assert len(floor.trades()) == 0


def test_lots_by_risk_are_those_of_the_account(tmp_path: Path) -> None:
    """A thousandth of a million: a lot loses USD 50 at a stop 50 points away, each EUR 10/11."""
    with trading(tmp_path) as floor:
        risky = {"risk_percent": 0.1, "stop_distance": 50 * POINT}
        bought = priced(Side.BUY, lots=0.0, **risky)
        assert floor.ask(bought).status is EXECUTED
        assert floor.lots(bought.id) == 22.0
        capped = priced(Side.BUY, lots=0.3, **risky)
        assert floor.ask(capped).status is EXECUTED and floor.lots(capped.id) == 0.3
        small = priced(Side.BUY, lots=0.0, **(risky | {"risk_percent": 1e-6}))
        found = floor.ask(small)
        assert found.status is REJECTED and found.text.startswith("lots: ")
