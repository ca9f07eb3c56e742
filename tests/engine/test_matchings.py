"""Compiled matchings against the interpreter: families, alternatives, gaps, limits, changes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cep.engine.change import changed
from cep.engine.coverage import why_not_generated
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, seed_of, take
from cep.jepc import Filter, PatternMatcher, PatternSymbol, Stream
from cep.jepc.catalog import Catalog
from cep.plan.nodes import Plan
from cep.plan.query import Matching, Query
from tests import campaign
from tests.campaign import examples

SCHEMA = {"a": "int", "d": "double", "k": "string"}
VARIABLES = {"z": "int", "w": "long", "f": "double", "t": "string"}
PATTERNS = [
    "x y u",
    "x y",
    "x",
    "x y | y x",
    "x y+",
    "x u* y",
    "(x | u) y?",
    "x{2} y",
    "x (y u){1,2}",
]
CONDITIONS = [
    "true", "a < {c}", "a == {c}", "a - z == {c}", "a == z + {c}", "a > z", "d > f + {c}.5",
    "k == t", "a + z > {c} and d < {c}.0", "w == {c}", "a - z == {c} and k == 'x'",
]  # fmt: skip
SETS = ["z = a", "w = a + {c}", "f = d", "t = k", "z = z + a", "w = a; z = 3", "f = a"]
Event = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Shape:
    """What like matchings have in common."""

    pattern: str
    symbols: tuple[tuple[str, str], ...]
    gaps: str
    is_filtered: bool

    def query(self, constant: int, within: int) -> PatternMatcher:
        symbols = {}
        for name, (condition, sets) in zip("xyu", self.symbols, strict=True):
            pairs = [one.format(c=constant).split(" = ") for one in sets.split("; ")]
            symbols[name] = PatternSymbol(condition.format(c=constant), dict(pairs))
        source = Filter(Stream("s"), "a > 0") if self.is_filtered else Stream("s")
        return PatternMatcher(
            source, self.pattern, within, symbols, VARIABLES, tuple(VARIABLES), self.gaps
        )


SYMBOLS = st.tuples(st.sampled_from(CONDITIONS), st.sampled_from(SETS))
SHAPES = st.builds(
    Shape,
    st.sampled_from(PATTERNS),
    st.tuples(SYMBOLS, SYMBOLS, SYMBOLS),
    st.sampled_from(["none", "none", "invisible"]),
    st.booleans(),
)
MEMBERS = st.dictionaries(
    st.integers(0, 5), st.tuples(st.integers(0, 3), st.integers(1, 7)), min_size=1, max_size=4
)
"""Constant and time of each member, by its number."""
ROWS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 1, 2, -1]),
        st.sampled_from([0, 1, 1, 2, 2, 3, None]),
        st.sampled_from([0.0, 1.0, 2.5, None]),
        st.sampled_from(["x", "y"]),
    ),
    max_size=25,
)


def plan_of(shape: Shape, members: dict[int, tuple[int, int]], most: int = 10_000) -> Plan:
    catalog = Catalog()
    catalog.register("s", SCHEMA)
    for number, (constant, within) in sorted(members.items()):
        catalog.create(f"q{number}", shape.query(constant, within))
    plan = catalog.plan()
    return replace(plan, operators=tuple(_limited(one, most) for one in plan.operators))


def _limited(operator: Any, most: int) -> Any:
    if isinstance(operator, Query) and isinstance(operator.input, Matching):
        return replace(operator, input=replace(operator.input, partials_max=most))
    return operator


def events_of(rows: list[tuple[int, Any, Any, Any]], time: int = 1_000) -> list[Event]:
    events = []
    for step, a, d, k in rows:
        time += step
        events.append((time, {"a": a, "d": d, "k": k}))
    return events


def pushed(run: Run, events: list[Event]) -> dict[str, list[Any]]:
    found = defaultdict(list)
    for number, (time, row) in enumerate(events):
        for made in run.push_row("s", time, row).dicts():
            found[made.pop("stream")].append((number, made))
    return dict(found)


def interpreted(plan: Plan) -> Compiled:
    return Compiled(plan, jit=False).by_interpreter


def compiled(plan: Plan, jit: bool = False) -> Compiled:
    rules = Compiled(plan, jit=jit)
    assert not rules.why_not_generated("sorted")
    return rules


BEGINS_SHARED = Shape(
    "x y u", (("true", "z = a"), ("true", "w = a + {c}"), ("true", "z = a")), "none", False
)
"""Its first way is all members', its second a member's own."""
TWO_SHARED = Shape(
    "x y u", (("true", "z = a"), ("true", "f = d"), ("a == {c}", "z = a")), "none", False
)
TWO_ENDS = Shape(
    "x (y u){1,2}", (("true", "w = a + {c}"), ("true", "z = a"), ("true", "z = a")), "none", False
)
"""Matches of five rows and of three can end with one row."""


def steady(count: int) -> list[tuple[int, Any, Any, Any]]:
    """Rows of one instant each."""
    return [(1, number, 0.0, "x") for number in range(count)]


@settings(max_examples=examples(150), deadline=None)
@given(SHAPES, MEMBERS, ROWS)
@example(TWO_ENDS, {0: (1, 6), 1: (2, 6)}, steady(6))
def test_compiled_matchings_are_as_interpreted(
    shape: Shape, members: dict[int, tuple[int, int]], rows: list[tuple[int, Any, Any, Any]]
) -> None:
    check(plan_of(shape, members), events_of(rows))


def check(plan: Plan, events: list[Event]) -> None:
    """Both put out the same, and drop the same."""
    run, other = compiled(plan).start(), interpreted(plan).start()
    assert pushed(run, events) == pushed(other, events)
    assert run.dropped == other.dropped


ONE = {0: (1, 6)}
TWO = {0: (1, 6), 1: (2, 3)}


@settings(max_examples=examples(120), deadline=None)
@given(SHAPES, MEMBERS, ROWS, st.integers(1, 4))
@example(BEGINS_SHARED, ONE, steady(3), 1)
@example(BEGINS_SHARED, ONE, [*steady(2), (0, 1, 0.0, "x"), *steady(2)], 1)
@example(TWO_SHARED, ONE, [*steady(2), (0, 1, 0.0, "x"), *steady(2)], 1)
@example(TWO_SHARED, TWO, [(0, 1, 0.0, "x")] * 4 + [(4, 1, 0.0, "x"), (0, 1, 0.0, "x")] * 2, 1)
@example(TWO_ENDS, ONE, steady(5), 1)
def test_the_oldest_of_too_many_ways_end(
    shape: Shape,
    members: dict[int, tuple[int, int]],
    rows: list[tuple[int, Any, Any, Any]],
    most: int,
) -> None:
    check(plan_of(shape, members, most), events_of(rows))


@settings(max_examples=examples(60), deadline=None)
@given(SHAPES, MEMBERS, ROWS, st.integers(0, 25))
def test_a_restored_run_goes_on(
    shape: Shape,
    members: dict[int, tuple[int, int]],
    rows: list[tuple[int, Any, Any, Any]],
    cut: int,
) -> None:
    plan, events = plan_of(shape, members), events_of(rows)
    run = compiled(plan).start()
    pushed(run, events[:cut])
    data = take(run)
    again = restore(Compiled(plan, jit=False, seed=seed_of(data)), data)
    assert pushed(again, events[cut:]) == pushed(run, events[cut:])


@settings(max_examples=examples(100), deadline=None)
@given(SHAPES, MEMBERS, MEMBERS, ROWS, st.integers(0, 25))
@example(TWO_SHARED, {0: (1, 6)}, {0: (1, 6), 1: (1, 5)}, [(1, 1, 0.0, "x")] * 4, 1)
@example(TWO_SHARED, {0: (1, 6)}, {0: (1, 6), 1: (1, 5)}, [(1, 1, 0.0, "x")] * 4, 2)
def test_members_come_and_go(
    shape: Shape,
    before: dict[int, tuple[int, int]],
    after: dict[int, tuple[int, int]],
    rows: list[tuple[int, Any, Any, Any]],
    cut: int,
) -> None:
    """Those that stay as they are go on; those that change, and new ones, begin empty."""
    events = events_of([(max(step, 0), *rest) for step, *rest in rows])
    plans = plan_of(shape, before), plan_of(shape, after)
    results = []
    for make in (compiled, interpreted):
        run = make(plans[0]).start()
        first = pushed(run, events[:cut])
        run, _ = changed(run, plans[1])
        results.append((first, pushed(run, events[cut:]), run.dropped))
    assert results[0] == results[1]


@pytest.mark.parametrize("pattern", [campaign.only("x y u"), "x (y | u)+"])
@pytest.mark.parametrize("gaps", [campaign.only("none"), "invisible"])
def test_machine_code_says_the_same(pattern: str, gaps: str) -> None:
    symbols = (("true", "z = a"), ("a - z == {c}", "w = a"), ("d > f or a > z + {c}", "f = d"))
    shape = Shape(pattern, symbols, gaps, is_filtered=False)
    plan = plan_of(shape, {number: (number % 3, 3 + number % 2) for number in range(6)})
    rows = [(n % 3 > 0, n * 7 % 5, n * 3 % 4 / 2, "xy"[n % 2]) for n in range(400)]
    events = events_of([(int(step), *rest) for step, *rest in rows])
    made = pushed(compiled(plan, jit=True).start(), events)
    assert made == pushed(interpreted(plan).start(), events)
    assert sum(map(len, made.values())) > 20


def test_many_ways_at_once_find_room() -> None:
    """Hundreds of alternatives in one instant: rings and output grow in the middle of a batch."""
    shape = Shape(
        "x y u", (("true", "z = a"), ("a >= z", "w = a"), ("a > {c}", "f = d")), "none", False
    )
    plan = plan_of(shape, {0: (1, 9), 1: (2, 9)})
    rows = [(0, n % 3, 1.0, "x") for n in range(200)]
    rows += [(int(not n), n % 3, 1.0, "x") for n in range(20)]
    rows += [(int(not n), 2, 1.0, "x") for n in range(2)]
    events = events_of(rows)
    run = compiled(plan).start()
    columns = {name: [row[name] for _, row in events] for name in SCHEMA}
    made = run.push("s", columns, [time for time, _ in events])
    wanted = pushed(interpreted(plan).start(), events)
    assert len(made) == sum(map(len, wanted.values())) > 1_000
    assert [row["z"] for row in made.of("q0")] == [row["z"] for _, row in wanted["q0"]]


def test_what_is_not_compiled_says_why() -> None:
    shape = Shape("x y", (("true", "z = a"), ("a > z", "z = a"), ("true", "z = a")), "none", False)
    plan = plan_of(shape, {0: (1, 5)})

    def reason(**changes: Any) -> str:
        (query,) = plan.queries
        assert isinstance(query.input, Matching)
        changed = replace(query, input=replace(query.input, **changes))
        return why_not_generated(replace(plan, operators=(changed,)))["q0"]

    (query,) = plan.queries
    assert isinstance(query.input, Matching)
    symbol = query.input.symbols[0]
    wrong = replace(symbol, sets=((2, symbol.sets[0][1]), (0, query.input.symbols[1].condition)))
    assert "z is given a value of type bool" in reason(symbols=(wrong, *query.input.symbols[1:]))
    many = shape.query(1, 5)
    many = replace(many, pattern="x{90} y")
    catalog = Catalog()
    catalog.register("s", SCHEMA)
    catalog.create("q0", many)
    rules = Compiled(catalog.plan(), jit=False)
    assert "more than 40 states" in rules.why_not_generated("sorted")["q0"]
