"""Double-double arithmetic against fractions, and windows of it against exact aggregates."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.jit import kernel, plain
from cep.engine.kernels.exact import add_pair, square, two_product, two_sum
from cep.engine.native import Compiled, Run
from cep.plan.build import compile_rules
from cep.plan.types import Type
from tests.campaign import examples
from tests.reference.aggregates import aggregate

FACTORS = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)
PRICES = st.one_of(
    st.integers(-(10**9), 10**9).map(lambda points: points / 100_000),
    st.floats(1e-3, 1e6),
    st.sampled_from([0.1, 0.2, 0.3, 1e6, 1e6 + 1e-6, -0.1, 0.0]),
)
LENGTH = 5
RULES = f"""
define stream S (x double);
from S#window.length({LENGTH})
select avg(x) as mean, sum(x) as total, stdDev(x) as sd, min(x) as low, max(x) as high
insert into Out;
"""


@given(FACTORS, FACTORS)
def test_a_sum_and_its_error_are_the_exact_sum(a: float, b: float) -> None:
    s, e = plain(two_sum)(a, b)
    assert s == a + b and Fraction(s) + Fraction(e) == Fraction(a) + Fraction(b)


@given(FACTORS, FACTORS)
def test_a_product_and_its_error_are_the_exact_product(a: float, b: float) -> None:
    p, e = plain(two_product)(a, b)
    assert p == a * b and Fraction(p) + Fraction(e) == Fraction(a) * Fraction(b)
    assert plain(square)(a) == plain(two_product)(a, a)


@kernel
def machine_error(a: float, b: float) -> float:
    return two_product(a, b)[1]


ANY = st.one_of(FACTORS, st.floats(), st.sampled_from([2.0**989, 2.0**1000, 2.0**-500, 5e-324]))


@settings(max_examples=examples(300), deadline=None)
@given(ANY, ANY)
def test_machine_code_finds_the_error_of_a_product_that_plain_python_does(
    a: float, b: float
) -> None:
    with np.errstate(all="ignore"):
        found, wanted = machine_error(a, b), plain(two_product)(a, b)[1]
    assert repr(found) == repr(wanted)


@given(st.lists(PRICES, min_size=1, max_size=60))
def test_a_pair_adds_and_takes_away_prices_without_loss(prices: list[float]) -> None:
    add = plain(add_pair)
    high = low = 0.0
    for price in prices:
        high, low = add(high, low, price, 0.0)
    whole = sum(map(Fraction, prices), Fraction())
    slack = Fraction(sum(map(abs, prices))) / 2**100
    assert abs(Fraction(high) + Fraction(low) - whole) <= slack
    for price in prices[1:]:
        high, low = add(high, low, -price, 0.0)
    assert abs(Fraction(high) + Fraction(low) - Fraction(prices[0])) <= 2 * slack


@functools.cache
def compiled() -> Compiled:
    return Compiled(compile_rules(RULES, "exact.cep"))


def columns(run: Run, values: list[float | None]) -> list[dict[str, Any]]:
    return run.push("S", {"x": values}, np.arange(len(values))).dicts()


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(PRICES | st.none(), min_size=1, max_size=40))
def test_compiled_windows_round_the_exact_value_once(values: list[float | None]) -> None:
    names = {"mean": "avg", "total": "sum", "sd": "stdDev", "low": "min", "high": "max"}
    for place, row in enumerate(columns(compiled().start(), values)):
        window = values[max(0, place - LENGTH + 1) : place + 1]
        exact = {name: aggregate(how, Type.DOUBLE, window) for name, how in names.items()}
        assert {name: row[name] for name in names} == exact


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(PRICES, max_size=60), st.lists(PRICES, min_size=LENGTH, max_size=LENGTH))
def test_what_left_the_window_leaves_no_trace(before: list[float], window: list[float]) -> None:
    fresh = columns(compiled().start(), list(window))[-1]
    used = columns(compiled().start(), [*before, *window])[-1]
    assert fresh | {"time_msc": None} == used | {"time_msc": None}
