"""Fills: the rules of the game one by one, and against the naive book on anything."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

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


points = st.one_of(st.none(), st.integers(1, 6))
made_orders = st.lists(
    st.builds(
        lambda at, side, signal, stop, target, valid: order(
            at, side, signal=signal, stop_points=stop, target_points=target,
            valid_until_msc=at + valid,
        ),
        st.integers(0, 120), st.sampled_from(["buy", "sell", "close"]), st.sampled_from("ABC"),
        points, points, st.sampled_from([0, 1, 3, 1000]),
    ),
    max_size=12,
)  # fmt: skip
made_ticks = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=40
)


@given(made_orders, made_ticks, st.lists(st.integers(0, 40), max_size=5))
@pytest.mark.parametrize("point", [POINT, 0.001])
def test_any_orders_any_batches(
    point: float, waiting: list[Order], steps: list[tuple[int, int, int]], edges: list[int]
) -> None:
    waiting = sorted(waiting, key=lambda one: one.order)
    places = np.cumsum([1 + step for step, _, _ in steps]).tolist()
    rows: list[Tick] = [
        (place, place, round(1 + move * POINT, 2), round(1 + (move + spread) * POINT, 2))
        for place, (_, move, spread) in zip(places, steps, strict=True)
    ]
    book, naive = Book(waiting, point), NaiveBook(waiting, point)
    cut = [0, *sorted(min(edge, len(rows)) for edge in edges), len(rows)]
    for start, stop in pairwise(cut):
        book.push(as_ticks(rows[start:stop]))
    book.end()
    for row in rows:
        naive.push(row)
    naive.end()
    assert [asdict(trade) for trade in book.trades] == naive.trades
    assert +book.refused == +naive.refused
