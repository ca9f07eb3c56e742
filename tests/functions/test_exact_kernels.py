"""Kernels of exact functions have the bits of their plain definitions, whatever comes and goes."""

from __future__ import annotations

import math
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.plan.functions.aggregators.means import Wma, wma_enter, wma_value
from cep.plan.functions.aggregators.paired import (
    PAIR_CELLS,
    Correlation,
    correlation_enter,
    correlation_value,
)
from cep.plan.functions.exact_sums import ExactSum
from cep.plan.functions.limbs import SUM, limbs_add, limbs_add_sum, limbs_clear, limbs_over
from tests.engine.machine.compared import Record, assert_same

DOUBLES = st.floats(allow_nan=False) | st.sampled_from([0.1, 0.2, 5e-324, 1.7e308, -1.7e308])
FACTORS = st.sampled_from([1, 1, 2, 7]) | st.integers(1, 2**31)
SIGNS = st.sampled_from([1, 1, -1])
DIVISORS = st.sampled_from([1, 2, 3, 45]) | st.integers(1, 2**31 - 1)
NUMBERS = st.sampled_from([0.1, 0.2, 0.3, 1.1, -2.5, 1e9, 1e9 + 1e-6, 1e-9, 0.0, -4.0]) | st.floats(
    -1e6, 1e6, allow_subnormal=False
).map(lambda value: round(value, 5))


def assert_bits(found: float, meant: float | None) -> None:
    if meant is None:
        assert math.isnan(found)
    else:
        assert struct.pack("d", found) == struct.pack("d", meant)


@given(st.lists(st.tuples(st.integers(0, 2), DOUBLES, FACTORS, SIGNS, DIVISORS), max_size=30))
def test_limbs_are_an_exact_sum(steps: list[tuple[int, float, int, int, int]]) -> None:
    cells = np.zeros((1, 2 * SUM), np.int64)
    one, other = ExactSum(), ExactSum()
    for kind, value, factor, sign, divisor in steps:
        if kind == 0:
            limbs_add(cells, 0, 0, value, factor, sign)
            one.add_product(value, factor, sign)
        elif kind == 1:
            limbs_add(cells, 0, SUM, value, 1, sign)
            other.add(value, sign)
        else:
            limbs_add_sum(cells, 0, 0, SUM, sign)
            one.add_sum(other, sign)
        assert_bits(limbs_over(cells, 0, 0, divisor), one.over(divisor))
    limbs_clear(cells, 0, 0)
    assert not cells[0, :SUM].any()


@given(n=st.integers(1, 9), values=st.lists(NUMBERS | DOUBLES, max_size=40))
def test_weighted_mean(n: int, values: list[float]) -> None:
    ints, floats = np.zeros((1, 1 + 2 * SUM), np.int64), np.zeros((1, n))
    plain = Wma(n)
    for value in values:
        plain.add(value)
        wma_enter(ints, floats, 0, 0, 0, value, n)
        assert_bits(wma_value(ints, floats, 0, 0, 0, n), plain.value)


@given(kept=st.integers(2, 9), pairs=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40))
def test_correlation(kept: int, pairs: list[tuple[float, float]]) -> None:
    ints, floats = np.zeros((1, 2), np.int64), np.zeros((1, PAIR_CELLS))
    plain = Correlation()
    for number, pair in enumerate(pairs):
        plain.add(*pair)
        correlation_enter(ints, floats, 0, 0, 0, *pair, 1)
        if number >= kept:
            plain.remove(*pairs[number - kept])
            correlation_enter(ints, floats, 0, 0, 0, *pairs[number - kept], -1)
        assert_bits(correlation_value(ints, floats, 0, 0, 0), plain.value)


def test_correlation_that_is_half_way_but_for_the_last_of_112_bits() -> None:
    ints, floats = np.zeros((1, 2), np.int64), np.zeros((1, PAIR_CELLS))
    plain = Correlation()
    for pair in ((0.1, -1.0), (0.3, -4.0), (0.2, 4.0)):
        plain.add(*pair)
        correlation_enter(ints, floats, 0, 0, 0, *pair, 1)
    assert_bits(correlation_value(ints, floats, 0, 0, 0), plain.value)


def test_both_run_on_the_machine() -> None:
    rules = """
define stream S (k string, x double, y double);
from S select k, wma(x, 3) as w group by k insert into W;
from S#window.length(4) select k, correlation(x, y) as c group by k insert into C;
"""
    records: list[Record] = [
        ("S", 1000 + n, ["ab"[n % 2], None if n == 7 else n * 0.1, float(n * n % 7)])
        for n in range(40)
    ]
    assert assert_same(rules, records) == 80
