"""Queries come and go between two events: the others keep their windows, new ones begin empty."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.change import changed
from cep.engine.native import Compiled, Run
from cep.jepc import (
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    NativeProvider,
    Stream,
    TimeWindow,
    count,
    total,
)
from cep.jepc.catalog import Catalog
from cep.jepc.provider import Event, Result
from cep.jepc.queries import Query
from cep.plan.nodes import Plan
from tests.campaign import examples

SCHEMAS = {"s": {"a": "int", "k": "string"}, "r": {"b": "int"}}
NUMBERS = st.sets(st.integers(0, 9), min_size=1, max_size=9)
EVENTS = st.lists(
    st.tuples(st.sampled_from(["s", "r"]), st.integers(0, 2), st.integers(0, 6)), max_size=30
)
Raw = list[tuple[str, int, int]]


def query(number: int) -> Query:
    """Three correlations of each of two shapes, three aggregates of one."""
    kind, size = divmod(number, 3)
    if kind == 2:
        return Aggregator(Stream("s").window(TimeWindow(3 + size)), {"n": count(), "t": total("a")})
    window = [TimeWindow, CountWindow][kind]
    left, right = Stream("s").window(window(2 + size)), Stream("r").window(TimeWindow(5 - size))
    return Correlator([left, right], f"s.a - r.b == {size - 1}")


def plan_of(numbers: set[int], read: set[int]) -> Plan:
    """The queries, and others that read some of them."""
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    for number in sorted(numbers):
        if number < 9:
            catalog.create(f"q{number}", query(number))
    for number in sorted(numbers & read):
        if number < 9:
            catalog.create(f"f{number}", Filter(Stream(f"q{number}"), "true"))
    if 9 in numbers:
        catalog.create("q9", Correlator([Stream("s").window(CountWindow(3))] * 2, "s_1.a > s_2.a"))
    return catalog.plan()


def events_of(raw: Raw) -> list[Event]:
    time, events = 1_000, []
    for stream, step, number in raw:
        time += step
        values = (number, "x") if stream == "s" else (number,)
        events.append(Event(stream, time, values))
    return events


def by_query(results: list[Result]) -> dict[str, list[Result]]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        found[result.query].append(result)
    return dict(found)


def natively(plans: list[Plan], batches: list[list[Event]], jit: bool) -> list[Any]:
    provider = NativeProvider(jit=jit)
    found = []
    for plan, events in zip(plans, batches, strict=True):
        provider.change(plan, [one.name for one in plan.queries])
        found.append(by_query(provider.push(events)))
    return found


def interpreted(plans: list[Plan], batches: list[list[Event]]) -> list[Any]:
    run: Run | None = None
    found = []
    for plan, events in zip(plans, batches, strict=True):
        if run is None:
            run = Compiled(plan, jit=False).by_interpreter.start()
        else:
            run, _ = changed(run, plan)
        results = []
        for event in events:
            row = dict(zip(SCHEMAS[event.stream], event.values, strict=True))
            for made in run.push_row(event.stream, event.time_msc, row).dicts():
                name, time, _ = (made.pop(key) for key in ("stream", "time_msc", "kind"))
                results.append(Result(name, time, made))
        found.append(by_query(results))
    return found


@settings(max_examples=examples(40), deadline=None)
@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, EVENTS, EVENTS, EVENTS)
def test_others_keep_their_windows(
    first: set[int],
    second: set[int],
    third: set[int],
    read: set[int],
    raw: Raw,
    more: Raw,
    most: Raw,
) -> None:
    plans = [plan_of(first, set()), plan_of(second, read), plan_of(third, set())]
    events = events_of(raw + more + most)
    ends = len(raw), len(raw) + len(more)
    batches = [events[: ends[0]], events[ends[0] : ends[1]], events[ends[1] :]]
    assert natively(plans, batches, jit=False) == interpreted(plans, batches)


@pytest.mark.campaign
def test_machine_code_keeps_them_too() -> None:
    members = [set(range(9)), {0, 1, 3, 5, 8, 9}, set(range(10))]
    plans = [plan_of(members[0], set()), plan_of(members[1], {3, 8}), plan_of(members[2], {0})]
    events = events_of([("sr"[n % 2], n % 2, n * 5 % 7) for n in range(150)])
    batches = [events[:50], events[50:100], events[100:]]
    found = natively(plans, batches, jit=True)
    assert found == interpreted(plans, batches)
    assert all(len(one) > 5 for one in found)
