"""Values in order, of which many are kept: medians and percentiles of long windows."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.machine.kernels import collected
from tests.campaign import examples
from tests.engine.machine.compared import Record, assert_same
from tests.engine.machine.generated import START_MS, TICKS

PRICES = st.sampled_from([n / 4 for n in range(-12, 13)]) | st.floats(-3.0, 3.0)
AT = 8


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(PRICES, max_size=3 * collected.NEAR), st.lists(PRICES, max_size=3), PRICES)
def test_a_rank_is_how_many_are_smaller(kept: list[float], behind: list[float], one: float) -> None:
    """What lies behind the values that are kept is of no account."""
    kept.sort()
    words = np.zeros((1, AT + len(kept) + len(behind) + 1), np.int64)
    reals = words.view(np.float64)
    words[0, collected.RANK_AT], words[0, collected.RANK_COUNT] = AT, len(kept)
    reals[0, AT : AT + len(kept) + len(behind)] = kept + behind
    ranks = [collected.rank_of.py_func(words, reals, 0, value) for value in (one, *kept)]
    assert ranks == [bisect_left(kept, value) for value in (one, *kept)]


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(PRICES, min_size=collected.NEAR, max_size=4 * collected.NEAR), st.booleans())
def test_long_windows_have_their_percentiles(prices: list[float], grouped: bool) -> None:
    text = (
        f"{TICKS}from S#window.length({2 * collected.NEAR}) select median(price) as m,"
        f" percentile(price, 90) as p{' group by symbol' if grouped else ''} insert into O;\n"
    )
    rows: list[Record] = [
        ("S", START_MS + n, ("AB"[n % 2], price, n, START_MS + n)) for n, price in enumerate(prices)
    ]
    assert assert_same(text, rows) == len(rows)
