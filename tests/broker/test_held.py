"""Other levels for what a strategy holds, and the end of what it has pending."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cep.engine.jit import entry
from mt5bridge.broker import Broker, Terms
from mt5bridge.broker.codes import (
    BUY_LIMIT,
    BUY_STOP,
    CANCEL_HELD,
    CHANGE_HELD,
    DONE,
    FARTHER,
    FROZEN,
    INVALID_EXPIRATION,
    INVALID_ORDER,
    INVALID_STOPS,
    MARKET_CLOSED,
    PENDING,
    POSITION_CLOSED,
    SELL,
    TOO_FAR,
)
from mt5bridge.broker.run import run
from tests.broker.test_broker import EURUSD, market, over, request, waiting


def levels(broker: Broker) -> list[tuple[float, float]]:
    return [(p["sl"].item(), p["tp"].item()) for p in broker.positions]


def changed(broker: Broker, **more: float) -> int:
    return int(broker.execute(request(CHANGE_HELD, lots=0, **more))["retcode"])


def cancelled(broker: Broker, **more: float) -> int:
    return int(broker.execute(request(CANCEL_HELD, lots=0, **more))["retcode"])


@pytest.mark.parametrize("hedging", [False, True])
def test_what_is_not_said_stays_and_what_is_there_is_no_failure(hedging: bool) -> None:
    broker = market(hedging)
    assert changed(broker, sl=1.0) == POSITION_CLOSED
    broker.execute(request(sl=1.05))
    for more, found in (({"tp": 1.2}, (1.05, 1.2)), ({"sl": 1.09}, (1.09, 1.2))):
        assert changed(broker, **more) == DONE == changed(broker, **more)
        assert levels(broker) == [found]


@pytest.mark.parametrize(("kind", "found"), [(0, (1.099, 1.1005)), (SELL, (1.1012, 1.0997))])
def test_distances_are_measured_from_what_closing_brings(
    kind: int, found: tuple[float, float]
) -> None:
    """A long closes at the bid, 1.1000, a short at the ask, 1.1002."""
    broker = market()
    broker.execute(request(kind=kind))
    assert changed(broker, stop_points=100, target_points=50) == DONE
    assert levels(broker) == [found]


def test_each_position_of_the_magic_number_and_no_other() -> None:
    broker = market(hedging=True)
    for magic, kind in ((7, 0), (8, 0), (7, SELL)):
        broker.execute(request(magic=magic, kind=kind))
    assert changed(broker, magic=7, stop_points=100) == DONE
    assert levels(broker) == [(1.099, 0), (0, 0), (1.1012, 0)]
    assert changed(broker, magic=7, sl=1.0995) == INVALID_STOPS  # for the short
    assert levels(broker) == [(1.0995, 0), (0, 0), (1.1012, 0)]


def test_a_shared_position_is_changed_by_who_has_a_share_in_it() -> None:
    broker = market()
    broker.execute(request(magic=7, lots=0.3))
    broker.execute(request(magic=8, kind=SELL))
    assert changed(broker, magic=8, sl=1.0) == POSITION_CLOSED == changed(broker, magic=9, sl=1.0)
    assert changed(broker, magic=7, sl=1.0) == DONE and levels(broker) == [(1.0, 0)]


def test_a_level_too_far_away_or_too_late_changes_nothing() -> None:
    broker = market()
    broker.execute(request())
    for more in ({"sl": 0.0012}, {"stop_points": 60_000}, {"tp": 1.7}):
        assert changed(broker, is_priced=1, **more) == TOO_FAR
    assert changed(broker, sl=1.0, valid_until_msc=999) == INVALID_EXPIRATION
    assert levels(broker) == [(0, 0)]


def test_while_halted_levels_come_nearer_only() -> None:
    broker = market()
    broker.execute(request())
    assert changed(broker, sl=1.05, is_halted=1) == DONE  # any stop is nearer than none
    assert changed(broker, sl=1.04, is_halted=1) == FARTHER
    assert changed(broker, sl=1.06, tp=1.2, is_halted=1) == DONE
    assert changed(broker, tp=1.3, is_halted=1) == FARTHER
    assert changed(broker, sl=1.04) == DONE and levels(broker) == [(1.04, 1.2)]


def pending(broker: Broker, tag: int, price: float, kind: int = BUY_LIMIT, magic: int = 0) -> None:
    asked = request(PENDING, kind, tag=tag, price=price, magic=magic)
    assert broker.execute(asked)["retcode"] == DONE


def test_pending_orders_are_taken_back_and_told() -> None:
    broker = market()
    assert cancelled(broker) == INVALID_ORDER
    for tag, price, kind, magic in ((1, 1.0, BUY_LIMIT, 0), (2, 1.05, BUY_LIMIT, 9),
                                    (3, 1.2, BUY_STOP, 0)):  # fmt: skip
        pending(broker, tag, price, kind, magic)
    assert cancelled(broker) == DONE and broker.orders["tag"].tolist() == [2]
    assert broker.take_taken_back() == [1, 3] and broker.take_taken_back() == []
    broker.tick(0, 2_000, 0.9, 0.9)
    assert broker.take_deals()["tag"].tolist() == [2]


def test_what_is_frozen_or_not_traded_stays() -> None:
    frozen = Broker(Terms(balance=10_000.0), [replace(EURUSD, freeze_level_points=50.0)])
    frozen.tick(0, 1_000, 1.1, 1.1002)
    pending(frozen, 1, 1.0999)
    pending(frozen, 2, 1.05)
    assert cancelled(frozen) == FROZEN and frozen.orders["tag"].tolist() == [1]
    frozen.execute(request(sl=1.0996))
    assert changed(frozen, sl=1.09) == FROZEN and levels(frozen) == [(1.0996, 0)]
    week = Broker(Terms(balance=10_000.0), [replace(EURUSD, sessions=((0, 345_602_000),))])
    week.tick(0, 1_000, 1.1, 1.1002)
    pending(week, 1, 1.05)
    week.execute(request())
    week.tick(0, 2_000, 1.1, 1.1002)
    assert cancelled(week) == MARKET_CLOSED == changed(week, sl=1.0)


def test_many_are_taken_back_by_the_compiled_loop_as_well() -> None:
    """More than the tables have rows at first."""
    rows = waiting(
        *[{"action": PENDING, "type": BUY_LIMIT, "tag": n, "price": 1.0} for n in range(1, 301)],
        {"action": CANCEL_HELD}, {"action": CHANGE_HELD, "sl": 1.0}, {}, {"action": CHANGE_HELD,
         "stop_points": 50.0},
    )  # fmt: skip
    found = []
    for loop in (None, entry(run)):
        broker = market()
        broker.loop = loop or broker.loop
        answers = over(broker, rows, [1, 2], [2_000, 3_000])
        found.append((answers, broker.take_taken_back(), levels(broker)))
    assert found[0] == found[1] and found[0][1] == list(range(1, 301))
    assert found[0][0] == [DONE] * 301 + [POSITION_CLOSED, DONE, DONE]
