"""Quality marks against a slow reading of their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.records import DEAL, TICK, Records
from mt5bridge.validate import (
    NEVER_MSC,
    Quality,
    Span,
    deal_quality,
    each,
    near,
    near_times,
    quality_counts,
    reject_mask,
    tick_quality,
)

_PRICE = st.sampled_from([0.0, -1.0, 1.0, 1.5, 2.0, math.nan, math.inf, -math.inf, 1e308])
_TIME = st.integers(0, 5) | st.sampled_from([-(2**63), -1, 6, 7, 253_402_300_800_000, 2**63 - 1])
_TICKS = st.lists(st.tuples(_PRICE, _PRICE, _PRICE, _TIME), max_size=40)


def _ticks(rows: list[tuple[float, float, float, int]]) -> Records:
    ticks = np.zeros(len(rows), TICK)
    for tick, row in zip(ticks, rows, strict=True):
        tick["bid"], tick["ask"], tick["last"], tick["time_msc"] = row
    return ticks


def _mark(bid: float, ask: float, last: float, mark: Quality) -> Quality:
    """One tick, clause by clause; `mark` is that of its time."""
    if not all(map(math.isfinite, (bid, ask, last))):
        mark |= Quality.NAN
    if bid == 0 or ask == 0:
        mark |= Quality.ZERO
    if bid < 0 or ask < 0 or last < 0:
        mark |= Quality.NEGATIVE
    if ask < bid and ask != 0:
        mark |= Quality.CROSSED
    return mark


@given(_TICKS, st.integers(0, 5), st.sampled_from([6, NEVER_MSC]), st.integers(-3, 3))
def test_marks(
    rows: list[tuple[float, float, float, int]], latest_msc: int, until_msc: int, offset_ms: int
) -> None:
    """6.9: few ticks and many are marked alike, and what is far makes nothing late."""
    quality, newest = tick_quality(_ticks(rows), latest_msc, Span.of(offset_ms, until_msc))
    expected = []
    for bid, ask, last, time_msc in rows:
        if time_msc < 0 or not 0 <= time_msc - offset_ms <= until_msc:
            expected.append(_mark(bid, ask, last, Quality.FAR))
            continue
        late = Quality.LATE if time_msc < latest_msc else Quality(0)
        expected.append(_mark(bid, ask, last, late))
        latest_msc = max(latest_msc, time_msc)
    assert each(quality, len(rows)).tolist() == expected
    assert len(quality) == (len(rows) if any(expected) else 0), "most frames have nothing to mark"
    assert newest == latest_msc
    assert quality.dtype == np.uint8


def test_counts_name_what_occurs() -> None:
    quality, _ = tick_quality(_ticks([(2, 1, 0, 1), (2, 1, 0, 1), (0, 0, 0, 0)]), 0)
    assert quality_counts(quality) == {"crossed": 2, "zero": 1, "late": 1}
    assert quality_counts(quality[:0]) == {}


def test_policy_decides_what_rules_see() -> None:
    assert reject_mask({}) == Quality.NAN | Quality.ZERO | Quality.NEGATIVE | Quality.FAR
    assert reject_mask({"zero": "accept", "late": "reject"}) == (
        Quality.NAN | Quality.NEGATIVE | Quality.LATE | Quality.FAR
    )


@pytest.mark.parametrize("policy", [{"stale": "reject"}, {"late": "drop"}])
def test_policy_errors_name_the_remedy(policy: dict) -> None:
    with pytest.raises(ValueError, match="use accept or reject for one of nan, zero"):
        reject_mask(policy)


def test_deals_of_far_times_are_marked_and_left_out_where_times_count() -> None:
    """6.9"""
    deals = np.zeros(4, DEAL)
    deals["time_msc"] = [5, -1, 2**63 - 1, 6]
    quality = deal_quality(deals, Span(0, 6))
    assert quality.tolist() == [0, 32, 32, 0]
    assert near(deals, quality)["time_msc"].tolist() == [5, 6]
    assert near_times(deals, quality).tolist() == [5, -(2**63) + 1, -(2**63) + 1, 6]
    assert near(deals, quality[:0]) is deals
