"""What of an export is archived already, against counting one tick at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.archive.overlap import repeats, tick_keys
from mt5bridge.records import TICK, Records

ticks = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, -0.0, 1.5])), max_size=30)


def keys(rows: list[tuple[int, float]]) -> np.ndarray:
    records: Records = np.zeros(len(rows), TICK)
    records["bid"] = [bid for _, bid in rows]
    return tick_keys(np.array([time for time, _ in rows], np.int64), records)


@given(ticks, ticks)
def test_repeats_are_those_that_counting_finds(
    there: list[tuple[int, float]], new: list[tuple[int, float]]
) -> None:
    left = Counter(there)
    expected = []
    for tick in new:
        expected.append(left[tick] > 0)
        left[tick] -= 1
    assert repeats(keys(there), keys(new)).tolist() == expected
