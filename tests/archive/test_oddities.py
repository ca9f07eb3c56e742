"""What is odd about ticks, against slow and obvious ways to say it."""

from __future__ import annotations

import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.archive.oddities import (
    FLOOR,
    NEIGHBOURS,
    NEIGHBOURS_MIN,
    SCALES,
    WEEK_HOURS,
    Sessions,
    gaps,
    outliers,
    runs,
    usual_ms,
)
from mt5bridge.history.zones import HOUR_MS

WEEK_MS = WEEK_HOURS * HOUR_MS


def slow_outliers(mid: list[float], spread: list[float]) -> list[bool]:
    found = []
    for i, price in enumerate(mid):
        sides = [(max(0, i - NEIGHBOURS), i), (i + 1, i + 1 + NEIGHBOURS)]
        prices = [mid[slice(*side)] for side in sides]
        centres = [statistics.median(side) if side else None for side in prices]
        known = [c for c in centres if c is not None]
        away = [abs(p - c) for side, c in zip(prices, centres, strict=True) for p in side]
        if not away:
            found.append(False)
            continue
        spreads = [s for side in sides for s in spread[slice(*side)]]
        scale = max(statistics.median(away), statistics.median(spreads), FLOOR * max(known))
        distances = [
            price - c
            for side, c in zip(prices, centres, strict=True)
            if c is not None and len(side) >= NEIGHBOURS_MIN
        ]
        far = [abs(distance) > SCALES * scale for distance in distances]
        found.append(bool(far) and all(far) and len({d > 0 for d in distances}) == 1)
    return found


prices = st.lists(
    st.sampled_from([1.08, 1.0801, 1.0802, 1.0803, 1.09, 1.2, 108.0, 0.0108]), max_size=150
)


@given(prices, st.sampled_from([0.0, 0.0001, 0.01]))
def test_outliers_are_far_from_both_sides(mid: list[float], spread: float) -> None:
    spreads = [spread] * len(mid)
    assert outliers(np.array(mid, float), np.array(spreads)).tolist() == slow_outliers(mid, spreads)


def test_a_wrong_price_is_found_and_a_move_is_none() -> None:
    random = np.random.default_rng(1)
    mid = 1.08 + np.cumsum(random.normal(0, 1e-5, 20_000))
    mid[12_000:] += 0.02  # news
    spread = np.full(len(mid), 1e-5)
    assert not outliers(mid, spread).any()
    wrong = [0, 77, *range(5000, 5010), 11_999, 12_003, 19_999]
    mid[wrong] *= 100
    assert np.flatnonzero(outliers(mid, spread)).tolist() == wrong


@given(st.lists(st.booleans(), max_size=30))
def test_runs_cover_what_is_marked(mask: list[bool]) -> None:
    found = list(runs(np.array(mask, np.bool_), np.arange(len(mask))))
    covered = [t for run in found for t in range(run.first_msc, run.last_msc + 1)]
    assert covered == [i for i, marked in enumerate(mask) if marked]
    assert all(run.ticks == run.last_msc - run.first_msc + 1 for run in found)


@given(st.integers(0, 3 * WEEK_MS), st.integers(0, 2 * WEEK_MS), st.integers(0, 2**31))
def test_usual_time_is_counted_as_minute_by_minute(begin: int, length: int, seed: int) -> None:
    usual = np.random.default_rng(seed).random(WEEK_HOURS) < 0.5
    minute = 60_000
    begin, end = begin // minute * minute, (begin + length) // minute * minute
    slow = sum(minute for t in range(begin, end, minute) if usual[t // HOUR_MS % WEEK_HOURS])
    assert usual_ms(begin, end, usual) == slow


def test_gaps_are_hours_in_which_there_usually_are_ticks() -> None:
    """Nights are none; an hour missed on one day of four weeks is one, and so is a holiday."""
    minutes = np.arange(0, 4 * WEEK_MS, 60_000)
    hour = minutes // HOUR_MS
    open_ = (hour % 24 >= 8) & (hour % 24 < 20)
    missing = ((hour // 24 == 9) & (hour % 24 == 12)) | (hour // 24 == 17)
    times = minutes[open_ & ~missing]
    sessions = Sessions()
    for part in np.array_split(times, 7):
        sessions.add(part)
    found = gaps(times, sessions.usual, HOUR_MS)
    assert [int(times[i]) // HOUR_MS for i in found] == [9 * 24 + 13, 18 * 24 + 8]
    assert sessions.weeks == 3 or sessions.weeks == 4
