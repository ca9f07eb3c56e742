"""Correlations that look for equal values, many at once: as the interpreter finds them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cep.engine.change import changed, compiled_for
from cep.engine.native import Compiled, Run
from cep.engine.results import Results
from cep.jepc import Correlator, CountWindow, Filter, Stream, TimeWindow
from cep.jepc.catalog import Catalog
from cep.plan.nodes import Plan
from tests.campaign import NUMBA, either, examples

SCHEMAS = {
    "s": {"a": "int", "l": "long", "d": "double", "k": "string"},
    "r": {"b": "int", "m": "long", "e": "double", "k": "string"},
}
CONDITIONS = [
    "s.a - r.b == {c}",
    "s.a == r.b + {c}",
    "s.l + r.m == {c}",
    "s.a == r.m",
    "s.a == r.b",
    "s.d == r.e",
    "s.k == r.k",
    "{c} - s.a + 3 == r.b - {c}",
]
CONSTANTS = st.lists(
    st.one_of(st.integers(-2, 6), st.integers(0, 70), st.sampled_from([-4_000, 4_096, 2**31 - 2])),
    min_size=8,
    max_size=12,
)
"""Neighbours, some twice, and some far away from the others."""
SIZES = st.lists(st.integers(1, 9), min_size=12, max_size=12)
WINDOWS = st.sampled_from([TimeWindow, CountWindow])
NUMBERS = st.sampled_from([0, 0, 1, 2, 3, 5, 40, 4_099, None])
EVENTS = st.lists(
    st.tuples(st.sampled_from("sr"), st.sampled_from([0, 0, 1, 1, 2, -1, -3]), NUMBERS), max_size=40
)
Raw = list[tuple[str, int, int | None]]
Event = tuple[str, int, dict[str, Any]]
MEMBERS = st.sets(st.integers(0, 11), min_size=7)


def plan_of(
    condition: str,
    constants: list[int],
    sizes: list[int],
    windows: tuple[Any, Any],
    members: set[int] | None = None,
) -> Plan:
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    for number, constant in enumerate(constants):
        if members is None or number in members:
            left = Stream("s").window(windows[0](sizes[number]))
            right = Stream("r").window(windows[1](sizes[-number]))
            query = Correlator([left, right], condition.format(c=constant))
            catalog.create(f"q{number}", query)
    return catalog.plan()


def events_of(raw: Raw) -> list[Event]:
    time, events = 1_000, list[Event]()
    for stream, step, number in raw:
        time += step
        values = (number, number, None if number is None else number / 2, "xyz"[(number or 0) % 3])
        events.append((stream, time, dict(zip(SCHEMAS[stream], values, strict=True))))
    return events


def told(run: Run, events: list[Event]) -> list[Any]:
    """What each event leads to, by query, in order."""
    found = []
    for event in events:
        results = Results(run.push_row(*event)).in_order()
        found.append(sorted(results, key=lambda one: one[0]))
    return found


def compiled(plan: Plan, jit: bool = False) -> Compiled:
    names = [query.name for query in plan.queries]
    rules = Compiled(plan, outputs=names, jit=jit, wide=True)
    assert not rules.why_not_generated("sorted")
    return rules


def interpreted(plan: Plan) -> Compiled:
    names = [query.name for query in plan.queries]
    return Compiled(plan, outputs=names, jit=False).by_interpreter


LATE = [("r", 100, 1), ("s", -90, 3), ("r", 5, 3)]
"""A row that is too old for its window when it comes stays until time goes on."""


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(CONDITIONS), CONSTANTS, SIZES, st.tuples(WINDOWS, WINDOWS), EVENTS)
@example("s.a - r.b == {c}", [*range(8)], [5] * 12, (TimeWindow, TimeWindow), LATE)
def test_many_find_what_each_finds(
    condition: str, constants: list[int], sizes: list[int], windows: tuple[Any, Any], raw: Raw
) -> None:
    plan = plan_of(condition, constants, sizes, windows)
    rules = compiled(plan)
    assert "find_slots(" in rules.generated.source
    events = events_of(raw)
    assert told(rules.start(), events) == told(interpreted(plan).start(), events)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(CONDITIONS),
    CONSTANTS.filter(lambda found: len(found) == 12),
    SIZES,
    st.tuples(WINDOWS, WINDOWS),
    st.tuples(MEMBERS, MEMBERS),
    EVENTS,
    st.integers(0, 40),
)
@example(
    "s.a - r.b == {c}",
    [*range(-2, 10)],
    [9] * 12,
    (TimeWindow, TimeWindow),
    ({*range(1, 12)}, {*range(10)}),
    [("sr"[number % 2], 1, number % 3) for number in range(14)],
    8,
)
def test_members_come_and_go(
    condition: str,
    constants: list[int],
    sizes: list[int],
    windows: tuple[Any, Any],
    members: tuple[set[int], set[int]],
    raw: Raw,
    cut: int,
) -> None:
    """Those that stay go on, whether they are asked at once before or after."""
    events = events_of([(stream, max(step, 0), number) for stream, step, number in raw])
    plans = [plan_of(condition, constants, sizes, windows, some) for some in members]
    names = [query.name for query in plans[1].queries]
    found = []
    for make in (compiled, interpreted):
        run = make(plans[0]).start()
        first = told(run, events[:cut])
        run, _ = changed(run, compiled_for(run, plans[1], outputs=names))
        found.append((first, told(run, events[cut:])))
    assert found[0] == found[1]


@pytest.mark.parametrize("jit", [False, NUMBA])
def test_some_are_read_or_not_put_out(jit: bool) -> None:
    """Then nothing is packed."""
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    sides = [Stream(name).window(TimeWindow(9)) for name in SCHEMAS]
    for number in range(9):
        catalog.create(f"q{number}", Correlator(sides, f"s.a - r.b == {number}"))
    names = [f"q{number}" for number in range(9)]
    events = events_of([("sr"[number % 2], 1, number % 5) for number in range(40)])
    plans = [(catalog.plan(), names[:-1])]
    catalog.create("also", Filter(Stream("q1"), "true"))
    plans.append((catalog.plan(), [*names, "also"]))
    for plan, outputs in plans:
        rules = Compiled(plan, outputs=outputs, jit=jit, wide=True)
        found = told(rules.start(), events)
        slow = Compiled(plan, outputs=outputs, jit=False).by_interpreter
        assert found == told(slow.start(), events)
        assert sum(map(len, found)) > 50


def test_machine_code_finds_them_too() -> None:
    """Rings that grow, windows that move on over many laps of a ring, keys that share a slot."""
    constants = [*range(9), 3, 128, 4_096]
    conditions = ("s.a - r.b == {c}", "s.l + r.m == {c}", "s.k == r.k")
    for condition in either(conditions[1:2], conditions):
        windows = (TimeWindow, CountWindow)
        plan = plan_of(condition, constants, [20 * n + 5 for n in range(12)], windows)
        raw = [
            ("sr"[n % 2], n % 3 // 2, n * n % 97 + 4_096 * (n % 5 == 0))
            for n in range(either(700, 1_500))
        ]
        run, events = compiled(plan, jit=True).start(), events_of(raw)
        found = told(run, events)
        assert found == told(interpreted(plan).start(), events)
        assert sum(map(len, found)) > 1_000
