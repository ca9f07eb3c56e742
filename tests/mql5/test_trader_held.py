"""Signals that give all that is held other levels, or take back all that is pending."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mt5bridge.wire import OrderKind, OrderSide, Side, SignalOrder, SignalStatus
from tests.mql5.test_trader_signal_orders import priced
from tests.mql5.trading import ASK, BID, IDENTITY, POINT, Floor, order, signal, trading

PLACED, EXECUTED, REJECTED = SignalStatus.PLACED, SignalStatus.EXECUTED, SignalStatus.REJECTED
CANCELLED = SignalStatus.CANCELLED


def change(**levels: float) -> SignalOrder:
    return priced(Side.CLOSE, OrderKind.MODIFY, 0.0, **levels)


def cancel() -> SignalOrder:
    return priced(Side.CLOSE, OrderKind.CANCEL, 0.0)


def levels(floor: Floor) -> list[tuple[float, float]]:
    """Stop and target of the positions, in points from the bid."""
    held = floor.broker().positions.values()
    return [
        tuple(round((level - BID) / POINT) if level else 0 for level in (one.sl, one.tp))
        for one in held
    ]  # type: ignore[misc]


def changes(floor: Floor) -> int:
    """How many changes of levels the trade server was asked for."""
    return sum(one.action == 6 for one in floor.broker().requests.values())


def test_all_positions_of_the_magic_number_get_the_levels(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        nothing = floor.ask(change(stop_distance=50 * POINT))
        assert nothing.status is REJECTED and "no position in EURUSD with the magic number 7" in (
            nothing.text
        )
        for side, magic in ((Side.BUY, 7), (Side.BUY, 8), (Side.SELL, 7)):
            floor.ask(signal(side, 0.1, magic, target_points=200))
        assert floor.ask(change(stop_distance=50 * POINT)).status is EXECUTED
        assert levels(floor) == [(-50, 210), (0, 210), (60, -200)]
        part = floor.ask(change(stop=BID - 40 * POINT))  # for the short it is on the wrong side
        assert part.status is REJECTED and "right side" in part.text
        assert levels(floor) == [(-40, 210), (0, 210), (60, -200)]


def test_levels_that_are_there_already_are_no_request(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.ask(signal(Side.BUY, 0.1))
        for _ in range(2):
            assert floor.ask(change(stop=BID - 50 * POINT)).status is EXECUTED
        assert changes(floor) == 1
        far = floor.ask(change(stop=0.0012))
        assert far.status is REJECTED and "farther away than half the price" in far.text


def test_while_halted_stops_come_nearer_only(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.ask(signal(Side.BUY, 0.1, stop_points=100))
        floor.halt(True, "news")
        assert floor.ask(change(stop=BID - 50 * POINT)).status is EXECUTED
        farther = floor.ask(change(stop=BID - 70 * POINT))
        assert farther.status is REJECTED and "halted: news" in farther.text
        assert levels(floor) == [(-50, 0)]


def test_on_a_netting_account_a_share_is_enough(tmp_path: Path) -> None:
    with trading(tmp_path, mode="netting") as floor:
        floor.ask(signal(Side.BUY, 0.3))
        floor.ask(signal(Side.SELL, 0.1, 8))
        assert floor.ask(change(stop_distance=50 * POINT)).status is EXECUTED
        assert floor.ask(replace(change(stop=1.0), magic=8)).status is REJECTED
        assert levels(floor) == [(-50, 0)]


def test_pending_orders_of_the_magic_number_are_taken_back(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        assert floor.ask(cancel()).status is REJECTED
        price = BID - 300 * POINT
        placed = [
            order(OrderKind.LIMIT, OrderSide.BUY, 0.1, price, magic=magic) for magic in (7, 8, 7)
        ]
        for one in placed:
            floor.ask_until(one, PLACED)
        floor.server.send(IDENTITY, last := order(OrderKind.STOP, OrderSide.BUY, 0.1, ASK + 0.01))
        floor.server.send(IDENTITY, ended := cancel())  # it waits for the order before it
        assert floor.final(ended.id).status is EXECUTED
        for one in (placed[0], placed[2], last):
            assert floor.final(one.id).status is CANCELLED
        assert sum(not one.time_done_msc for one in floor.broker().orders.values()) == 1


def test_a_change_waits_for_what_was_asked_before(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker latency_ms=150") as floor:
        floor.server.send(IDENTITY, bought := signal(Side.BUY, 0.1))
        floor.server.send(IDENTITY, one := change(stop_distance=50 * POINT))
        assert floor.final(bought.id).status is floor.final(one.id).status is EXECUTED
        assert levels(floor) == [(-50, 0)]


def test_a_stop_that_is_frozen_waits_and_a_later_one_takes_its_place(tmp_path: Path) -> None:
    with trading(tmp_path, symbol="freeze_level=200") as floor:
        floor.ask(signal(Side.BUY, 0.1, stop_points=100))
        floor.server.send(IDENTITY, first := change(stop=BID - 80 * POINT))
        floor.wait_status(first.id, SignalStatus.RECEIVED)
        floor.server.send(IDENTITY, second := change(stop=BID - 70 * POINT))
        assert floor.final(first.id).text == "the stops were changed since then"
        assert not any(one.status.final for one in floor.results(second.id))
        farther = floor.ask(change(stop=BID - 110 * POINT))
        assert farther.status is REJECTED and "frozen" in farther.text
        assert changes(floor) == 0


def test_of_many_changes_the_newest_counts(tmp_path: Path) -> None:
    """One is on its way at a time; of those that wait the newest goes."""
    with trading(tmp_path, broker="broker latency_ms=150") as floor:
        floor.ask(signal(Side.BUY, 0.1))
        asked = [change(stop=BID - points * POINT) for points in range(100, 60, -1)]
        for one in asked:
            floor.server.send(IDENTITY, one)
        found = [floor.final(one.id) for one in asked]
        assert found[-1].status is EXECUTED and levels(floor) == [(-61, 0)]
        late = [one.text for one in found if one.status is REJECTED]
        assert set(late) == {"the stops were changed since then"}
        assert changes(floor) + len(late) == len(asked) and changes(floor) < 20


@pytest.mark.parametrize("kind", ["modify", "cancel"])
def test_after_a_restart_it_is_answered_and_not_done_again(tmp_path: Path, kind: str) -> None:
    with trading(tmp_path) as floor:
        floor.ask(signal(Side.BUY, 0.1))
        floor.ask_until(order(OrderKind.LIMIT, OrderSide.BUY, 0.1, BID - 300 * POINT), PLACED)
        one = change(stop=BID - 50 * POINT) if kind == "modify" else cancel()
        assert floor.ask(one).status is EXECUTED
        before = len(floor.broker().requests)
        floor.restart()
        floor.outcomes.clear()
        assert floor.ask(one).status is EXECUTED and len(floor.broker().requests) == before
