"""Bars of the emulated terminal, and indicators of them, against plain loops over the ticks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from mt5bridge.records import Records
from tests.emulator.market import BEGIN_MSC, needs_compiler, numbered_ticks, run, texts

pytestmark = needs_compiler
EMPTY = -1.0


class Bar(NamedTuple):
    """A bar as the probe prints it, times in seconds and the spread in points."""

    time: int
    open: float
    high: float
    low: float
    close: float
    ticks: int
    spread: int
    volume: int


def some_ticks(count: int = 400, minutes: int = 12) -> Records:
    """A random walk with pauses; several ticks in a millisecond, some minutes without any."""
    random = np.random.default_rng(7)
    ticks = numbered_ticks(count)
    ticks["time_msc"] = BEGIN_MSC + np.sort(random.integers(0, minutes * 60_000, count))
    quiet = (ticks["time_msc"] // 60_000 - BEGIN_MSC // 60_000) % 5 == 3
    ticks["time_msc"][quiet] += 60_000
    ticks["time_msc"].sort()
    ticks["time"] = ticks["time_msc"] // 1000
    ticks["bid"] = np.round(1.1 + np.cumsum(random.integers(-9, 10, count)) * 1e-5, 5)
    ticks["ask"] = np.round(ticks["bid"] + random.integers(0, 20, count) * 1e-5, 5)
    return ticks


def begin_of(time_s: int, period: str) -> int:
    """When the bar begins: of a week on Sunday, of a month on its first day."""
    moment = dt.datetime.fromtimestamp(time_s, dt.UTC)
    day = moment.replace(hour=0, minute=0, second=0)
    begins: dict[str, Callable[[], dt.datetime]] = {
        "M1": lambda: moment.replace(second=0),
        "M5": lambda: moment.replace(minute=moment.minute // 5 * 5, second=0),
        "H1": lambda: moment.replace(minute=0, second=0),
        "D1": lambda: day,
        "W1": lambda: day - dt.timedelta(days=moment.isoweekday() % 7),
        "MN1": lambda: day.replace(day=1),
    }
    return int(begins[period]().timestamp())


def bars_of(ticks: Records, period: str) -> list[Bar]:
    groups: dict[int, list[int]] = {}
    for at, time_msc in enumerate(ticks["time_msc"].tolist()):
        groups.setdefault(begin_of(time_msc // 1000, period), []).append(at)
    found = []
    for begin, members in sorted(groups.items()):
        bids = ticks["bid"][members]
        last = ticks[members[-1]]
        found.append(
            Bar(begin, bids[0], max(bids), min(bids), bids[-1], len(members),
                round((last["ask"] - last["bid"]) / 1e-5), int(ticks["volume"][members].sum()))
        )  # fmt: skip
    return found


def averages(prices: Sequence[float], length: int, method: str) -> list[float]:
    """The documented definitions, one value after the other."""
    found: list[float] = []
    ema = prices[0]
    for at, price in enumerate(prices):
        ema += (price - ema) * 2 / (length + 1)
        window = prices[at + 1 - length : at + 1] if at + 1 >= length else []
        if not window:
            found.append(EMPTY)
        elif method == "EMA":
            found.append(ema)
        elif method == "SMMA" and found and found[-1] != EMPTY:
            found.append((found[-1] * (length - 1) + price) / length)
        elif method == "LWMA":
            weights = range(1, length + 1)
            found.append(sum(w * x for w, x in zip(weights, window, strict=True)) / sum(weights))
        else:
            found.append(sum(window) / length)
    return found


def strengths(prices: Sequence[float], length: int) -> list[float]:
    changes = [new - old for old, new in pairwise(prices)]
    ups = averages([max(0.0, one) for one in changes], length, "SMMA")
    downs = averages([max(0.0, -one) for one in changes], length, "SMMA")
    found = [EMPTY]
    for up, down in zip(ups, downs, strict=True):
        ratio = 50.0 if up + down == 0 else 100 * up / (up + down)
        found.append(EMPTY if up == EMPTY else ratio)
    return found


def ranges(bars: Sequence[Bar], length: int) -> list[float]:
    true = [
        max(bar.high, before.close) - min(bar.low, before.close) for before, bar in pairwise(bars)
    ]
    return [EMPTY, *averages(true, length, "SMA")]


def printed(folder: Path, ticks: Records, *lines: str, inputs: str = "") -> list[list[str]]:
    """The words that BarsProbe prints when all ticks are in the base."""
    result = run(
        folder, "offline_ticks first=100000", *lines, f"attach BarsProbe on EURUSD {inputs}",
        ticks=ticks,
    )  # fmt: skip
    assert result.exit_code == 0, result.journal
    return [text.split() for text in texts(result, "BarsProbe")]


def shown_bars(words: list[list[str]], period: str) -> list[Bar]:
    return [
        Bar(int(line[1]), *map(float, line[2:6]), *map(int, line[6:9]))
        for line in words
        if line[0] == f"PERIOD_{period}"
    ]


def shown_values(words: list[list[str]], name: str) -> list[float]:
    """The oldest first, as the probe counts from the newest."""
    return [float(line[2]) for line in words if line[0] == name][::-1]


@pytest.mark.parametrize("late", ["", "ticks_odd late=0.3 late_by=1..30"])
def test_bars_are_those_of_the_tick_base(tmp_path: Path, late: str) -> None:
    """Also when ticks come late, behind bars that were asked for."""
    ticks = some_ticks()
    words = printed(tmp_path, ticks, *([late] if late else []))
    for period in ("M1", "M5", "H1", "D1", "W1", "MN1"):
        if late:
            kept = [(bar.time, bar.high, bar.low, bar.ticks) for bar in shown_bars(words, period)]
            expected = [(bar.time, bar.high, bar.low, bar.ticks) for bar in bars_of(ticks, period)]
            assert kept == expected
        else:
            assert shown_bars(words, period) == bars_of(ticks, period)


def test_each_way_of_asking_gives_its_stretch(tmp_path: Path) -> None:
    ticks = some_ticks()
    bars = bars_of(ticks, "M1")
    words = printed(tmp_path, ticks)
    times = [bar.time for bar in bars]
    newest = times[-1]
    between = [time for time in times if newest - 120 <= time]
    asked = {line[0]: list(map(int, line[1:])) for line in words if len(line) == 5}
    assert asked["two"] == [2, 0, times[-2], newest]
    assert asked["one_before"] == [1, 0, times[-2], times[-2]]
    assert asked["from_time"] == [3, 0, times[-4], times[-2]]
    assert asked["between"] == [len(between), 0, between[0], newest]
    assert asked["beyond"] == [-1, 4401, 0, 0]
    assert asked["unknown"][:2] == [-1, 4401]
    (summary,) = [line for line in words if line[0] == "closes"]
    highest = max(bar.high for bar in bars[:-1])
    lowest = min(bar.low for bar in bars[-3:])
    assert summary[1:] == [
        str(len(bars)), "differing", "0", "highest", f"{highest:.5f}", "lowest", f"{lowest:.5f}",
        "before", "-1", "exact", "-1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("length", "shift", "price"),
    [(3, 0, "CLOSE"), (5, 2, "TYPICAL"), (1, -1, "LOW"), (50, 0, "OPEN")],
)
def test_indicators_are_those_of_their_definitions(
    tmp_path: Path, length: int, shift: int, price: str
) -> None:
    ticks = some_ticks()
    bars = bars_of(ticks, "M1")
    words = printed(tmp_path, ticks, inputs=f"Length={length} Shift={shift} Price=PRICE_{price}")
    applied = {
        "CLOSE": lambda bar: bar.close, "OPEN": lambda bar: bar.open, "LOW": lambda bar: bar.low,
        "TYPICAL": lambda bar: (bar.high + bar.low + bar.close) / 3,
    }[price]  # fmt: skip
    prices = [applied(bar) for bar in bars]
    for method in ("SMA", "EMA", "SMMA", "LWMA"):
        plain = averages(prices, length, method)
        moved = [EMPTY] * max(0, shift) + plain[max(0, -shift) :] + [EMPTY] * max(0, -shift)
        assert shown_values(words, f"MODE_{method}") == pytest.approx(moved[: len(plain)])
    assert shown_values(words, "RSI") == pytest.approx(strengths(prices, length), abs=1e-6)
    assert shown_values(words, "ATR") == pytest.approx(ranges(bars, length), abs=1e-9)
