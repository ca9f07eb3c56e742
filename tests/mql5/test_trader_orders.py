"""The trader EA executes signals and orders on netting and hedging accounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.mql5.trading import (
    ASK,
    BID,
    IDENTITY,
    POINT,
    SYMBOL,
    Floor,
    order,
    signal,
    trading,
)

BUY, SELL = OrderSide.BUY, OrderSide.SELL
EXECUTED, REJECTED = SignalStatus.EXECUTED, SignalStatus.REJECTED


def _check_told(floor: Floor, number: int) -> None:
    """What was told of each fill is what the broker did."""
    told = {r.deal: (r.lots, r.price, r.order) for r in floor.results(number) if r.deal}
    done = {deal.ticket: (deal.volume, deal.price, deal.order) for deal in floor.deals(number)}
    assert told == done


def test_netting(tmp_path: Path) -> None:
    with trading(tmp_path, mode="netting") as floor:
        bought = signal(Side.BUY, 0.3)
        assert floor.ask(bought).status is EXECUTED
        sold = signal(Side.SELL, 0.1)
        assert floor.ask(sold).status is EXECUTED
        other = signal(Side.BUY, 0.5, magic=8)
        assert floor.ask(other).status is EXECUTED
        closed = signal(Side.CLOSE)
        assert floor.ask(closed).status is EXECUTED
        # Strategies share a netting position: only what magic 7 holds of it is closed.
        assert floor.lots(closed.id) == pytest.approx(0.2)
        again = signal(Side.CLOSE)
        assert "no position" in floor.ask(again).text
        reversed_ = signal(Side.SELL, 0.9, magic=8)
        assert floor.ask(reversed_).status is EXECUTED
        rest = order(OrderKind.CLOSE, magic=8)
        assert floor.ask(rest).status is EXECUTED
        assert floor.lots(rest.id) == pytest.approx(0.4)
        for request in (bought, sold, other, closed, reversed_, rest):
            _check_told(floor, request.id)
        deals = floor.trades()
        net = sum(deal.volume if deal.type == 0 else -deal.volume for deal in deals)
        assert net == pytest.approx(0)
        assert deals[0].comment == f"{bought.id:016x} test"
        assert [deal.magic for deal in deals] == [7, 7, 8, 7, 8, 8]


def test_hedging(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        opened = [floor.ask(signal(side, 0.2)) for side in (Side.BUY, Side.BUY, Side.SELL)]
        other = floor.ask(signal(Side.BUY, 0.4, magic=8))
        part = order(OrderKind.CLOSE, ticket=opened[0].order, lots=0.05, symbol="")
        assert floor.ask(part).status is EXECUTED
        assert floor.lots(part.id) == pytest.approx(0.05)
        closed = signal(Side.CLOSE)
        final = floor.ask(closed)
        assert final.status is EXECUTED
        statuses = [result.status for result in floor.results(closed.id) if result.deal]
        assert statuses == [SignalStatus.PARTIAL, SignalStatus.PARTIAL, EXECUTED]
        assert floor.lots(closed.id) == pytest.approx(0.55)
        _check_told(floor, closed.id)
        positions = [deal.position_id for deal in floor.deals(closed.id)]
        assert sorted(positions) == sorted(result.order for result in opened)
        assert floor.ask(order(OrderKind.CLOSE, ticket=other.order)).status is EXECUTED
        gone = floor.ask(order(OrderKind.CLOSE, ticket=other.order))
        assert gone.status is REJECTED and str(other.order) in gone.text


def test_stops(tmp_path: Path) -> None:
    with trading(tmp_path, symbol="stops_level=20") as floor:
        bought = floor.ask(signal(Side.BUY, 0.1, stop_points=100, target_points=200))
        [deal] = floor.deals(bought.id)
        assert deal.sl == pytest.approx(ASK - 100 * POINT)
        assert deal.tp == pytest.approx(ASK + 200 * POINT)
        near = floor.ask(signal(Side.SELL, 0.1, stop_points=15))
        assert near.status is REJECTED and "20 points (the stops level" in near.text
        moved = order(OrderKind.MODIFY, ticket=bought.order, sl=1.0991)
        assert floor.ask(moved).status is EXECUTED
        wrong = floor.ask(order(OrderKind.MODIFY, ticket=bought.order, sl=BID))
        assert wrong.status is REJECTED
        nobody = floor.ask(order(OrderKind.MODIFY, ticket=1, sl=1.0))
        assert nobody.status is REJECTED and "no position" in nobody.text


def test_volumes_and_refusals(tmp_path: Path) -> None:
    inputs = {"DefaultLots": "0.07"}
    with trading(tmp_path, symbol="volume_max=1", inputs=inputs) as floor:
        floor.ask(rounded := signal(Side.BUY, 0.129))
        assert floor.lots(rounded.id) == pytest.approx(0.12)
        floor.ask(default := signal(Side.BUY))
        assert floor.lots(default.id) == pytest.approx(0.07)
        small = floor.ask(signal(Side.BUY, 0.004))
        assert small.status is REJECTED and "the least of EURUSD is 0.01" in small.text
        large = floor.ask(signal(Side.BUY, 1.5))
        assert large.status is REJECTED and "the most of EURUSD is 1" in large.text
        poor = floor.ask(order(OrderKind.MARKET, BUY, 0.5, symbol="GBPUSD"))
        assert poor.status is REJECTED and "symbol: GBPUSD" in poor.text


def test_broker_refuses(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker reject=10019:1:1") as floor:
        refused = floor.ask(signal(Side.BUY, 0.1))
        assert (refused.status, refused.retcode) == (REJECTED, 10019)
        assert "not enough money" in refused.text
        assert floor.ask(signal(Side.BUY, 0.1)).status is EXECUTED


def test_large_close_takes_several_orders(tmp_path: Path) -> None:
    with trading(tmp_path, mode="netting", symbol="volume_max=1") as floor:
        for _ in range(3):
            floor.ask(signal(Side.BUY, 0.8))
        closed = order(OrderKind.CLOSE, symbol=SYMBOL)
        assert floor.ask(closed).status is EXECUTED
        parts = sorted(deal.volume for deal in floor.deals(closed.id))
        assert parts == pytest.approx([0.4, 1.0, 1.0])


@pytest.mark.parametrize("mode", ["netting", "hedging"])
def test_close_waits_for_orders_on_their_way(tmp_path: Path, mode: str) -> None:
    broker = "broker latency_ms=50..80 fills=2..2 fill_delay_ms=30..40 history_delay_ms=5..10"
    with trading(tmp_path, mode=mode, broker=broker) as floor:
        requests = [
            signal(Side.BUY, 0.2),
            signal(Side.BUY, 0.3),
            signal(Side.CLOSE),
            signal(Side.CLOSE),
            signal(Side.SELL, 0.1),
        ]
        for request in requests:
            floor.server.send(IDENTITY, request)
        finals = [floor.final(request.id) for request in requests]
        statuses = [final.status for final in finals]
        assert statuses == [EXECUTED, EXECUTED, EXECUTED, REJECTED, EXECUTED]
        assert floor.lots(requests[2].id) == pytest.approx(0.5)
        assert "no position" in finals[3].text
