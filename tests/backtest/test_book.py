"""Fills: the rules of the game one by one, and against the naive book on anything."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.backtest.book import EXPIRED, NO_TICK, NOTHING, OPEN, Book, Ticks
from cep.backtest.orders import LOTS_DEFAULT, Order, orders
from tests.backtest.naive_book import NaiveBook, Tick

POINT = 0.01


def order(at: int, side: str = "buy", **more: object) -> Order:
    known = {
        "signal": "Go", "symbol": "X", "lots": 2.0, "stop_points": None, "target_points": None,
        "valid_until_msc": 10_000,
    }  # fmt: skip
    return Order(order=at, time_msc=at, side=side, **{**known, **more})  # type: ignore[arg-type]


def as_ticks(rows: list[Tick]) -> Ticks:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    return Ticks(
        np.array(columns[0], np.int64), np.array(columns[1], np.int64),
        np.array(columns[2], np.float64), np.array(columns[3], np.float64),
    )  # fmt: skip


def ticks_of(*quotes: tuple[float, float]) -> list[Tick]:
    """Ticks at places 10, 20, .. and the same times."""
    return [(10 * i, 10 * i, bid, ask) for i, (bid, ask) in enumerate(quotes, 1)]


def run(waiting: list[Order], rows: list[Tick]) -> Book:
    book = Book(waiting, POINT)
    book.push(as_ticks(rows))
    book.end()
    return book


def test_orders_fill_at_the_tick_after_their_cause() -> None:
    rows = ticks_of((1.0, 1.1), (1.2, 1.3), (1.4, 1.5))
    bought = run([order(10)], rows).trades[0]
    sold = run([order(10, "sell")], rows).trades[0]
    assert (bought.open_price, bought.opened_msc, bought.close_price) == (1.3, 20, 1.4)
    assert (sold.open_price, sold.opened_msc, sold.close_price) == (1.2, 20, 1.5)
    assert (bought.points, bought.profit, bought.reason) == (10.0, 0.2, "end of data")


def test_a_stop_takes_the_price_of_its_tick_and_a_target_its_own() -> None:
    stopped = run([order(10, stop_points=10)], ticks_of((1, 1), (1.0, 1.0), (0.95, 1), (0.7, 1)))
    assert (stopped.trades[0].close_price, stopped.trades[0].reason) == (0.7, "stop")
    reached = run([order(10, target_points=10)], ticks_of((1, 1), (1.0, 1.0), (1.3, 1.4)))
    assert (reached.trades[0].close_price, reached.trades[0].reason) == (1.1, "target")
    short = run([order(10, "sell", stop_points=10)], ticks_of((1, 1), (1, 1.5), (0.9, 1.1)))
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


def test_points_are_not_whole_where_the_size_is_not_that_of_the_prices() -> None:
    book = Book([order(10)], 0.03)
    book.push(as_ticks(ticks_of((1, 1), (1, 1), (1.01, 1.01))))
    book.end()
    assert (book.trades[0].points, book.trades[0].profit) == (0.333333, 0.02)


def test_nothing_more_can_change_when_all_is_filled_and_closed() -> None:
    book = Book([order(10, stop_points=10)], POINT)
    rows = ticks_of((1, 1), (1, 1), (0.9, 0.9))
    for row, is_done in zip(rows, (False, False, True), strict=True):
        book.push(as_ticks([row]))
        assert book.is_done is is_done


def test_the_tick_of_the_entry_stops_nothing() -> None:
    book = run([order(10, stop_points=10)], ticks_of((1, 1), (0.5, 1.0), (0.95, 1.0)))
    assert book.trades[0].reason == "end of data"


def test_one_position_a_signal() -> None:
    rows = ticks_of((1, 1), (1, 1), (1, 1), (1, 1))
    book = run([order(10), order(20), order(20, "sell", signal="Other")], rows)
    assert [trade.signal for trade in book.trades] == ["Go", "Other"]
    assert book.refused[OPEN] == 1


def test_close_ends_all_positions_of_the_symbol() -> None:
    waiting = [order(10), order(10, signal="Other"), order(20, "close", signal="Out")]
    book = run([*waiting, order(30, "close", signal="Out")], ticks_of(*[(1, 1)] * 4))
    assert [trade.reason for trade in book.trades] == ["close", "close"]
    assert [trade.closed_msc for trade in book.trades] == [30, 30]
    assert book.refused[NOTHING] == 1


def test_stops_come_before_orders_of_the_same_tick() -> None:
    waiting = [order(10, stop_points=10), order(20, "close", signal="Out")]
    book = run(waiting, ticks_of((1, 1), (1, 1), (0.5, 1)))
    assert [trade.reason for trade in book.trades] == ["stop"]
    assert book.refused[NOTHING] == 1


def test_orders_expire_or_find_no_tick() -> None:
    rows = ticks_of((1, 1), (1, 1))
    assert run([order(10, valid_until_msc=19)], rows).refused == {EXPIRED: 1, NO_TICK: 0}
    assert run([order(10, valid_until_msc=20)], rows).trades
    assert run([order(20)], rows).refused[NO_TICK] == 1


def test_signals_become_orders() -> None:
    row = {
        "stream": "Go", "time_msc": 5, "side": "sell", "symbol": "X", "lots": None,
        "stop_points": 3, "target_points": None, "valid_ms": None,
    }  # fmt: skip
    found, without = orders([(7, row), (8, {**row, "symbol": None})], 60_000)
    assert without == 1
    assert found == [Order(7, 5, "Go", "X", "sell", LOTS_DEFAULT, 3, None, 60_005)]
    assert orders([(7, {**row, "valid_ms": 9, "lots": 1.5})], 0)[0][0].valid_until_msc == 14
    [nothing] = orders([(7, {**row, "valid_ms": 0, "lots": 0.0})], 60_000)[0]
    assert (nothing.valid_until_msc, nothing.lots) == (5, 0.0)


POINTS = 0.01, 0.001, 1e-5


def session(seed: int, point: float) -> tuple[list[Order], list[Tick]]:
    """A few orders and ticks in whole points, near enough for their stops and targets to matter."""
    random = np.random.default_rng(seed)
    count, digits = int(random.integers(1, 40)), round(-np.log10(point))
    steps = np.where(random.random(count) < 0.1, random.integers(-9, 10, count),
                     random.integers(-2, 3, count))  # fmt: skip
    bids = 1000 + np.cumsum(steps)
    places = np.cumsum(random.integers(1, 4, count)).tolist()
    times = np.cumsum(random.integers(0, 3, count)).tolist()
    quotes = zip(bids.tolist(), random.integers(0, 3, count).tolist(), strict=True)
    prices = [(round(b * point, digits), round((b + s) * point, digits)) for b, s in quotes]
    rows = [(place, time, *price) for place, time, price in zip(places, times, prices, strict=True)]

    def chosen(*values: object) -> Any:
        return values[int(random.integers(len(values)))]

    found = []
    for at in sorted(random.integers(0, places[-1] + 2, int(random.integers(1, 8))).tolist()):
        time = max((row[1] for row in rows if row[0] <= at), default=0)
        found.append(
            order(
                at, chosen("buy", "sell", "buy", "sell", "close"), signal=chosen("A", "B", "C"),
                stop_points=chosen(None, 0, 1, 2, 3, 4), target_points=chosen(None, 0, 1, 2, 3, 4),
                valid_until_msc=time + chosen(0, 1, 3, 1000), lots=chosen(0.1, 0.25, 3.0),
            )
        )  # fmt: skip
    return found, rows


def both(
    waiting: list[Order], rows: list[Tick], edges: list[int], point: float
) -> tuple[Book, NaiveBook]:
    """The same session through both books, the fast one in batches."""
    book, naive = Book(waiting, point), NaiveBook(waiting, point)
    cut = [0, *sorted(min(edge, len(rows)) for edge in edges), len(rows)]
    for start, stop in pairwise(cut):
        book.push(as_ticks(rows[start:stop]))
    book.end()
    for row in rows:
        naive.push(row)
    naive.end()
    return book, naive


def cases(naive: NaiveBook, rows: list[Tick], point: float) -> Counter[str]:
    """Which of the hard cases a session held."""
    found: Counter[str] = Counter()
    seen: dict[int, set[str]] = {}
    prices = {place: price for place, _, *price in rows}
    for trade, (made, closed_at) in zip(naive.trades, naive.closings, strict=True):
        side, reason = trade["side"], trade["reason"]
        sign = 1 if side == "buy" else -1
        price = prices[closed_at][0 if side == "buy" else 1]
        wanted = made.stop_points if reason == "stop" else made.target_points
        if reason not in ("stop", "target"):
            continue
        away = round((price - trade["open_price"]) * sign / point * (-1 if reason == "stop" else 1))
        found[f"{side} {'at' if away == wanted else 'through'} {reason}"] += 1
        seen.setdefault(closed_at, set()).add(reason)
    found["stop and target in one tick"] = sum(len(reasons) == 2 for reasons in seen.values())
    found["two ticks of one millisecond"] = sum(a[1] == b[1] for a, b in pairwise(rows))
    found.update({why: count for why, count in naive.refused.items() if count})
    return found


@given(st.integers(0, 2**32), st.lists(st.integers(0, 40), max_size=5))
@pytest.mark.parametrize("point", POINTS)
def test_any_orders_any_batches(point: float, seed: int, edges: list[int]) -> None:
    waiting, rows = session(seed, point)
    book, naive = both(waiting, rows, edges, point)
    assert [asdict(trade) for trade in book.trades] == naive.trades
    assert +book.refused == +naive.refused


def test_many_sessions_hold_every_hard_case() -> None:
    found: Counter[str] = Counter()
    for seed in range(900):
        point = POINTS[seed % len(POINTS)]
        waiting, rows = session(seed, point)
        book, naive = both(waiting, rows, [seed % 7, 5 + seed % 11, 20], point)
        assert [asdict(trade) for trade in book.trades] == naive.trades, seed
        assert +book.refused == +naive.refused, seed
        found += cases(naive, rows, point)
    sides = [f"{side} {how} {what}" for side in ("buy", "sell") for how in ("at", "through")
             for what in ("stop", "target")]  # fmt: skip
    others = ["stop and target in one tick", "two ticks of one millisecond"]
    for case in (*sides, *others, EXPIRED, OPEN, NOTHING, NO_TICK):
        assert found[case] >= 10, (case, found)
