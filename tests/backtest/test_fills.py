"""Which archived ticks fill an order and watch its position, across files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cep.account.orders import Order
from cep.archive import Archive, import_history
from cep.archive.ingest import INGEST_BITS
from cep.backtest.selection import Selection
from cep.backtest.simulate import simulate, tick_selection
from cep.backtest.suggested import untold_points
from cep.backtest.trading import NO_TICK
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK
from mt5bridge.validate import Quality
from tests.backtest.archives import DAY_MS, START_MSC

Quote = tuple[int, float]
"""ms after the start, bid; the ask is the bid."""

POINT = {"A": 0.01, "B": 0.01, "C": 0.01}


def block(symbol: str, quotes: list[Quote]) -> TickBlock:
    ticks = np.zeros(len(quotes), TICK)
    ticks["time_msc"] = [START_MSC + at for at, _ in quotes]
    ticks["bid"] = ticks["ask"] = [bid for _, bid in quotes]
    return TickBlock(symbol, ticks)


def history(folder: Path, **quotes: list[Quote]) -> Selection:
    """An archive with a file a day and symbol."""
    archive = Archive(folder)
    import_history(archive, [block(symbol, found) for symbol, found in quotes.items()])
    return Selection(str(folder), tuple(archive.files()))


def order(at: int, symbol: str = "A", number: int = 0, **more: object) -> Order:
    """A buy caused by the tick `number` of the millisecond `at`."""
    place = 2 * ((START_MSC + at << INGEST_BITS) + number)
    known = {"side": "buy", "signal": "Go", "stop_points": 10, "target_points": 10}
    return Order(
        order=place, time_msc=START_MSC + at, symbol=symbol, lots=1.0,
        valid_until_msc=START_MSC + 9 * DAY_MS, **{**known, **more},
    )  # type: ignore[arg-type]  # fmt: skip


TWO_DAYS = [(0, 1.0), (1, 1.0), (2, 1.05), (DAY_MS, 1.02), (DAY_MS + 1, 0.9), (DAY_MS + 2, 2.0)]


def test_a_position_is_watched_in_the_files_that_follow(tmp_path: Path) -> None:
    ticks = history(tmp_path, A=TWO_DAYS)
    assert len(ticks.files) == 2
    [trade] = simulate(ticks, [order(0)], POINT).trades
    assert (trade.opened_msc, trade.closed_msc) == (START_MSC + 1, START_MSC + DAY_MS + 1)
    assert (trade.reason, trade.close_price, trade.points) == ("stop", 0.9, -10.0)


def test_ticks_are_read_until_nothing_can_change(tmp_path: Path) -> None:
    quotes = [(day * DAY_MS + i, 1.0 + 0.06 * i) for day in range(4) for i in range(4)]
    ticks = history(tmp_path, A=quotes)
    for moments, files in (
        ([0], [1]),  # target on the first day
        ([0, DAY_MS], [1, 2]),
        ([0, 2 * DAY_MS + 3], [1, 2, 3, 4]),
        ([DAY_MS + 2], [2, 3]),
        ([DAY_MS + 3], [3]),  # the last of its day
    ):
        read: list[int] = []
        simulate(ticks, [order(at) for at in moments], POINT, advance=read.append)
        assert read == [4] * len(files), moments


def test_the_last_tick_of_a_file_can_fill_an_order(tmp_path: Path) -> None:
    ticks = history(tmp_path, A=[(0, 1.0), (5, 1.1), (5, 1.2), (DAY_MS, 1.5)])
    for number, opened in ((0, START_MSC + 5), (1, START_MSC + DAY_MS)):
        [trade] = simulate(ticks, [order(5, number=number)], POINT).trades
        assert trade.opened_msc == opened


def test_only_ticks_of_the_range_count(tmp_path: Path) -> None:
    history(tmp_path, A=TWO_DAYS)
    archive = Archive(tmp_path)
    every = Selection(str(tmp_path), (), START_MSC, START_MSC + DAY_MS + 1)
    ticks = tick_selection(archive, every, {"A"})
    [trade] = simulate(ticks, [order(0)], POINT).trades
    assert (trade.reason, trade.close_price) == ("end of data", 1.02)
    later = tick_selection(archive, Selection(str(tmp_path), (), START_MSC + 2), {"A"})
    [trade] = simulate(later, [order(0)], POINT).trades
    assert trade.opened_msc == START_MSC + 2


def test_trades_are_in_the_order_of_closing_and_then_of_symbols(tmp_path: Path) -> None:
    ticks = history(
        tmp_path,
        B=[(0, 1.0), (1, 1.0), (7, 2.0)],
        A=[(0, 1.0), (1, 1.0), (9, 2.0)],
        C=[(0, 1.0), (1, 1.0), (7, 2.0)],
    )
    orders = [order(0, symbol) for symbol in "ABC"] + [order(0, "X"), order(0, "X")]
    outcome = simulate(ticks, orders, POINT)
    assert [trade.symbol for trade in outcome.trades] == ["B", "C", "A"]
    assert outcome.refused[NO_TICK] == 2
    assert list(outcome.points) == ["A", "B", "C"]
    assert set(outcome.why_points.values()) == {"given"}


def test_prices_show_the_point_of_many_ticks(tmp_path: Path) -> None:
    coarse = [(i, round(1.1 + i * 1e-4, 4)) for i in range(9)]
    fine = [(DAY_MS + i, round(1.1 + i * 1e-5, 5)) for i in range(9)]
    history(tmp_path, A=[*coarse, *fine])
    point = untold_points(Archive(tmp_path))["A"].point
    assert point == (pytest.approx(1e-5), "from 5 decimals of 17 prices")


def test_a_sample_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = [(day * DAY_MS + i, round(1.1 + i * 1e-4, 4)) for day in range(2) for i in range(9)]
    history(tmp_path, A=[*coarse, (DAY_MS + 9, 1.10001)])
    for rows, point in ((18, 1e-4), (19, 1e-5)):
        monkeypatch.setattr("cep.backtest.simulate.SAMPLE_ROWS", rows)
        assert untold_points(Archive(tmp_path))["A"].point.size == pytest.approx(point)


def test_ticks_that_rules_do_without_fill_nothing(tmp_path: Path) -> None:
    found = block("A", [(0, 1.0), (1, 1.0), (2, 1.0)])
    found.ticks["bid"][1] = 1.5  # above its ask
    archive = Archive(tmp_path)
    import_history(archive, [found])
    for hidden, opened in ((0, 1), (int(Quality.CROSSED), 2)):
        ticks = tick_selection(archive, Selection(str(tmp_path), (), hidden=hidden), {"A"})
        [trade] = simulate(ticks, [order(0, stop_points=0, target_points=0)], POINT).trades
        assert trade.opened_msc == START_MSC + opened
