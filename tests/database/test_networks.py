"""Generated networks, families of like queries, and changes between events, on every database.

The naive reference says what the results are, our engine in which order; batches of any size give
the same. Nothing of all this is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.jepc import (
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    NativeProvider,
    PatternMatcher,
    PatternSymbol,
    Stream,
    TimeWindow,
    average,
    count,
    greatest,
    total,
)
from cep.jepc.provider import Event
from cep.jepc.queries import Input, Query
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
from tests.jepc.generated import EVENTS, TESTS, networks

Raw = Sequence[tuple[str, int, int, str]]
START_MSC = 1_000_000
EXAMPLES = examples(20)
CHANGES = examples(10)
FAMILY_MAX = 5
SIZES = st.sampled_from([1, 2, 7, 1_000])

asked = pytest.fixture(asked_in_turn, scope="module", params=NAMES, name="asked")
quick = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def events_of(raw: Raw) -> list[Event]:
    """Events with their times, a gap after every seventh."""
    time, made = START_MSC, []
    for number, (stream, step, value, key) in enumerate(raw):
        time += step + (9 if number % 7 == 6 else 0)
        made.append(event(stream, time, value, key))
    return made


@quick
@given(networks(), EVENTS, SIZES)
def test_networks(asked: Asked, network: Input, raw: Raw, size: int) -> None:
    assert not isinstance(network, Stream)
    queries: dict[str, Query] = {"q": network}
    events = events_of(raw)
    expected = native(queries, events)
    assert not asked.refusals(queries)
    assert asked.tell(queries, events, size) == expected
    assert in_any_order(expected["q"]) == in_any_order(naive(network, events, TESTS))


_windows = st.one_of(
    st.builds(TimeWindow, st.integers(1, 8)), st.builds(TimeWindow, st.integers(1, 8), st.just(3))
)
_numbers = st.integers(-1, 3)


def _aggregated(draw: Any, shape: int) -> Query:
    windows = (st.builds(CountWindow, st.integers(1, 5)), _windows)
    values = (
        {"n": count()},
        {"n": count(), "t": total("a")},
        {"m": average("a"), "g": greatest("a")},
    )
    having = None if "n" not in values[shape % 3] else f"n > {draw(_numbers)}"
    window = draw(windows[shape % 2])
    return Aggregator(
        Stream("s").window(window), values[shape % 3], ["k"] if shape % 4 == 0 else [], having
    )


def _correlated(draw: Any, shape: int) -> Query:
    condition = ("a - b == {}", "a == b + {}", "a > b + {}", "a - b >= {} and a - b < 3")[shape % 4]
    left, right = (Stream(name).window(draw(_windows)) for name in "sr")
    return Correlator([left, right], condition.format(draw(_numbers)))


def _matched(draw: Any, shape: int) -> Query:
    pattern = ("x y", "x y y", "x y | y x", "x (y | u)")[shape % 4]
    symbols = {
        "x": PatternSymbol("true", {"z": "a"}),
        "y": PatternSymbol(f"a - z == {draw(_numbers)}", {"w": "a"}),
        "u": PatternSymbol(f"a > {draw(_numbers)}"),
    }
    used = {name: symbol for name, symbol in symbols.items() if name in pattern}
    within = draw(st.integers(1, 6))
    variables = {"z": "int", "w": "int"}
    return PatternMatcher(Stream("s"), pattern, within, used, variables, ("z", "w"))


def _filtered(draw: Any, shape: int) -> Query:
    return Filter(
        Stream("s"), ("a == {}", "a > {}", "a % 2 == {}")[shape % 3].format(draw(_numbers))
    )


@st.composite
def families(draw: st.DrawFn) -> dict[str, Query]:
    """Queries of one shape or two, with constants and windows of their own; some read others."""
    queries: dict[str, Query] = {}
    for number in range(draw(st.integers(1, 2))):
        make = draw(st.sampled_from([_aggregated, _correlated, _matched, _filtered]))
        shape = draw(st.integers(0, 11))
        for member in range(draw(st.integers(1, FAMILY_MAX))):
            queries[f"q{number}_{member}"] = make(draw, shape)
    if draw(st.booleans()):
        over = Stream(next(iter(queries))).window(TimeWindow(draw(st.integers(1, 6))))
        queries["over"] = Aggregator(over, {"n": count()})
    return queries


@quick
@given(families(), EVENTS, SIZES)
def test_families(asked: Asked, queries: dict[str, Query], raw: Raw, size: int) -> None:
    events = events_of(raw)
    assert not asked.refusals(queries)
    assert asked.tell(queries, events, size) == native(queries, events)


@settings(quick, max_examples=CHANGES)
@given(families(), families(), EVENTS, EVENTS, SIZES)
def test_changes(
    asked: Asked, first: dict[str, Query], second: dict[str, Query], raw: Raw, more: Raw, size: int
) -> None:
    """Queries that come later begin with nothing; those that stay go on."""
    both = {**first, **{f"later_{name}": query for name, query in second.items() if name != "over"}}
    events = events_of([*raw, *more])
    asked.begin(first)
    engine = NativeProvider(jit=False)
    engine.change(plan_of(first), list(first))
    for queries, some in ((first, events[: len(raw)]), (both, events[len(raw) :])):
        for provider in (asked.provider, engine):
            provider.change(plan_of(queries), list(queries))
        assert pushed(asked.provider, queries, some, size) == pushed(engine, queries, some, 1_000)


TWINS: dict[str, Query] = {
    "filter": Filter(Stream("s"), "a > 1"),
    "extremes": Aggregator(Stream("s").window(TimeWindow(5)), {"g": greatest("a")}, ["k"]),
    "counts": Aggregator(Stream("s").window(CountWindow(3)), {"n": count()}),
    "correlation": Correlator([Stream(name).window(TimeWindow(5)) for name in "sr"], "a == b"),
    "pattern": PatternMatcher(
        Stream("s"), "x y", 5, {"x": PatternSymbol("a > 1", {"z": "a"}), "y": PatternSymbol()},
        {"z": "int"}, ("z",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_equal_queries_are_a_family_without_constants(asked: Asked, name: str) -> None:
    queries = {"one": TWINS[name], "two": TWINS[name]}
    events = events_of([("ssr"[n % 3], n % 2, n % 4, "xy"[n % 2]) for n in range(30)])
    expected = native(queries, events)
    assert expected["one"] == expected["two"] != []
    for size in (1, 1_000):
        assert asked.tell(queries, events, size) == expected
