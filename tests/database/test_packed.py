"""Results of an event in one row come out as they were put together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.database.dialects import SQLITE
from cep.database.packed import PAIR, columns_of
from cep.database.program import build, prepared
from cep.database.steps import Fetch, Statement
from cep.jepc import Correlator, NativeProvider, Projector, Stream, TimeWindow
from cep.jepc.catalog import Catalog
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event
from cep.plan.nodes import Plan
from cep.plan.types import Type

QUERIES = ("q0", "q1", "q2")
INTS = st.one_of(st.integers(-3, 3), st.sampled_from((-(2**31), 2**31 - 1)))
EVENTS = st.lists(
    st.tuples(
        st.booleans(), INTS, st.lists(st.tuples(st.integers(0, 99), INTS), min_size=1, max_size=5)
    ),
    max_size=6,
)
"""Of each event: whether the first value is its own, this value, (query, other value) of each."""


@settings(deadline=None)
@given(EVENTS)
def test_pairs(events: list[tuple[bool, int, list[tuple[int, int]]]]) -> None:
    texts = [",".join(str(query * PAIR + value) for query, value in one[2]) for one in events]
    first = [own if is_first else None for is_first, own, _ in events]
    second = [None if is_first else own for is_first, own, _ in events]
    counts = [len(results) for _, _, results in events]
    fetch = Fetch(
        Statement(""), ("q",), (("a", "b"),), (Type.INT, Type.INT),
        has_member=True, is_grouped=True, is_paired=True,
    )  # fmt: skip
    columns: Any = columns_of(fetch, (list(range(len(events))), counts, texts, first, second))
    expected = [
        (place, query, *((own, value) if is_first else (value, own)))
        for place, (is_first, own, results) in enumerate(events)
        for query, value in results
    ]
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


def _plan(condition: str, values: dict[str, str], **schema: str) -> Plan:
    """Three correlations that are one statement."""
    catalog = Catalog()
    for name in "lr":
        catalog.register(name, {f"{name}{key}": type_ for key, type_ in schema.items()})
    for number in range(3):
        windows = [Stream(name).window(TimeWindow(9 - number)) for name in "lr"]
        query: Any = Correlator(windows, f"{condition} == {number - 1}")
        catalog.create(f"q{number}", Projector(query, values) if values else query)
    return catalog.plan()


@pytest.mark.parametrize(
    ("schema", "values", "is_paired"),
    [
        ({"a": "int"}, {}, True),
        ({"a": "int"}, {"x": "la - ra"}, True),
        ({"a": "long"}, {}, False),
        ({"a": "int", "b": "int"}, {}, False),
        ({"a": "int"}, {"x": "la"}, False),
    ],
)
def test_one_value_that_may_not_be_null_is_paired(
    schema: dict[str, str], values: dict[str, str], is_paired: bool
) -> None:
    (step,) = build(prepared(_plan("la - ra", values, **schema)), QUERIES, SQLITE).steps
    asked = step.fetch
    assert asked is not None
    assert asked.is_grouped
    assert asked.is_paired is is_paired


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("lr"), st.one_of(st.none(), INTS)), max_size=30
)
"""Time since the event before, stream, value."""


@settings(deadline=None)
@given(ROWS, st.integers(1, 40))
def test_correlations_of_ints_as_the_engine(rows: list[Any], size: int) -> None:
    plan, now, events = _plan("la - ra", {}, a="int"), 0, list[Event]()
    for step, stream, value in rows:
        now += step
        events.append(Event(stream, now, (value,)))
    found = []
    for provider in (DatabaseProvider(batch_events=size), NativeProvider(jit=False)):
        provider.change(plan, QUERIES)
        told = [(one.query, one.time_msc, one.values) for one in provider.push(events)]
        found.append({name: [one for one in told if one[0] == name] for name in QUERIES})
        provider.close()
    assert found[0] == found[1]
