"""Quality marks against a slow reading of their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.records import TICK, Records
from mt5bridge.validate import Quality, quality_counts, reject_mask, tick_quality

_PRICE = st.sampled_from([0.0, -1.0, 1.0, 1.5, 2.0, math.nan, math.inf, -math.inf, 1e308])
_TICKS = st.lists(st.tuples(_PRICE, _PRICE, _PRICE, st.integers(0, 5)), max_size=8)


def _ticks(rows: list[tuple[float, float, float, int]]) -> Records:
    ticks = np.zeros(len(rows), TICK)
    for tick, row in zip(ticks, rows, strict=True):
        tick["bid"], tick["ask"], tick["last"], tick["time_msc"] = row
    return ticks


def _mark(bid: float, ask: float, last: float, late: bool) -> Quality:
    """One tick, clause by clause."""
    mark = Quality(0)
    if not all(map(math.isfinite, (bid, ask, last))):
        mark |= Quality.NAN
    if bid == 0 or ask == 0:
        mark |= Quality.ZERO
    if bid < 0 or ask < 0 or last < 0:
        mark |= Quality.NEGATIVE
    if ask < bid and ask != 0:
        mark |= Quality.CROSSED
    return mark | Quality.LATE if late else mark


@given(_TICKS, st.integers(0, 5))
def test_marks(rows: list[tuple[float, float, float, int]], latest_msc: int) -> None:
    """6.9"""
    quality, newest = tick_quality(_ticks(rows), latest_msc)
    expected = []
    for bid, ask, last, time_msc in rows:
        expected.append(_mark(bid, ask, last, time_msc < latest_msc))
        latest_msc = max(latest_msc, time_msc)
    assert quality.tolist() == expected
    assert newest == latest_msc
    assert quality.dtype == np.uint8


def test_counts_name_what_occurs() -> None:
    quality, _ = tick_quality(_ticks([(2, 1, 0, 1), (2, 1, 0, 1), (0, 0, 0, 0)]), 0)
    assert quality_counts(quality) == {"crossed": 2, "zero": 1, "late": 1}
    assert quality_counts(quality[:0]) == {}


def test_policy_decides_what_rules_see() -> None:
    assert reject_mask({}) == Quality.NAN | Quality.ZERO | Quality.NEGATIVE
    assert reject_mask({"zero": "accept", "late": "reject"}) == (
        Quality.NAN | Quality.NEGATIVE | Quality.LATE
    )


@pytest.mark.parametrize("policy", [{"stale": "reject"}, {"late": "drop"}])
def test_policy_errors_name_the_remedy(policy: dict) -> None:
    with pytest.raises(ValueError, match="use accept or reject for one of nan, zero"):
        reject_mask(policy)
