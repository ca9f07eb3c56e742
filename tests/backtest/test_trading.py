"""Fills: the rules of the game one by one, and against the naive account on anything."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.account.market import Market
from cep.account.orders import LOTS_DEFAULT, Order
from cep.backtest.orders import orders
from cep.backtest.ticks import Ticks
from cep.backtest.trading import NO_TICK, Trading
from mt5bridge.broker import Specification, Terms
from tests.backtest.naive import (
    BACK,
    LATE,
    NO_ORDER,
    NOTHING,
    PASSED,
    PRICE,
    STANDS,
    STOPS,
    Naive,
    Tick,
)

POINT = 0.01


def order(at: int, side: str = "buy", **more: object) -> Order:
    known = {
        "signal": "Go", "symbol": "X", "lots": 0.0 if side == "close" else 2.0,
        "stop_points": None, "target_points": None,
        "valid_until_msc": 10_000, "time_msc": at,
    }  # fmt: skip
    return Order(order=at, side=side, **{**known, **more})  # type: ignore[arg-type]


def as_ticks(rows: list[Tick], symbol: int = 0) -> Ticks:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    return Ticks(
        np.full(len(rows), symbol), np.array(columns[0], np.int64), np.array(columns[1], np.int64),
        np.array(columns[2], np.float64), np.array(columns[3], np.float64),
    )  # fmt: skip


def ticks_of(*quotes: tuple[float, float]) -> list[Tick]:
    """Ticks at places 10, 20, .. and the same times."""
    return [(10 * i, 10 * i, bid, ask) for i, (bid, ask) in enumerate(quotes, 1)]


def trading(waiting: list[Order], point: float = POINT, **settings: Any) -> Trading:
    market = Market(**settings)
    return Trading(waiting, {"X": market.specification("X", point)}, market)


def run(waiting: list[Order], rows: list[Tick], **settings: Any) -> Trading:
    found = trading(waiting, **settings)
    found.push(as_ticks(rows))
    return found


def test_orders_fill_at_the_tick_after_their_cause() -> None:
    rows = ticks_of((1.0, 1.1), (1.2, 1.3), (1.4, 1.5))
    bought = run([order(10)], rows).trades[0]
    sold = run([order(10, "sell")], rows).trades[0]
    assert (bought.open_price, bought.opened_msc, bought.close_price) == (1.3, 20, 1.4)
    assert (sold.open_price, sold.opened_msc, sold.close_price) == (1.2, 20, 1.5)
    assert (bought.points, bought.profit, bought.reason) == (10.0, 0.2, "end of data")


def test_orders_may_take_their_time_and_fill_worse_than_the_quote() -> None:
    rows = ticks_of((1.0, 1.1), (1.2, 1.3), (1.4, 1.5), (1.0, 1.1))
    late = run([order(10)], rows, latency_ms=11).trades[0]
    assert (late.opened_msc, late.open_price) == (30, 1.5)
    slipped = run([order(10, stop_points=20)], rows, slippage_points=3).trades[0]
    assert (slipped.open_price, slipped.close_price) == pytest.approx((1.33, 0.97))


def test_a_stop_takes_the_price_of_its_tick_and_a_target_its_own() -> None:
    stopped = run([order(10, stop_points=10)], ticks_of((1, 1), (1.0, 1.0), (0.95, 1), (0.7, 1)))
    assert (stopped.trades[0].close_price, stopped.trades[0].reason) == (0.7, "stop")
    reached = run([order(10, target_points=10)], ticks_of((1, 1), (1.0, 1.0), (1.3, 1.4)))
    assert (reached.trades[0].close_price, reached.trades[0].reason) == (1.1, "target")
    short = run([order(10, "sell", stop_points=10)], ticks_of((1, 1), (1, 1.05), (0.9, 1.1)))
    assert (short.trades[0].close_price, short.trades[0].points) == (1.1, -10.0)


@pytest.mark.parametrize(("side", "sign"), [("buy", 1), ("sell", -1)])
def test_a_price_exactly_at_a_stop_or_target_is_enough(side: str, sign: int) -> None:
    for steps, reason, close in ((-10, "stop", -10), (10, "target", 10), (-12, "stop", -12),
                                 (12, "target", 10), (-9, "end of data", -9)):  # fmt: skip
        price = round(1 + sign * steps * POINT, 2)
        rows = ticks_of((1, 1), (1, 1), (price, price))
        [trade] = run([order(10, side, stop_points=10, target_points=10)], rows).trades
        assert (trade.reason, trade.points) == (reason, close)
        assert trade.close_price == pytest.approx(1 + sign * close * POINT)


def test_a_stop_inside_the_spread_is_refused() -> None:
    rows = ticks_of((1, 1), (0.9, 1.0))
    inside = run([order(10, stop_points=10)], rows)
    assert inside.trades == [] and inside.refused == {STOPS: 1}
    assert len(run([order(10, stop_points=11)], rows).trades) == 1


def test_points_are_not_whole_where_the_size_is_not_that_of_the_prices() -> None:
    found = trading([order(10)], 0.03)
    found.push(as_ticks(ticks_of((1, 1), (1, 1), (1.01, 1.01))))
    assert (found.trades[0].points, found.trades[0].profit) == (0.333333, 0.02)


def test_nothing_more_can_change_when_all_is_filled_and_closed() -> None:
    found = trading([order(10, stop_points=10)])
    rows = ticks_of((1, 1), (1, 1), (0.9, 0.9))
    for row, is_done in zip(rows, (False, False, True), strict=True):
        found.push(as_ticks([row]))
        assert found.is_done is is_done


def test_signals_share_the_position_of_their_symbol() -> None:
    """Three sells are three deals and one position, as at the terminal."""
    waiting = [order(10, "sell"), order(20, "sell", signal="Other"), order(30, "sell")]
    found = run(waiting, ticks_of((1, 1), (1, 1), (1.3, 1.3), (1.3, 1.3)))
    assert found.deals["volume"].tolist() == [2.0] * 3 and not found.refused
    [trade] = found.trades
    assert (trade.signal, trade.lots, trade.open_price) == ("Go", 6.0, pytest.approx(1.2))


def test_a_signal_to_the_other_side_makes_a_position_smaller_or_turns_it() -> None:
    waiting = [order(10), order(20, "sell", lots=0.5), order(30, "sell", lots=2.0)]
    trades = run(waiting, ticks_of(*[(1, 1)] * 4)).trades
    assert [(t.side, t.lots, t.reason) for t in trades] == [
        ("buy", 0.5, "opposite"), ("buy", 1.5, "opposite"), ("sell", 0.5, "end of data"),
    ]  # fmt: skip


def test_on_a_hedging_account_each_signal_has_its_own_position() -> None:
    waiting = [order(10), order(10, "sell", signal="Other"), order(20, "close", signal="Out")]
    found = run(waiting, ticks_of(*[(1, 1)] * 4), terms=Terms(hedging=True))
    assert [(t.signal, t.side, t.reason) for t in found.trades] == [
        ("Go", "buy", "close"), ("Other", "sell", "close"),
    ]  # fmt: skip


def test_close_ends_the_position_of_the_symbol() -> None:
    waiting = [order(10), order(10, signal="Other"), order(20, "close", signal="Out")]
    found = run([*waiting, order(30, "close", signal="Out")], ticks_of(*[(1, 1)] * 4))
    assert [(trade.reason, trade.closed_msc, trade.lots) for trade in found.trades] == [
        ("close", 30, 4.0)
    ]
    assert found.refused[NOTHING] == 1


def test_stops_come_before_orders_of_the_same_tick() -> None:
    waiting = [order(10, stop_points=10), order(20, "close", signal="Out")]
    found = run(waiting, ticks_of((1, 1), (1, 1), (0.5, 1)))
    assert [trade.reason for trade in found.trades] == ["stop"]
    assert found.refused[NOTHING] == 1


def test_a_tick_that_jumps_through_a_limit_and_its_stop_fills_both() -> None:
    """docs/backtest.md: "On one tick limit and stop orders come first, then stops and targets"."""
    waiting = [order(10, kind="limit", price=1.0, stop=0.9)]
    (trade,) = run(waiting, ticks_of((1.2, 1.21), (1.2, 1.21), (0.8, 0.81))).trades
    assert (trade.opened_msc, trade.closed_msc, trade.reason) == (30, 30, "stop")
    rows = ticks_of((1.2, 1.21), (1.2, 1.21), (0.99, 1.0))
    expiring = [order(10, kind="limit", price=1.0, valid_until_msc=30)]
    assert not run(expiring, rows).trades, "at exactly its time it has expired"


def test_orders_expire_or_find_no_tick() -> None:
    rows = ticks_of((1, 1), (1, 1))
    assert run([order(10, valid_until_msc=19)], rows).refused == {LATE: 1}
    assert run([order(10, valid_until_msc=20)], rows).trades
    assert run([order(20)], rows).refused == {NO_TICK: 1}


def test_a_tick_stamped_before_the_cause_does_not_fill() -> None:
    """As no server fills before it is asked: a late tick is none of its market now."""
    rows: list[Tick] = [(10, 10, 1, 1), (20, 9, 1, 1), (30, 10, 2, 2)]
    assert run([order(10)], rows).trades[0].open_price == 2


def test_a_symbol_does_not_wait_for_another() -> None:
    symbols = {"X": Specification(POINT), "Y": Specification(POINT)}
    found = Trading([order(10), order(10, symbol="Y"), order(20)], symbols)
    found.push(as_ticks(ticks_of((1, 1), (1, 1), (1, 1))))
    assert found.deals["symbol"].tolist() == [0, 0] and not found.is_done
    found.push(as_ticks([(40, 40, 2, 2)], symbol=1))
    assert [trade.symbol for trade in found.trades] == ["X", "Y"]
    assert [trade.closed_msc for trade in found.trades] == [30, 40]


def test_signals_become_orders() -> None:
    row = {
        "stream": "Go", "time_msc": 5, "side": "sell", "symbol": "X", "lots": None,
        "stop_points": 3, "target_points": None, "valid_ms": None,
    }  # fmt: skip
    found, unusable = orders([(7, row), (8, {**row, "symbol": None})], 60_000)
    assert unusable == {"no symbol": 1}
    assert found == [Order(7, 5, "Go", "X", "sell", 0.0, 3, None, 60_005)]
    assert found[0].lots_wanted == LOTS_DEFAULT
    assert orders([(7, {**row, "valid_ms": 9, "lots": 1.5})], 0)[0][0].valid_until_msc == 14
    [nothing] = orders([(7, {**row, "valid_ms": 0})], 60_000)[0]
    assert nothing.valid_until_msc == 5


POINTS = 0.01, 0.001, 1e-5


def session(seed: int, point: float) -> tuple[list[Order], list[Tick]]:
    """A few orders and ticks in whole points, near enough for their stops and targets to matter."""
    random = np.random.default_rng(seed)
    count, digits = int(random.integers(1, 40)), round(-np.log10(point))
    steps = np.where(random.random(count) < 0.1, random.integers(-9, 10, count),
                     random.integers(-2, 3, count))  # fmt: skip
    bids = 1000 + np.cumsum(steps)
    places = np.cumsum(random.integers(1, 4, count)).tolist()
    times = (1 + np.cumsum(random.integers(0, 3, count))).tolist()
    quotes = zip(bids.tolist(), random.integers(0, 3, count).tolist(), strict=True)
    prices = [(round(b * point, digits), round((b + s) * point, digits)) for b, s in quotes]
    rows = [(place, time, *price) for place, time, price in zip(places, times, prices, strict=True)]

    def chosen(*values: object) -> Any:
        return values[int(random.integers(len(values)))]

    found = []
    for at in sorted(random.integers(0, places[-1] + 2, int(random.integers(1, 8))).tolist()):
        time = max((row[1] for row in rows if row[0] <= at), default=1)
        found.append(
            order(
                at, chosen("buy", "sell", "buy", "sell", "close"), signal=chosen("A", "B", "C"),
                stop_points=chosen(None, 0, 1, 2, 3, 4), target_points=chosen(None, 0, 1, 2, 3, 4),
                valid_until_msc=time + chosen(0, 1, 3, 1000), lots=chosen(0.1, 0.25, 3.0),
                time_msc=time,
            )
        )  # fmt: skip
    return [replace(one, lots=0.0) if one.side == "close" else one for one in found], rows


def mixed(seed: int, point: float) -> tuple[list[Order], list[Tick]]:
    """The same, where some orders wait at a price, some have stop and target as prices or as
    distances in prices, and some close a part.
    """
    found, rows = session(seed, point)
    random, digits = np.random.default_rng(seed + 1), round(-math.log10(point))

    def changed(one: Order) -> Order:
        if one.side == "close":
            return replace(one, lots=(0.0, 0.1, 3.0)[random.integers(3)])
        near = [bid for place, _, bid, _ in rows if place <= one.order][-1:] or [rows[0][2]]
        more: dict[str, Any] = {"kind": ("", "limit", "stop")[random.integers(3)]}
        if (side := ("modify", "cancel", "", "", "")[random.integers(5)]) == "cancel":
            return replace(one, side=side, lots=0.0, stop_points=None, target_points=None)
        if side:
            more = {"kind": "", "side": side, "lots": 0.0}

        def level(steps: int) -> float:
            return round(near[0] + int(random.integers(-steps, steps + 1)) * point, digits)

        if more["kind"]:
            more["price"] = level(3)
        for name in ("stop", "target"):
            how, points = random.integers(3), getattr(one, f"{name}_points") or 0
            if how:
                more[f"{name}_points"] = None
                more |= {name: level(5)} if how == 1 else {f"{name}_distance": points * point}
        return replace(one, **more)

    return [changed(one) for one in found], rows


def both(
    waiting: list[Order], rows: list[Tick], edges: list[int], point: float
) -> tuple[Trading, Naive]:
    """The same session through both, the fast one in batches."""
    fast, naive = trading(waiting, point), Naive(waiting, point)
    cut = [0, *sorted(min(edge, len(rows)) for edge in edges), len(rows)]
    for start, stop in pairwise(cut):
        fast.push(as_ticks(rows[start:stop]))
    for row in rows:
        naive.push(row)
    naive.end()
    return fast, naive


SUMS = ("open_price", "points", "profit", "net", "mae", "mfe", "mae_points", "mfe_points")
"""Of these, doubles are summed in another order."""


def check(fast: Trading, naive: Naive, seed: int) -> None:
    found, expected = [asdict(trade) for trade in fast.trades], naive.trades
    for one, other in zip(found, expected, strict=True):
        for name in SUMS:
            assert one.pop(name) == pytest.approx(other.pop(name), abs=1e-6), (seed, name)
    assert found == expected, seed
    assert +fast.refused == +naive.refused, seed


def cases(naive: Naive, rows: list[Tick]) -> Counter[str]:
    """Which of the hard cases a session held."""
    found = Counter(f"{trade['side']} {trade['reason']}" for trade in naive.trades)
    found["two ticks of one millisecond"] = sum(a[1] == b[1] for a, b in pairwise(rows))
    found["two closings at one tick"] = len(naive.places) - len(set(naive.places))
    found["changed"] = naive.changes
    found.update({why: count for why, count in naive.refused.items() if count})
    return found


@given(st.integers(0, 2**32), st.lists(st.integers(0, 40), max_size=5))
@pytest.mark.parametrize("point", POINTS)
def test_any_orders_any_batches(point: float, seed: int, edges: list[int]) -> None:
    for drawn in (session, mixed):
        waiting, rows = drawn(seed, point)
        check(*both(waiting, rows, edges, point), seed)


@given(st.integers(0, 2**32))
def test_the_first_orders_are_answered_when_each_has_a_return_code(seed: int) -> None:
    waiting, rows = mixed(seed, POINT)
    found = trading(waiting)
    for row in rows:
        found.push(as_ticks([row]))
        for count in range(len(waiting) + 1):
            assert found.has_answered(count) == found.retcodes[:count].all()
    assert found.has_answered(0)


def test_many_sessions_hold_every_hard_case() -> None:
    found: Counter[str] = Counter()
    for seed in range(900):
        point = POINTS[seed % len(POINTS)]
        waiting, rows = (session, mixed)[seed // 3 % 2](seed, point)
        fast, naive = both(waiting, rows, [seed % 7, 5 + seed % 11, 20], point)
        found += cases(naive, rows)
        check(fast, naive, seed)
    ways = [f"{side} {reason}" for side in ("buy", "sell")
            for reason in ("stop", "target", "opposite", "close", "end of data")]  # fmt: skip
    others = ["two closings at one tick", "two ticks of one millisecond"]
    whys = (LATE, STOPS, NOTHING, NO_TICK, PRICE, PASSED, STANDS, NO_ORDER, BACK)
    for case in (*ways, *others, *whys, "changed"):
        assert found[case] >= 5, (case, found)
