"""Aggregations: buckets, late rows, `within` and `per`, purging, snapshots."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.interpreter.aggregations import AggregationPart, make_aggregation
from cep.interpreter.aggregations.calendar import parse_span, parse_time, start_of
from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Row
from cep.plan.expressions import Aggregate, Aggregated, Arithmetic, Column, Constant
from cep.plan.nodes import Aggregation
from cep.plan.query import StreamInput
from cep.plan.steps import GroupBy, Project
from cep.plan.types import Schema, Type
from tests.campaign import examples

SCHEMA = Schema.of(symbol=Type.STRING, price=Type.DOUBLE, at=Type.LONG)
SYMBOL = Column(0, "symbol", Type.STRING)
PRICE = Column(1, "price", Type.DOUBLE)
AT = Column(2, "at", Type.LONG)
OUT = Schema.of(
    AGG_TIMESTAMP=Type.LONG,
    symbol=Type.STRING,
    total=Type.DOUBLE,
    rows=Type.LONG,
    highest=Type.DOUBLE,
    twice=Type.DOUBLE,
)
PLAN = Aggregation(
    "A",
    StreamInput("S", SCHEMA),
    (
        GroupBy(
            (SYMBOL,),
            (
                Aggregate("sum", (PRICE,), Type.DOUBLE),
                Aggregate("count", (), Type.LONG),
                Aggregate("max", (PRICE,), Type.DOUBLE),
            ),
        ),
        Project(
            (
                ("symbol", SYMBOL),
                ("total", Aggregated(0, Type.DOUBLE)),
                ("rows", Aggregated(1, Type.LONG)),
                ("highest", Aggregated(2, Type.DOUBLE)),
                ("twice", Arithmetic("*", PRICE, Constant(2.0, Type.DOUBLE), Type.DOUBLE)),
            )
        ),
    ),
    AT,
    ("sec", "min", "day", "month"),
    OUT,
)
NOON = int(datetime(2024, 2, 28, 12, tzinfo=UTC).timestamp()) * 1000
DAY_MS = 86_400_000


def make(plan: Aggregation = PLAN, shared: Shared | None = None) -> AggregationPart:
    return make_aggregation(plan, Context(shared or Shared(False)))


def send(part: AggregationPart, *rows: tuple[str, float, int]) -> None:
    for symbol, price, at in rows:
        part.receive([Row(at, [symbol, price, at])])


def text(value: str) -> Constant:
    return Constant(value, Type.STRING)


def ask(part: AggregationPart, within: tuple[Constant, ...], per: str) -> list[list[Any]]:
    view = part.view(within, text(per), Context(Shared(False)))
    return sorted(row.values for row in view.rows(Row(0, [])))


def test_a_row_counts_in_every_unit_and_late_rows_find_their_bucket() -> None:
    part = make()
    send(part, ("A", 1.0, NOON), ("A", 4.0, NOON + 2_000), ("A", 2.0, NOON + 500), ("B", 8.0, NOON))
    february = (text("2024-02-** **:**:**"),)
    assert ask(part, february, "seconds") == [
        [NOON, "A", 3.0, 2, 2.0, 4.0],
        [NOON, "B", 8.0, 1, 8.0, 16.0],
        [NOON + 2_000, "A", 4.0, 1, 4.0, 8.0],
    ]
    assert ask(part, february, "Days") == [
        [NOON - DAY_MS // 2, "A", 7.0, 3, 4.0, 8.0],
        [NOON - DAY_MS // 2, "B", 8.0, 1, 8.0, 16.0],
    ]


def test_the_plain_values_are_those_of_the_latest_row() -> None:
    part = make()
    send(
        part, ("A", 1.0, NOON + 1), ("A", 2.0, NOON + 9), ("A", 3.0, NOON + 5), ("A", 4.0, NOON + 9)
    )
    assert ask(part, (text("2024-**-** **:**:**"),), "sec")[0][-1] == 8.0


def test_within_takes_the_start_and_leaves_out_the_end() -> None:
    part = make()
    send(part, ("A", 1.0, NOON), ("A", 2.0, NOON + 1_000))
    bounds = (Constant(NOON, Type.LONG), Constant(NOON + 1_000, Type.LONG))
    assert [row[0] for row in ask(part, bounds, "sec")] == [NOON]
    texts = (text("2024-02-28 12:00:01"), text("2024-02-28 17:30:02 +05:30"))
    assert [row[0] for row in ask(part, texts, "sec")] == [NOON + 1_000]


@pytest.mark.parametrize(
    ("within", "per", "message"),
    [
        (("2024-02-** **:**:**",), "parsecs", "no such unit"),
        (("2024-02-** **:**:**",), "hours", "has no hour"),
        (("yesterday",), "sec", "is not a time"),
        (("2024-**-28 **:**:**",), "sec", "is not a time"),
        (("2024-02-28 12:00:00", "2024-02-28 12:00:00"), "sec", "the start comes first"),
    ],
)
def test_what_is_no_time_or_unit_is_told(within: tuple[str, ...], per: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(make(), tuple(text(part) for part in within), per)


@pytest.mark.parametrize(
    ("span", "start", "days"),
    [
        ("2024-**-** **:**:**", "2024-01-01 00:00:00", 366.0),
        ("2024-02-** **:**:**", "2024-02-01 00:00:00", 29.0),
        ("2024-12-** **:**:** -11:00", "2024-12-01 11:00:00", 31.0),
        ("2024-12-31 **:**:**", "2024-12-31 00:00:00", 1.0),
        ("2024-12-31 23:**:**", "2024-12-31 23:00:00", 1 / 24),
        ("2024-12-31 23:59:**", "2024-12-31 23:59:00", 1 / 1440),
    ],
)
def test_spans_of_time(span: str, start: str, days: float) -> None:
    begin, end = parse_span(span)
    assert begin == parse_time(start)
    assert math.isclose(end - begin, days * DAY_MS)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(("sec", "min", "hour", "day", "week", "month", "year")),
       st.integers(0, 4_102_444_800_000))  # fmt: skip
def test_units_start_where_the_calendar_says(unit: str, time_ms: int) -> None:
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    start = start_of(unit, time_ms)
    begun = datetime.fromtimestamp(start / 1000, UTC)
    assert begun <= moment
    expected = {
        "sec": moment.replace(microsecond=0),
        "min": moment.replace(second=0, microsecond=0),
        "hour": moment.replace(minute=0, second=0, microsecond=0),
        "day": moment.replace(hour=0, minute=0, second=0, microsecond=0),
        "month": datetime(moment.year, moment.month, 1, tzinfo=UTC),
        "year": datetime(moment.year, 1, 1, tzinfo=UTC),
    }
    if unit == "week":
        assert begun.isoweekday() == 1 and (moment - begun).days < 7
    else:
        assert begun == expected[unit]


ROWS = st.lists(
    st.tuples(
        st.sampled_from(("A", "B")),
        st.integers(0, 9).map(float),
        st.integers(0, 5_000).map(lambda ms: NOON + ms),
    ),
    max_size=15,
)


@settings(max_examples=examples(300), deadline=None)
@given(ROWS)
def test_buckets_hold_what_the_rows_of_their_second_hold(
    rows: list[tuple[str, float, int]],
) -> None:
    part = make()
    send(part, *rows)
    expected = []
    for key in {(at - at % 1000, symbol) for symbol, _, at in rows}:
        mine = [row for row in rows if (row[2] - row[2] % 1000, row[0]) == key]
        prices = [price for _, price, _ in mine]
        latest = max(at for *_, at in mine)
        last = [price for _, price, at in mine if at == latest][-1]
        expected.append([*key, sum(prices), len(prices), max(prices), 2 * last])
    assert ask(part, (text("2024-**-** **:**:**"),), "sec") == sorted(expected)


@settings(max_examples=examples(50), deadline=None)
@given(ROWS)
def test_restored_it_goes_on_as_before(rows: list[tuple[str, float, int]]) -> None:
    part, again = make(), make()
    half = len(rows) // 2
    send(part, *rows[:half])
    again.restore(part.state())
    for one in (part, again):
        send(one, *rows[half:])
    year = (text("2024-**-** **:**:**"),)
    assert ask(again, year, "min") == ask(part, year, "min")


def test_old_buckets_are_purged_by_unit() -> None:
    plan = replace(PLAN, purge_every_ms=60_000, retention_ms=(("sec", 120_000),))
    shared = Shared(False)
    part = make(plan, shared)
    shared.clock.jump(NOON)
    send(part, ("A", 1.0, NOON), ("A", 2.0, NOON + 100_000))
    shared.clock.jump(NOON + 180_000)
    year = (text("2024-**-** **:**:**"),)
    assert [row[0] for row in ask(part, year, "sec")] == [NOON + 100_000]
    assert len(ask(part, year, "min")) == 2
