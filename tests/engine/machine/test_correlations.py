"""Correlations of three and more inputs on the machine: the rows of the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.jepc import Aggregator, Correlator, Filter, Projector, Stream, average, count, total
from cep.jepc.catalog import Catalog
from cep.jepc.queries import CountWindow, Input, Query, TimeWindow, Window
from cep.plan.nodes import Plan
from cep.plan.query import Correlation
from cep.plan.query import Query as PlanQuery
from cep.plan.steps import Insert
from tests.campaign import NUMBA, examples
from tests.engine.machine.compared import assert_same, assert_same_lived
from tests.engine.machine.records import START, records

SCHEMA = {"symbol": "string", "price": "double", "n": "long", "flag": "bool", "k": "int"}
WINDOWS: tuple[Window, ...] = (
    TimeWindow(2_000), TimeWindow(5_000), TimeWindow(3_000, 1_000), CountWindow(2), CountWindow(4),
    CountWindow(3, 2), CountWindow(3, 1, ("symbol",)), CountWindow(2, 2, ("symbol",)),
)  # fmt: skip
ON = (
    None,
    "a.symbol == b.symbol and b.symbol == c.symbol",
    "a.n <= b.n and c.n >= b.n",
    "a.symbol == c.symbol",
    "a.n + b.n == c.n + 2 and c.n > 0 and a.flag",
    "b.n > 0",
    "b.n > 0 and eventTimestamp() % 2 == 0",
    "eventTimestamp(a) >= eventTimestamp(b) and eventTimestamp(c) % 2 == 0",
)
AGGREGATES = {"sum": total("a.n"), "rows": count(), "mean": average("b.price")}


@st.composite
def inputs(draw: st.DrawFn, name: str) -> Input:
    """A or B in a window, perhaps filtered in front of it or behind."""
    node: Input = Stream(draw(st.sampled_from("AAB")))
    if draw(st.booleans()):
        node = Filter(node, "n > 0")
    node = node.window(draw(st.sampled_from(WINDOWS)))
    if draw(st.booleans()):
        node = Filter(node, "flag or k == 1")
    return node.named(name)


def planned(query: Query, events: Literal["current", "expired", "all"] = "current") -> Plan:
    """The plan of a query, whose correlation puts out these kinds of rows."""
    catalog = Catalog()
    for name in "AB":
        catalog.register(name, SCHEMA)
    catalog.create("q", query)
    catalog.create("behind", Projector(Stream("q"), {"again": "1"}))
    plan = catalog.plan()
    return replace(plan, operators=tuple(_putting_out(one, events) for one in plan.operators))


def _putting_out(query: Any, events: Literal["current", "expired", "all"]) -> Any:
    assert isinstance(query, PlanQuery)
    if not isinstance(query.input, Correlation):
        return query
    return replace(query, output=Insert(query.target, events))


@st.composite
def correlations(draw: st.DrawFn) -> Plan:
    names = "abcd"[: draw(st.sampled_from([3, 3, 3, 4]))]
    query: Query = Correlator([draw(inputs(name)) for name in names], draw(st.sampled_from(ON)))
    if draw(st.booleans()):
        chosen = draw(st.sampled_from([("sum",), ("rows", "sum"), ("mean",), ("mean", "rows")]))
        groups = draw(st.sampled_from([(), ("a.symbol",)]))
        query = Aggregator(query, {name: AGGREGATES[name] for name in chosen}, groups)
    return planned(query, draw(st.sampled_from(["current", "current", "all", "expired"])))


@settings(max_examples=examples(400), deadline=None)
@given(plan=correlations(), rows=records(), cut=st.integers(0, 40))
def test_sorted(plan: Plan, rows: list[Any], cut: int) -> None:
    assert_same(plan, rows, START + 10_000_000, cuts={cut})


@settings(max_examples=examples(200), deadline=None)
@given(plan=correlations(), rows=records())
def test_lived(plan: Plan, rows: list[Any]) -> None:
    assert_same_lived(plan, rows, START + 10_000_000)


@pytest.mark.parametrize("jit", [False, NUMBA])
def test_many_rows(jit: bool) -> None:
    """More combinations than there is room for at first: 8 * 8 * 8 for each row."""
    inputs_ = [Stream("A").window(CountWindow(8)).named(name) for name in "abcd"]
    plan = planned(Correlator(inputs_, "a.n <= b.n and b.n <= c.n and c.n <= d.n"), "all")
    rows = [("A", START + n, ["s", 1.0, n % 5, True, n]) for n in range(12)]
    assert assert_same(plan, rows, START + 1_000, jit=jit) > 1_000
