"""Patterns on every database: words, repetitions without end, gaps, variables of all types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.database import purging
from cep.database.drivers import connect, values_of
from cep.database.runner import Options, Runner, _numbers
from cep.jepc import (
    Aggregator,
    CountWindow,
    EventProcessor,
    Filter,
    NativeProvider,
    PatternMatcher,
    PatternSymbol,
    QueryError,
    Stream,
    TimeWindow,
    count,
)
from cep.jepc.catalog import Catalog
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event, Provider
from cep.jepc.queries import Input, Query
from cep.plan.nodes import Plan
from tests.campaign import examples
from tests.database.conftest import NAMES
from tests.database.servers import url_for

SCHEMA = {"a": "int", "d": "double", "k": "string", "t": "long"}
VARIABLES = {"z": "int", "w": "double", "n": "string", "l": "long"}
START_MSC = 1_000
EXAMPLES = examples(20)

PATTERNS = (
    "x", "x y", "x y u", "x y?", "x (y | u) y", "x y | u", "y x", "x{2,3} y", "(x | y){2}",
    "x y+", "x y* u", "x+", "(x y)+", "x{9} y", "(x | y)* u",
)  # fmt: skip
CONDITIONS = (
    "true", "a > 1", "a == {0}", "a - z == {0}", "a > z", "d > w", "d - w >= {0}.5", "k == n",
    "k != n", "z is null", "a is null", "not (a > z)", "d > a", "t > l", "a * 2 > z or d == w",
    "eventTimestamp() - l < {0}", "eventTimestamp() % 2 == 0",
)  # fmt: skip
SETS: tuple[dict[str, str], ...] = (
    {"z": "a", "w": "d", "n": "k"},
    {},
    {"z": "a"},
    {"w": "d", "n": "k"},
    {"z": "a", "w": "a"},
    {"z": "z + a", "l": "z"},
    {"l": "eventTimestamp()", "w": "d * 2"},
    {"w": "a + {0}"},
)


@st.composite
def symbols(draw: st.DrawFn) -> dict[str, tuple[str, dict[str, str]]]:
    """Conditions and assignments, in which a constant is left open."""
    first = draw(st.sampled_from(("true", "true", "d > -1", *CONDITIONS)))
    conditions = [first, *(draw(st.sampled_from(CONDITIONS)) for _ in "yu")]
    return {
        name: (condition, draw(st.sampled_from(SETS)))
        for name, condition in zip("xyu", conditions, strict=True)
    }


@st.composite
def queries(draw: st.DrawFn) -> dict[str, Query]:
    """Matchings of one shape, or several, and what reads them."""
    found: dict[str, Query] = {}
    for shape in range(draw(st.integers(1, 2))):
        pattern = draw(st.sampled_from(PATTERNS))
        given = draw(symbols())
        source = draw(st.sampled_from(SOURCES))
        gaps = draw(st.sampled_from(["none", "none", "invisible"]))
        output = draw(st.sampled_from([("z", "w"), ("w", "n", "l"), ()]))
        for member in range(draw(st.integers(1, 4))):
            constants = st.integers(-1, 3)
            definitions = {
                name: PatternSymbol(
                    condition.format(draw(constants)),
                    {key: value.format(draw(constants)) for key, value in sets.items()},
                )
                for name, (condition, sets) in given.items()
            }
            within = draw(st.integers(2, 9))
            found[f"q{shape}_{member}"] = PatternMatcher(
                source, pattern, within, definitions, VARIABLES, output, gaps
            )
    if draw(st.booleans()):
        over = Stream("q0_0").window(TimeWindow(3))
        found["over"] = Aggregator(over, {"n": count()})
    return found


SOURCES: tuple[Input, ...] = (
    Stream("s"),
    Stream("s"),
    Filter(Stream("s"), "a > 0"),
    Filter(Stream("s").window(CountWindow(2, 3)), "a < 3"),
    Stream("s").window(TimeWindow(1, 3)),
)


def _or_null(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*[values] * 7, st.none())


ROWS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 1, 1, 2, 9]),
        st.tuples(
            _or_null(st.integers(-1, 4)),
            _or_null(st.sampled_from([-1.5, 0.0, 0.5, 2.0, 3.0])),
            _or_null(st.sampled_from("xy")),
            _or_null(st.sampled_from([-3, 0, 2, 2**53 + 1])),
        ),
    ),
    min_size=5,
    max_size=20,
)
"""Time since the event before, values."""
Told = dict[str, list[tuple[int, tuple[Any, ...]]]]


def plan_of(asked: Mapping[str, Query]) -> Plan:
    catalog = Catalog()
    catalog.register("s", SCHEMA)
    for name, query in asked.items():
        catalog.create(name, query)
    return catalog.plan()


def events_of(rows: Any) -> list[Event]:
    time, found = START_MSC, []
    for step, values in rows:
        time += step
        found.append(Event("s", time, values))
    return found


def told(provider: Provider, events: Sequence[Event], size: int) -> Told:
    """The results by query, events pushed so many at a time."""
    found: Told = {}
    for start in range(0, len(events), size):
        for one in provider.push(events[start : start + size]):
            found.setdefault(one.query, []).append((one.time_msc, tuple(one.values.values())))
    return found


@pytest.fixture(scope="module", params=NAMES)
def shared(request: pytest.FixtureRequest) -> Iterator[DatabaseProvider]:
    """A database for many plans, one after the other; rows go as soon as they may."""
    provider = DatabaseProvider(url_for(request), prefix="matches_")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(purging, "PURGE_ROWS", 1)
        patch.setattr(purging, "MOMENT_ROWS", 1)
        patch.setattr(purging, "LOOK_EVENTS", 1)
        yield provider
    provider._runner.clear()
    provider.close()


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(queries(), ROWS, st.sampled_from([1, 3, 1_000]))
def test_generated(shared: DatabaseProvider, asked: dict[str, Query], rows: Any, size: int) -> None:
    plan, events = plan_of(asked), events_of(rows)
    assert shared.refusals(plan) == {}
    shared._runner.clear()
    shared.change(plan, list(asked))
    native = NativeProvider(jit=False)
    native.change(plan, list(asked))
    assert told(shared, events, size) == told(native, events, 1_000)


@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(queries(), ROWS, ROWS)
def test_a_later_query_begins_with_nothing(
    shared: DatabaseProvider, asked: dict[str, Query], rows: Any, more: Any
) -> None:
    """Even in the middle of an instant; those that stay go on."""
    first = {"q": PatternMatcher(Stream("s"), "x y+", 5, RISING, {"z": "int"}, ("z",))}
    both = {**first, **asked}
    events = events_of([*rows, *more])
    native = NativeProvider(jit=False)
    shared._runner.clear()
    for plan, some in (
        (plan_of(first), events[: len(rows)]),
        (plan_of(both), events[len(rows) :]),
    ):
        for provider in (shared, native):
            provider.change(plan, [query.name for query in plan.queries])
        assert told(shared, some, 3) == told(native, some, 1_000)


RISING = {"x": PatternSymbol("true", {"z": "a"}), "y": PatternSymbol("a > z", {"z": "a"})}


def _like(number: int) -> PatternMatcher:
    made = {
        "x": PatternSymbol("true", {"z": "a"}),
        "y": PatternSymbol(f"a - z == {number}", {"z": "a"}),
    }
    return PatternMatcher(Stream("s"), "x y", 500 - number, made, {"z": "int"}, ("z",))


def test_patterns_of_one_shape_are_one_statement_that_finds_them_by_an_index() -> None:
    run = Runner(connect("sqlite://"), Options())
    asked: dict[str, Query] = {f"q{number}": _like(number) for number in range(30)}
    run.change(plan_of(asked), list(asked))
    (step,) = run.program.steps
    assert step.fetch is not None
    assert step.strategy.endswith("against a table of 30 queries")
    statement = step.fetch.statement
    columns = run._driver.fetch(
        f"EXPLAIN QUERY PLAN {statement.text}", statement.bound(_numbers(run.progress))
    )
    lines = list(values_of(columns[-1]))
    assert lines[0].endswith("USING INTEGER PRIMARY KEY (rowid>?)"), lines
    assert not any(line.startswith("SCAN") for line in lines), lines
    assert any("SEARCH p USING" in line and "rowid=?" in line for line in lines), lines
    run.close()


@pytest.mark.parametrize(
    ("pattern", "gaps", "strategy"),
    [
        ("x y", "none", "a word of 2 rows, joined from new rows back instant by instant"),
        ("x y? y", "none", "2 words of 2/3 rows, joined"),
        ("x y+", "none", "4 steps of an automaton, from a table of the partial matches"),
        ("x y", "invisible", "a word of 2 rows"),
        ("y x", "invisible", "a word of 2 rows"),
        ("y y", "invisible", "to the next instant that is heard"),
    ],
)
def test_strategies(pattern: str, gaps: str, strategy: str) -> None:
    """A symbol that every row emits leaves no gaps."""
    used = {name: symbol for name, symbol in RISING.items() if name in pattern}
    query = PatternMatcher(Stream("s"), pattern, 5, used, {"z": "int"}, ("z",), gaps)
    provider = DatabaseProvider()
    provider.change(plan_of({"q": query}), ["q"])
    assert strategy in provider.explain()
    provider.close()


@pytest.mark.parametrize(
    ("pattern", "variables", "sets", "reason"),
    [
        ("x{1000}", {"z": "int"}, {}, "notimpl: a pattern of more than 400 steps"),
        ("x", {"z": "int"}, {"z": "d"}, "never: z, of type int, is set to a double"),
        ("x", {"z": "float"}, {"z": "a"}, "never: z, of type float, is set to a int"),
        ("x", {"z": "string"}, {"z": "a"}, "never: z, of type string, is set to a int"),
    ],
)
def test_what_is_refused(
    pattern: str, variables: dict[str, str], sets: dict[str, str], reason: str
) -> None:
    query = PatternMatcher(Stream("s"), pattern, 5, {"x": PatternSymbol("true", sets)}, variables)
    with EventProcessor(DatabaseProvider()) as processor:
        processor.register_stream("s", SCHEMA)
        with pytest.raises(QueryError, match=reason):
            processor.create_query("q", query)


def test_matches_of_one_event_come_in_the_order_of_our_engine(url: str) -> None:
    """By the rows before it, from the last one back, then by symbols; longer ones first."""
    made = {
        "x": PatternSymbol("true", {"p": "p * 10 + a"}),
        "y": PatternSymbol("true", {"p": "p * 10 + a + 5"}),
    }
    start = {"o": PatternSymbol("true", {"p": "a"}), **made}
    asked: dict[str, Query] = {
        "finite": PatternMatcher(Stream("s"), "o (x | y)? (x | y)", 9, start, {"p": "int"}),
        "endless": PatternMatcher(Stream("s"), "o (x | y)+", 9, start, {"p": "int"}),
    }
    events = [Event("s", 10 + n // 2, (n % 5, 0.0, "", 0)) for n in range(8)]
    native, provider = NativeProvider(jit=False), DatabaseProvider(url)
    for one in (native, provider):
        one.change(plan_of(asked), list(asked))
    expected = told(native, events, 1_000)
    assert len(expected["endless"]) > len(set(expected["endless"])) / 2 > 20
    assert told(provider, events, 3) == expected
    provider.close()


def test_ways_outlive_a_restart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'events.db'}"
    plan = plan_of(
        {
            "endless": PatternMatcher(Stream("s"), "x y+", 30, RISING, {"z": "int"}, ("z",)),
            "word": PatternMatcher(Stream("s"), "x y", 30, RISING, {"z": "int"}, ("z",)),
        }
    )
    names = ["endless", "word"]
    events = [Event("s", 1_000 + n, (n * 3 % 10, 0.0, "", 0)) for n in range(40)]
    native = NativeProvider(jit=False)
    native.change(plan, names)
    found: Told = {name: [] for name in names}
    for start in (0, 9, 18):
        provider = DatabaseProvider(url, batch_events=4)
        provider.change(plan, names)
        assert provider.taken == start
        stop = start + 9 if start < 18 else len(events)
        for name, results in told(provider, events[start:stop], 1_000).items():
            found[name] += results
        provider.close()
    assert found == told(native, events, 1_000)
    assert len(found["endless"]) > len(found["word"]) > 10
