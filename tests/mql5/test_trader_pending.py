"""Pending orders: placed, filled, changed, cancelled, expired; and requests that come too late."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.clock import now
from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.mql5.trading import ASK, BID, IDENTITY, order, signal, still, trading
from tests.waiting import LONG_MS, LONG_S

BUY, SELL = OrderSide.BUY, OrderSide.SELL
EXECUTED, PLACED = SignalStatus.EXECUTED, SignalStatus.PLACED
_GTC, _DAY, _TIME, _TIMED_DAY = range(4)  # ENUM_ORDER_TYPE_TIME


def test_filled_when_the_price_comes(tmp_path: Path) -> None:
    ticks = still(60_000)
    wave = np.where(np.arange(60_000) % 400 < 360, 0.0, -0.002)  # low for 0.2 s of 2 s
    ticks["bid"] += wave
    ticks["ask"] += wave
    with trading(tmp_path, prices=ticks) as floor:
        limit = order(OrderKind.LIMIT, BUY, 0.1, ASK - 0.0030)
        floor.server.send(IDENTITY, limit)
        floor.wait_status(limit.id, PLACED)
        placed = floor.results(limit.id)[-1]
        moved = order(OrderKind.MODIFY, ticket=placed.order, price=ASK - 0.0025)
        assert floor.ask(moved).status is EXECUTED
        stop = order(OrderKind.STOP, SELL, 0.2, BID - 0.0035)
        floor.server.send(IDENTITY, stop)
        floor.wait_status(stop.id, PLACED)
        tried = [order(OrderKind.LIMIT, BUY, 0.1, ASK - 0.0015) for _ in range(4)]
        finals = [floor.ask(request) for request in tried]
        executed = [final for final in finals if final.status is EXECUTED]
        assert executed, "all four came just when the price was low"
        for final in executed:
            assert final.price <= ASK - 0.0015 + 1e-9
            assert [r.status for r in floor.results(final.id)][-2:] == [PLACED, EXECUTED]
        assert floor.results(limit.id)[-1].status is PLACED  # its price has not come


def test_cancelled(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        limit = order(OrderKind.LIMIT, SELL, 0.1, ASK + 0.01)
        floor.server.send(IDENTITY, limit)
        floor.wait_status(limit.id, PLACED)
        ticket = floor.results(limit.id)[-1].order
        cancel = order(OrderKind.CANCEL, ticket=ticket)
        assert floor.ask(cancel).status is EXECUTED
        final = floor.final(limit.id)
        assert (final.status, final.order) == (SignalStatus.CANCELLED, ticket)
        again = floor.ask(order(OrderKind.CANCEL, ticket=ticket))
        assert again.status is SignalStatus.REJECTED and str(ticket) in again.text


@pytest.mark.parametrize("modes", [1, 2, 8, 15])
def test_expires_at_the_broker_or_here(tmp_path: Path, modes: int) -> None:
    with trading(tmp_path, symbol=f"expiration_modes={modes}") as floor:
        until_msc = now().utc_msc + LONG_MS - 60_000
        limit = order(OrderKind.LIMIT, BUY, 0.1, BID - 0.01, valid_until_msc=until_msc)
        floor.server.send(IDENTITY, limit)
        floor.wait_status(limit.id, PLACED)
        floor.terminal.pass_time(LONG_S)
        assert floor.final(limit.id).status is SignalStatus.EXPIRED
        assert len(floor.trades()) == 0


@pytest.mark.parametrize(
    ("modes", "endless", "ending"),
    [(1, _GTC, _GTC), (2, _DAY, _DAY), (6, _DAY, _TIME), (10, _DAY, _TIMED_DAY), (15, _GTC, _TIME)],
)
def test_the_broker_is_told_what_the_symbol_allows(
    tmp_path: Path, modes: int, endless: int, ending: int
) -> None:
    """An order of the day where there is nothing else."""
    with trading(tmp_path, symbol=f"expiration_modes={modes}") as floor:
        until_msc = now().utc_msc + LONG_MS
        for valid_until_msc in (0, until_msc):
            limit = order(OrderKind.LIMIT, BUY, 0.1, BID - 0.01, valid_until_msc=valid_until_msc)
            floor.ask_until(limit, PLACED)
        told = [(one.time_type, one.expiration_s) for one in floor.broker().orders.values()]
        assert [time_type for time_type, _ in told] == [endless, ending]
        until_s = (until_msc + 7_200_000) // 1_000  # by the trade server's clock
        has_time = ending in (_TIME, _TIMED_DAY)
        assert [second for _, second in told] == [0, until_s if has_time else 0]


def test_wrong_side_of_the_market(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        for kind, side, price in (
            (OrderKind.LIMIT, BUY, ASK + 0.001),
            (OrderKind.STOP, BUY, ASK - 0.001),
            (OrderKind.LIMIT, SELL, BID - 0.001),
            (OrderKind.STOP, SELL, BID + 0.001),
        ):
            result = floor.ask(order(kind, side, 0.1, price))
            assert result.status is SignalStatus.REJECTED
            assert "on the right side" in result.text


def test_too_late(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        late = floor.ask(signal(Side.BUY, 0.1, valid_until_msc=now().utc_msc - 5_000))
        assert late.status is SignalStatus.EXPIRED
        assert late.text.startswith("too late by ")
        assert len(floor.broker().orders) == 0
        in_time = floor.ask(signal(Side.BUY, 0.1, valid_until_msc=now().utc_msc + LONG_MS))
        assert in_time.status is EXECUTED
