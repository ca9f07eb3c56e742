"""Whatever happens: the broker's deals, orders, positions and balance agree with each other."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.broker_log import BrokerLog, Deal, OrderState
from tests.emulator.broker_session import START_MSC, Session, bids, needs_compiler, run

pytestmark = needs_compiler

BUY, SELL = 0, 1
TICKS = 1200


def busy_session(folder: Path, mode: str, seed: int) -> Session:
    """Programs, somebody on a phone, stops and pending orders, on prices that walk at random."""
    random = np.random.default_rng(seed)
    steps = []
    for _ in range(60):
        side = random.integers(2)
        lots = random.integers(1, 40) / 100
        stops = "sl=1.0985 tp=1.1015" if side == BUY else "sl=1.1015 tp=1.0985"
        kind = random.choice(["async", "send", "pending", "close"])
        if kind == "pending":
            price = 1.0995 if side == BUY else 1.1005
            steps.append(f"async action=5 type={2 + side} price={price} volume={lots} filling=2")
        elif kind == "close":
            steps.append(f"async type={SELL} volume=0.01 position=@{random.integers(3)}")
        else:
            steps.append(f"{kind} type={side} volume={lots} {stops}")
        steps.append(f"wait {random.integers(1, 6)}")
    walk = 1.1 + 0.0001 * np.cumsum(random.integers(-1, 2, TICKS))
    return run(
        folder,
        [*steps, f"after {(START_MSC + 100 * TICKS) // 1000 - 1}", "wait 60", "show"],
        f"seed {seed}",
        "account mode=" + mode + " currency=USD balance=100000 leverage=100",
        "broker fills=1..3 fill_delay_ms=0..3 latency_ms=0..3 history_delay_ms=0..4",
        "broker commission=3.5 slippage_points=0..5 revisions=0.3 revision_delay_ms=0..20",
        "broker activity_ticks=25 activity_lots=0.07 duplicates=0.05 timeout=0.05 lost=0.05",
        f'at tick={TICKS - 50} broker="activity_ticks=0"',
        prices=bids(*np.round(walk, 5)),
        mode=mode,
        rate=2500,
    )


@pytest.mark.parametrize("mode", ["netting", "hedging"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_books_agree(tmp_path: Path, mode: str, seed: int) -> None:
    session = busy_session(tmp_path, mode, seed)
    log = session.log
    assert len(log.deals) > 60
    check_money(log)
    check_orders(log)
    check_positions(log)
    check_order_of_time(log)
    shown = {int(deal["ticket"]): deal for deal in session.facts("deal")}
    assert set(shown) == set(log.deals), "the terminal has heard of every deal"
    assert all(float(shown[t]["swap"]) == log.deals[t].swap for t in shown), "as it is now"
    open_now = {int(each["ticket"]): float(each["volume"]) for each in session.facts("position")}
    assert open_now == {each.ticket: each.volume for each in log.positions.values()}


def check_money(log: BrokerLog) -> None:
    """The balance is what the deals have brought."""
    brought = sum(
        deal.profit + deal.commission + deal.swap + deal.fee for deal in log.deals.values()
    )
    assert log.balance == pytest.approx(brought, abs=0.005)


def check_orders(log: BrokerLog) -> None:
    """What is missing of an order's volume is what its deals have filled."""
    for order in log.orders.values():
        filled = sum(deal.volume for deal in log.deals_of(order))
        assert filled == pytest.approx(order.volume_initial - order.volume_current, abs=1e-9)
        if order.state == OrderState.FILLED:
            assert order.volume_current == 0
        assert order.place == (0 if order.state in {0, 1, 3} else 1)


def check_positions(log: BrokerLog) -> None:
    """Every position is the sum of the deals that bear its identifier."""
    sums: dict[int, float] = defaultdict(float)
    for deal in log.deals.values():
        if deal.type in (BUY, SELL):
            sums[deal.position_id] += deal.volume if deal.type == BUY else -deal.volume
    held = {
        position.identifier: position.volume if position.type == BUY else -position.volume
        for position in log.positions.values()
    }
    for identifier, volume in sums.items():
        assert volume == pytest.approx(held.get(identifier, 0.0), abs=1e-9)


def check_order_of_time(log: BrokerLog) -> None:
    """Tickets are given in the order of time, and no deal is made twice."""
    made = [deal for deal in log.changes(Deal) if deal.kind == 0]
    assert all(one.ticket + 1 == two.ticket for one, two in pairwise(made))
    assert all(one.time_msc <= two.time_msc for one, two in pairwise(made))
    assert all(one.server_msc <= two.server_msc for one, two in pairwise(log.batches))
