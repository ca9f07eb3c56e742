"""Correlations and joins on every database: what meets, in which order, by which windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.database.dialects.sqlite import SQLITE
from cep.database.program import build, prepared
from cep.database.steps import Program
from cep.jepc import (
    Correlator,
    CountWindow,
    Event,
    Filter,
    NativeProvider,
    Projector,
    Stream,
    TimeWindow,
)
from cep.jepc.catalog import Catalog
from cep.jepc.queries import Query
from cep.plan.steps import Insert
from tests.campaign import examples
from tests.database.answers import (
    Asked,
    asked_in_turn,
    event,
    in_any_order,
    naive,
    native,
    plan_of,
    pushed,
)
from tests.database.conftest import NAMES
from tests.jepc.generated import EVENTS, TESTS, correlators, inputs
from tests.reference.generate_joins import JoinCase, joins
from tests.reference.jepc import Tests

Raw = Sequence[tuple[str, int, int, str]]
START_MSC = 1_000_000
SIZES = st.sampled_from([1, 2, 7, 1_000])
OWN_TESTS: Tests = {
    "s.a == b": lambda s, r, t: s["a"] == r["b"],
    "s.a - b == 1 and t.a > b": lambda s, r, t: s["a"] - r["b"] == 1 and t["a"] > r["b"],
    "t.a == b + 1 and s.k == t.k": lambda s, r, t: t["a"] == r["b"] + 1 and s["k"] == t["k"],
    "x.a == y.a": lambda x, y: x["a"] == y["a"],
    "x.a - y.a == 1": lambda x, y: x["a"] - y["a"] == 1,
    "x.a > y.a": lambda x, y: x["a"] > y["a"],
    **TESTS,
}

asked = pytest.fixture(asked_in_turn, scope="module", params=NAMES, name="asked")
quick = settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))


def events_of(raw: Raw) -> list[Event]:
    """Events with their times, some of which are the same."""
    time, made = START_MSC, []
    for stream, step, value, key in raw:
        time += step
        made.append(event(stream, time, value, key))
    return made


@st.composite
def of_three(draw: st.DrawFn) -> Correlator:
    """Three inputs, two of them one stream."""
    conditions = [None, *(text for text in OWN_TESTS if "s." in text)]
    condition = draw(st.sampled_from(conditions))
    return Correlator(
        [draw(inputs("s")), draw(inputs("r")), draw(inputs("s")).named("t")], condition
    )


@st.composite
def of_one(draw: st.DrawFn) -> Correlator:
    """A stream with itself."""
    conditions = [None, *(text for text in OWN_TESTS if "x." in text)]
    condition = draw(st.sampled_from(conditions))
    return Correlator([draw(inputs("s")).named("x"), draw(inputs("s")).named("y")], condition)


@quick
@given(st.one_of(correlators(), of_three(), of_one()), EVENTS, SIZES)
def test_all_combinations_in_order(asked: Asked, query: Correlator, raw: Raw, size: int) -> None:
    events, queries = events_of(raw), {"q": query}
    found = asked.tell(queries, events, size)
    assert found == native(queries, events)
    assert in_any_order(found["q"]) == in_any_order(naive(query, events, OWN_TESTS))


@quick
@given(correlators(), st.sampled_from([TimeWindow(3), CountWindow(3), TimeWindow(4, 2)]), EVENTS)
def test_several_rows_of_one_event(asked: Asked, inner: Any, window: Any, raw: Raw) -> None:
    """Combinations meet others, and themselves."""
    several = Projector(inner, {"a": "a", "k": "k"}).window(window)
    queries: dict[str, Query] = {
        "met": Correlator([several.named("s"), Stream("r").window(TimeWindow(4))], "a == b"),
        "selves": Correlator([several.named("x"), several.named("y")], "x.a - y.a == 1"),
    }
    events = events_of(raw)
    assert asked.tell(queries, events, 5) == native(queries, events)


@quick
@given(joins(), st.integers(1, 5))
def test_joins_of_rule_files(asked: Asked, case: JoinCase, size: int) -> None:
    """Outer joins, and those that one side triggers."""
    (query,) = case.plan.queries
    assert isinstance(query.output, Insert)
    if query.output.events != "current":
        return
    events = [Event(stream, time, tuple(values)) for stream, time, values in case.rows]
    engine = NativeProvider(jit=False)
    asked.provider._runner.clear()
    for provider in (engine, asked.provider):
        provider.change(case.plan, ["Out"])
    found = [
        one for start in range(0, len(events), size)
        for one in asked.provider.push(events[start : start + size])
    ]  # fmt: skip
    assert found == engine.push(events)


LEAST, GREATEST = -(2**31), 2**31 - 1
ENDS = st.sampled_from([LEAST, LEAST + 1, LEAST + 2, -1, 0, 1, 2, GREATEST - 1, GREATEST])


@quick
@given(st.lists(st.tuples(st.sampled_from("sr"), ENDS), max_size=12), SIZES, st.booleans())
def test_differences_that_wrap(asked: Asked, raw: Any, size: int, is_far: bool) -> None:
    """An index range is not narrower than the equality, whose sums have 32 bits."""
    far = GREATEST if is_far else 3
    texts = ("a - b == {}", "a == b + {}", "{} - a == b", "b + a == {} - 1", "a + 1 - {} == b + 2")
    windows = [Stream(name).window(CountWindow(5)) for name in "sr"]
    queries: dict[str, Query] = {
        f"q{shape}_{number}": Correlator(windows, text.format(number))
        for shape, text in enumerate(texts)
        for number in (0, 1, 2, far)
    }
    events = [event(stream, START_MSC, value, "x") for stream, value in raw]
    assert asked.tell(queries, events, size) == native(queries, events)


NUMBERS = st.one_of(st.none(), ENDS, st.integers(0, 3))
LONGS = st.one_of(st.none(), st.sampled_from([2**62, -(2**62), 2**63 - 1, -7]))


def _of_whole_numbers() -> Catalog:
    """Families whose results are whole numbers, nulls among them."""
    made = Catalog()
    made.register("l", {"a": "int", "n": "long"})
    made.register("r", {"b": "int", "m": "long"})
    shapes = ("a - b == {}", "n - a == m + {}", "a == b + {} and a == b + 1", "m - b == {}")
    for shape, condition in enumerate(shapes):
        for number in (0, 1, 2 if shape else 20):
            size = TimeWindow(2 + number) if shape != 2 else CountWindow(2 + number)
            windows = [Stream(name).window(size) for name in "lr"]
            made.create(f"q{shape}_{number}", Correlator(windows, condition.format(number)))
    return made


@quick
@given(
    st.lists(st.tuples(st.sampled_from("lr"), st.integers(0, 1), NUMBERS, LONGS), max_size=20),
    SIZES,
)
def test_families_of_whole_numbers(asked: Asked, raw: Any, size: int) -> None:
    catalog = _of_whole_numbers()
    names = [query.name for query in catalog.plan().queries]
    engine = NativeProvider(jit=False)
    asked.provider._runner.clear()
    for provider in (engine, asked.provider):
        provider.change(catalog.plan(), names)
    time, events = START_MSC, []
    for stream, step, small, large in raw:
        time += step
        events.append(Event(stream, time, (small, large)))
    queries = {name: Filter(Stream("l"), "a > 0") for name in names}
    found = pushed(asked.provider, queries, events, size)
    assert found == pushed(engine, queries, events, 1_000)


def _program(step: int) -> Program:
    """Of five queries, whose constants lie so far apart."""
    catalog = Catalog()
    catalog.register("l", {"a": "int"})
    catalog.register("r", {"b": "int"})
    for number in range(5):
        windows = [Stream(name).window(TimeWindow(9 + number)) for name in "lr"]
        catalog.create(f"q{number}", Correlator(windows, f"a - b == {number * step} + 1"))
    return build(prepared(catalog.plan()), [f"q{number}" for number in range(5)], SQLITE)


def test_a_family_finds_its_rows_by_an_index() -> None:
    program = _program(1)
    (step,) = program.steps
    assert len(step.members) == 5
    indexed = [text for one in program.tables for text in one.indexes.values()]
    assert sum("(a_0, ts, seq)" in text for text in indexed) == 2
    assert sum("PRIMARY KEY (c_0)" in one.create for one in program.tables) == 1
    expected = "new l, r by b, 5 queries by their constants; "
    assert step.strategy == expected + "new r, l by a, 5 queries by their constants"
    (step,) = _program(50).steps
    assert step.strategy == "new l, each of 5 queries, r by b; new r, each of 5 queries, l by a"


def test_rows_that_take_turns_are_refused(asked: Asked) -> None:
    """Two filters of combinations that come one by one, joined: our engine lets them meet so."""
    pairs = Correlator([Stream(name).window(TimeWindow(5)) for name in "sr"])
    halves = [Filter(Stream("pairs"), f"a % 2 == {rest}").window(CountWindow(2)) for rest in (0, 1)]
    queries: dict[str, Query] = {
        "pairs": pairs,
        "halves": Correlator([halves[0].named("x"), halves[1].named("y")]),
    }
    (reason,) = asked.refusals(queries)
    assert "in turns" in reason
    whole = [Stream("pairs").window(CountWindow(2)).named(name) for name in "xy"]
    assert not asked.refusals({"pairs": pairs, "whole": Correlator(whole)})


@quick
@given(st.one_of(correlators(), of_one()), EVENTS, EVENTS, SIZES)
def test_a_correlation_that_comes_later(
    asked: Asked, query: Correlator, raw: Raw, more: Raw, size: int
) -> None:
    """It begins with nothing, beside one that has its rows already."""
    events = events_of([*raw, *more])
    engine = NativeProvider(jit=False)
    asked.provider._runner.clear()
    first: dict[str, Query] = {"early": query}
    for queries, some in (
        (first, events[: len(raw)]),
        ({**first, "late": query}, events[len(raw) :]),
    ):
        for provider in (asked.provider, engine):
            provider.change(plan_of(queries), list(queries))
        assert pushed(asked.provider, queries, some, size) == pushed(engine, queries, some, 1_000)
