"""Sums, means and deviations in SQL: the interpreter's, to the last bit, on every database."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.database.drivers import Driver, connect, values_of
from cep.database.exact import exact
from cep.database.limbs import DOUBLES, LONGS
from cep.database.rounding import rounded_columns
from cep.interpreter.aggregators import make_aggregator
from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Row
from cep.plan.expressions import Aggregate, Column
from cep.plan.types import Type
from tests.campaign import examples

CONTEXT = Context(Shared(compat=False))
TYPES = (Type.INT, Type.LONG, Type.FLOAT, Type.DOUBLE)
FUNCTIONS = ("sum", "avg", "stdDev")
NEAR = st.integers(-(2**52), 2**52).map(lambda steps: 1.1 + steps * 2.0**-100)
PRICES = st.floats(0.01, 100_000.0) | st.integers(1, 10**7).map(lambda points: points / 10**5)
VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.INT: st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 5),
    Type.LONG: st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-5, 5),
    Type.FLOAT: st.floats(-(2.0**40), 2.0**40, width=32).filter(lambda x: not 0 < abs(x) < 1e-20),
    Type.DOUBLE: PRICES | PRICES.map(lambda one: -one) | NEAR | st.sampled_from([0.0, -0.0, 1e-14]),
}


def columns(type_: Type) -> st.SearchStrategy[list[Any]]:
    """Values of which many are alike, as in windows with little in them."""
    few = st.lists(VALUES[type_], min_size=1, max_size=3).flatmap(
        lambda base: st.lists(st.none() | st.sampled_from(base), min_size=1, max_size=12)
    )
    return few | st.lists(st.none() | VALUES[type_], min_size=1, max_size=12)


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgresql"])
def driver(request: pytest.FixtureRequest, urls: dict[str, str]) -> Iterator[Driver]:
    found = connect(urls[request.param])
    try:
        for type_ in TYPES:
            found.execute(found.dialect.text(sa.schema.CreateTable(table(found, type_)))[0])
        yield found
        for type_ in TYPES:
            found.execute(found.dialect.text(sa.schema.DropTable(table(found, type_)))[0])
    finally:
        found.close()


def table(driver: Driver, type_: Type) -> sa.Table:
    kind = driver.dialect.column_types[type_]
    columns = [sa.Column("n", sa.BigInteger()), sa.Column("x", kind)]
    return sa.Table(f"exact_{type_.value}", sa.MetaData(), *columns)


def sliding(driver: Driver, function: str, type_: Type, values: list[Any], size: int) -> list[Any]:
    """The aggregate over the last `size` rows, as the difference of cumulative sums."""
    rows, found = table(driver, type_), exact(driver.dialect, function, type_)
    terms = [term.label(f"t{place}") for place, term in enumerate(found.terms(rows.c.x))]
    each = sa.select(rows.c.n, *terms).subquery()
    sums = [
        sa.cast(sa.func.sum(each.c[f"t{place}"]).over(order_by=each.c.n), sa.BigInteger())
        for place in range(found.count)
    ]
    summed = sa.select(each.c.n, *(one.label(f"s{at}") for at, one in enumerate(sums))).cte("s")
    new, old = summed.alias("new"), summed.alias("old")
    differences = [
        new.c[f"s{place}"] - sa.func.coalesce(old.c[f"s{place}"], 0) for place in range(found.count)
    ]
    statement = (
        sa.select(found.result(differences))
        .select_from(new.outerjoin(old, old.c.n == new.c.n - size))
        .order_by(new.c.n)
    )
    driver.begin()
    try:
        driver.load(rows.name, ["n", "x"], [range(len(values)), values], [Type.LONG, type_])
        return list(values_of(driver.fetch(*driver.dialect.text(statement))[0]))
    finally:
        driver.rollback()


def meant(function: str, type_: Type, values: list[Any], size: int) -> list[Any]:
    result = Type.LONG if function == "sum" and type_.is_integer else Type.DOUBLE
    running = make_aggregator(Aggregate(function, (Column(0, "x", type_),), result), CONTEXT)
    found = []
    for place, value in enumerate(values):
        if place >= size:
            running.leave(Row(0, [values[place - size]]))
        found.append(running.enter(Row(0, [value])))
    return found


@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(data=st.data(), size=st.integers(1, 6))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_sliding_aggregates_are_the_interpreters(
    driver: Driver, function: str, data: st.DataObject, size: int
) -> None:
    type_ = data.draw(st.sampled_from(TYPES))
    values = data.draw(columns(type_))
    assert sliding(driver, function, type_, values, size) == meant(function, type_, values, size)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.1, True), (2.0**-100, True), (2.0**-101, False), (2.0**50, False), (-1e300, False),
     (None, None), (float("inf"), False), (3e-13, True)],
)  # fmt: skip
def test_what_cannot_be_summed_exactly_is_known(
    driver: Driver, value: float | None, expected: bool | None
) -> None:
    rows = table(driver, Type.DOUBLE)
    held = exact(driver.dialect, "sum", Type.DOUBLE).held(rows.c.x)
    driver.begin()
    try:
        driver.load(rows.name, ["x"], [[value]], [Type.DOUBLE])
        found = values_of(driver.fetch(*driver.dialect.text(sa.select(held)))[0])[0]
    finally:
        driver.rollback()
    assert found == expected


@settings(max_examples=examples(100))
@given(data=st.data(), is_mean=st.booleans())
def test_many_rows_at_once_are_rounded_as_one(data: st.DataObject, is_mean: bool) -> None:
    limbs = data.draw(st.sampled_from([DOUBLES, LONGS]))
    sizes = st.integers(-(2**35), 2**35) | st.sampled_from([0, 1, -1, 2**29, 2**54, -(2**60)])
    rows = data.draw(st.lists(st.tuples(st.integers(0, 9), *[sizes] * limbs.count), min_size=1))
    asked = []

    def exactly(known: int, *sums: int) -> float:
        asked.append(known)
        return limbs.total(sums) / ((known if is_mean else 1) << limbs.lowest)

    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    values, missing = rounded_columns(limbs, is_mean, exactly)(*columns)
    assert missing.tolist() == [known == 0 for known, *_ in rows]
    found = [value for value, absent in zip(values.tolist(), missing, strict=True) if not absent]
    assert found == [exactly(*row) for row in rows if row[0]]


def test_ordinary_means_are_certain_at_once() -> None:
    def never(*_: int) -> float:
        raise AssertionError("two doubles do not tell")

    prices = [round(1.1 + step * 1e-5, 5) for step in range(1_000)]
    sums = [int(price * 2.0**100) for price in prices]
    limbs = [[one >> 120 for one in sums]]
    limbs += [[one >> shift & 2**30 - 1 for one in sums] for shift in (90, 60, 30, 0)]
    columns = [np.array(one, np.int64) for one in ([3] * 1_000, *limbs)]
    values, _ = rounded_columns(DOUBLES, True, never)(*columns)
    assert values.tolist() == [float(Fraction(one, 3 << 100)) for one in sums]
