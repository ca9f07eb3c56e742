"""Generated queries over two streams of small numbers, and generated events."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cep.jepc.queries import (
    Aggregate,
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    Input,
    PatternMatcher,
    PatternSymbol,
    Stream,
    TimeWindow,
)
from tests.reference.jepc import Tests

SCHEMAS = {"s": {"a": "int", "k": "string"}, "r": {"b": "int", "g": "string"}}
NUMBER = {"s": "a", "r": "b"}
KEY = {"s": "k", "r": "g"}

TESTS: Tests = {
    "a > 2": lambda row: row["a"] > 2,
    "b > 2": lambda row: row["b"] > 2,
    "a % 2 == 0": lambda row: row["a"] % 2 == 0,
    "b % 2 == 0": lambda row: row["b"] % 2 == 0,
    "a == b": lambda left, right: _named(left, "a") == _named(right, "b"),
    "a - b == 1": lambda left, right: _named(left, "a") - _named(right, "b") == 1,
    "a > b": lambda left, right: _named(left, "a") > _named(right, "b"),
    "true": lambda row, variables: True,
    "a": lambda row, variables: row["a"],
    "a == z + 1": lambda row, variables: _known(variables) and row["a"] == variables["z"] + 1,
    "a > z": lambda row, variables: _known(variables) and row["a"] > variables["z"],
    "a < 3": lambda row, variables: row["a"] < 3,
    "a >= 3": lambda row, variables: row["a"] >= 3,
}


def _known(variables: dict[str, Any]) -> bool:
    return variables.get("z") is not None


def _named(row: dict[str, Any], name: str) -> Any:
    return row[name]


def windows(stream: str) -> st.SearchStrategy[Any]:
    """Windows by time and by number of events, with and without a jump or a key."""
    sizes = st.integers(1, 6)
    jumps = st.sampled_from([1, 1, 2, 3, 5])
    keys = st.sampled_from([(), (KEY[stream],)])
    return st.one_of(
        st.builds(TimeWindow, sizes, jumps), st.builds(CountWindow, sizes, jumps, keys)
    )


@st.composite
def inputs(draw: st.DrawFn, stream: str) -> Input:
    """A stream in a window, perhaps filtered, before or behind the window."""
    node: Input = Stream(stream)
    filters = st.sampled_from([f"{NUMBER[stream]} > 2", f"{NUMBER[stream]} % 2 == 0"])
    if draw(st.booleans()):
        node = Filter(node, draw(filters))
    node = node.window(draw(windows(stream)))
    if draw(st.booleans()):
        node = Filter(node, draw(filters))
    return node.named(stream)


@st.composite
def correlators(draw: st.DrawFn) -> Correlator:
    """Two streams, in either order of arrival, with unequal windows."""
    condition = draw(st.sampled_from(["a == b", "a - b == 1", "a > b", None]))
    return Correlator([draw(inputs("s")), draw(inputs("r"))], condition)


AGGREGATES = ["count", "sum", "avg", "min", "max"]


@st.composite
def aggregators(draw: st.DrawFn) -> Aggregator:
    """Aggregates of a stream or of a correlation, in all or in groups."""
    over: Input = draw(st.one_of(inputs("s"), correlators()))
    names = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True))
    values = {name: Aggregate(name, () if name == "count" else ("a",)) for name in names}
    groups = draw(st.sampled_from([(), ("k",)]))
    return Aggregator(over, values, groups)


@st.composite
def matchers(draw: st.DrawFn) -> PatternMatcher:
    """Patterns with alternatives, repetitions and variables."""
    pattern = draw(
        st.sampled_from(["x y", "x y y", "x y | y x", "x y+", "x u* y", "(x | u) y?", "x{2} y"])
    )
    conditions = st.sampled_from(["a == z + 1", "a > z", "a < 3", "a >= 3", "true"])
    symbols = {
        "x": PatternSymbol(draw(st.sampled_from(["true", "a < 3"])), {"z": "a"}),
        "y": PatternSymbol(draw(conditions), draw(st.sampled_from([{}, {"w": "a"}, {"z": "a"}]))),
        "u": PatternSymbol(draw(conditions)),
    }
    stream: Input = Stream("s")
    if draw(st.booleans()):
        stream = Filter(stream, "a > 2")
    gaps = draw(st.sampled_from(["none", "invisible"]))
    within = draw(st.integers(1, 6))
    variables = {"z": "int", "w": "int"}
    return PatternMatcher(stream, pattern, within, symbols, variables, ("z", "w"), gaps)


@st.composite
def networks(draw: st.DrawFn) -> Input:
    """Any operator, or one on top of another."""
    base = draw(st.one_of(inputs("s"), correlators(), aggregators(), matchers()))
    if isinstance(base, Filter | Correlator | Aggregator | PatternMatcher) and draw(st.booleans()):
        return base
    if isinstance(base, PatternMatcher):
        over = base.window(TimeWindow(draw(st.integers(1, 6)))) if draw(st.booleans()) else base
        return Aggregator(over, {"count": Aggregate("count")})
    if isinstance(base, Stream):
        return Filter(base, "a > 2")
    return base if not isinstance(base, Filter) else Aggregator(base, {"count": Aggregate("count")})


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["s", "s", "r"]),
        st.integers(0, 2),
        st.integers(0, 5),
        st.sampled_from(["x", "y"]),
    ),
    max_size=25,
)
"""Stream, time since the event before, number, key."""
