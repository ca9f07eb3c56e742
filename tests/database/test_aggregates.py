"""Aggregates on each database: those of the interpreter, bit by bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.database import purging
from cep.database.errors import DatabaseError
from cep.interpreter.interpreter import Interpreter
from cep.jepc.catalog import Catalog
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event
from cep.jepc.queries import (
    Aggregate,
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    Input,
    Stream,
    TimeWindow,
    Window,
)
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.campaign import examples
from tests.database.conftest import NAMES

SCHEMA = {"a": "int", "l": "long", "d": "double", "f": "float", "k": "string", "b": "bool"}
RULES = """
define stream s (a int, l long, d double, f float, k string, b bool);
define stream t (a int, l long, d double, f float, k string, b bool);
"""
Told = dict[str, list[tuple[int, str]]]
"""Results by query: time, values as text (0.0 is not -0.0, nor 1 the same as 1.0)."""

WINDOWS = st.one_of(
    st.builds(TimeWindow, st.integers(1, 6), st.sampled_from([1, 1, 1, 2, 3, 9])),
    st.builds(CountWindow, st.integers(1, 5), st.sampled_from([1, 1, 2, 3, 7])),
    st.builds(
        CountWindow,
        st.integers(1, 3),
        st.sampled_from([1, 2, 3]),
        st.sampled_from([("k",), ("b", "a")]),
    ),
)
NUMBERS = st.tuples(
    st.sampled_from(["sum", "avg", "stdDev", "min", "max"]), st.sampled_from(["a", "l", "d", "f"])
)
OTHERS = st.sampled_from(
    [("count",), ("and", "b"), ("or", "b"), ("distinctCount", "a"), ("distinctCount", "k")]
)
VALUES = st.tuples(
    st.none() | st.integers(-3, 3) | st.sampled_from([2**31 - 1, -(2**31)]),
    st.none() | st.integers(-3, 3) | st.sampled_from([2**63 - 1, 1 - 2**63, 2**40]),
    st.none() | st.sampled_from([0.0, 0.1, -0.3, 1e6, 2.0**-40, 1.0837]),
    st.none() | st.sampled_from([0.5, 1.25, -3.0]),
    st.none() | st.sampled_from(["", "x", "y"]),
    st.none() | st.booleans(),
)
STEPS = st.tuples(st.sampled_from("sst"), st.sampled_from([0, 0, 1, 1, 2, 11]), VALUES)


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Events of two streams, often of one time."""
    time, found = 1_000, []
    for stream, step, values in draw(st.lists(STEPS, max_size=30)):
        time += step
        found.append(Event(stream, time, values))
    return found


@st.composite
def queries(draw: st.DrawFn) -> list[Aggregator]:
    """One to three queries of one shape: windows of the same kind, of several sizes."""
    window = draw(WINDOWS)
    groups = draw(st.sampled_from([(), (), ("k",), ("b", "a")]))
    values = _values(draw(st.lists(NUMBERS | OTHERS, min_size=1, max_size=3, unique=True)))
    having = draw(st.sampled_from([None, None, "v0 is null", "not (v0 is null)"]))
    over: Input = Stream("s")
    if draw(st.booleans()):
        over = Filter(over, "a > -2")
    is_filtered = draw(st.booleans())
    found = []
    for more in (0, *draw(st.lists(st.integers(1, 4), max_size=2))):
        node: Input = over.window(_wider(window, more))
        node = Filter(node, "a > -2") if is_filtered else node
        found.append(Aggregator(node, values, groups, having))
    return found


@st.composite
def correlations(draw: st.DrawFn) -> list[Aggregator]:
    """An aggregate of what two inputs have at a time."""
    inputs = [
        Stream(name).named(alias).window(draw(WINDOWS))
        for name, alias in (("s", "x"), (draw(st.sampled_from("ts")), "y"))
    ]
    condition = draw(st.sampled_from([None, "x.k == y.k", "x.a > y.a"]))
    chosen = draw(st.lists(NUMBERS | OTHERS, min_size=1, max_size=3, unique=True))
    values = _values([(one[0], *(f"y.{name}" for name in one[1:])) for one in chosen])
    groups = draw(st.sampled_from([(), ("x.k",)]))
    return [Aggregator(Correlator(inputs, condition), values, groups)]


def _values(chosen: Sequence[tuple[str, ...]]) -> dict[str, Aggregate]:
    return {f"v{place}": Aggregate(one[0], one[1:]) for place, one in enumerate(chosen)}


def _wider(window: Window, more: int) -> Window:
    match window:
        case TimeWindow(size, jump):
            return TimeWindow(size + more, jump)
        case CountWindow(size, jump, by):
            return CountWindow(size + more, jump, by)


def _plan(made: Sequence[Aggregator]) -> Plan:
    catalog = Catalog()
    for stream in "st":
        catalog.register(stream, SCHEMA)
    for place, query in enumerate(made):
        catalog.create(f"q{place}", query)
    return catalog.plan()


def _meant(plan: Plan, events: Sequence[Event], outputs: Sequence[str]) -> Told:
    """What the interpreter says."""
    interpreter = Interpreter(plan)
    found: Told = {name: [] for name in outputs}

    def tell(name: str, rows: Any) -> None:
        found[name] += [(row.time, repr(list(row.values))) for row in rows]

    for name in outputs:
        interpreter.on_stream(name, partial(tell, name))
    for one in events:
        interpreter.send(one.stream, [(one.time_msc, one.values)])
    return found


def _told(plan: Plan, events: Sequence[Event], outputs: Sequence[str], url: str, size: int) -> Told:
    """What a database says, `size` events a batch."""
    provider = DatabaseProvider(url, batch_events=size)
    found: Told = {name: [] for name in outputs}
    try:
        provider.change(plan, outputs)
        for start in range(0, len(events), 2 * size):
            for one in provider.push(events[start : start + 2 * size]):
                found[one.query].append((one.time_msc, repr(list(one.values.values()))))
    finally:
        provider._runner.clear()
        provider.close()
    return found


@pytest.fixture(autouse=True)
def _little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purging, "PURGE_ROWS", 3)
    monkeypatch.setattr(purging, "MOMENT_ROWS", 1)
    monkeypatch.setattr(purging, "LOOK_EVENTS", 1)


@pytest.mark.parametrize("kind", [queries, correlations])
@pytest.mark.parametrize("name", NAMES)
def test_as_the_interpreter(name: str, kind: Any, urls: dict[str, str]) -> None:
    @settings(max_examples=examples(60 if name == "sqlite" else 15), deadline=None)
    @given(kind(), histories(), st.integers(1, 9))
    def check(made: list[Aggregator], events: list[Event], size: int) -> None:
        plan = _plan(made)
        outputs = [f"q{place}" for place in range(len(made))]
        assert _told(plan, events, outputs, urls[name], size) == _meant(plan, events, outputs)

    check()


RULED = {
    "all rows": "from s select k, count() as n, sum(l) as t, min(d) as lo, max(a) as hi,"
    " avg(f) as m group by k insert into Out;",
    "all rows that pass": "from s[a > 1] select count() as n, min(a) as lo, eventTimestamp() as t"
    " having n % 2 == 1 insert into Out;",
    "forever": "from s#window.time(3) select minForever(d) as lo, maxForever(l) as hi, count() as n"
    " group by k insert into Out;",
    "no room": "from s#window.length(0) select count() as n, sum(a) as t insert into Out;",
    "operations": "from s#window.time(4) select a, sum(a) * 2 + count() as v, max(a) - a as w"
    " having v > 3 insert into Out;",
    "of results": "from s#window.time(4) select k, avg(d) as m group by k insert into M;"
    " from M#window.length(3) select max(m) as hi, stdDev(m) as d insert into Out;",
    "joined": "from s#window.time(4) join t#window.length(2) on s.k == t.k"
    " select s.k as k, count() as n, max(t.d) as hi group by s.k having n > 1 insert into Out;",
    "joined with itself": "from s#window.time(3) as x join s#window.time(5) as y on x.a == y.a"
    " select count() as n insert into Out;",
}


@pytest.mark.parametrize("rule", RULED)
@pytest.mark.parametrize("name", NAMES)
def test_rules(name: str, rule: str, urls: dict[str, str]) -> None:
    plan = compile_rules(RULES + RULED[rule])
    keys = ["x", None, "y", "", "x"]
    events = [
        Event(
            "st"[number % 3 == 1], 1_000 + number * number % 7 // 3 + number,
            (number * 5 % 4, number, number / 8, 0.5, keys[number % 5], number % 2 == 0),
        )
        for number in range(40)
    ]  # fmt: skip
    events.sort(key=lambda event: event.time_msc)
    assert _told(plan, events, ["Out"], urls[name], 7) == _meant(plan, events, ["Out"])


@pytest.mark.parametrize("strange", [1e-40, 1e300])
@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_summed_up_is_told_by_name(
    name: str, strange: float, urls: dict[str, str]
) -> None:
    over = Stream("s").window(TimeWindow(5))
    pair = Correlator([over.named("x"), over.named("y")], "x.k == y.k")
    events = [Event("s", 1_000, (1, 1, 0.5, 0.5, "x", True)),
              Event("s", 1_001, (1, 1, strange, 0.5, "x", True))]  # fmt: skip
    for query in (Aggregator(over, {"v": Aggregate("stdDev", ("d",))}),
                  Aggregator(pair, {"v": Aggregate("avg", ("y.d",))})):  # fmt: skip
        with pytest.raises(DatabaseError, match="d_is_too_fine_or_large_to_sum_up"):
            _told(_plan([query]), events, ["q0"], urls[name], 1)


def test_how_many_at_once_is_told() -> None:
    over = [Stream("s").window(TimeWindow(size)) for size in (5, 9)]
    provider = DatabaseProvider("sqlite://")
    provider.change(
        _plan([Aggregator(one, {"n": Aggregate("count")}) for one in over]), ["q0", "q1"]
    )
    text = "q0, q1: differences of cumulative sums, a look-up each, for 2 queries at once"
    assert text in provider.explain()
    provider.close()


def test_what_is_not_known_is_refused() -> None:
    provider = DatabaseProvider("sqlite://")
    joined = (
        "from s#window.time(4) join t#window.time(4) on s.a == t.a select s.a as a insert into J;"
    )
    refused = {
        "from s#window.time(4) select median(d) as m insert into Out;": "median()",
        "from s#window.timeBatch(4) select sum(d) as m insert into Out;": "#window.timeBatch",
        "from s select distinctCount(a) as m insert into Out;": "distinctCount() of all rows",
        joined + "from J#window.time(4) select sum(a) as m insert into Out;": "come together",
    }
    for rule, why in refused.items():
        found = provider.refusals(compile_rules(RULES + rule))
        assert re.search(re.escape(why), " ".join(found.values())), rule
    provider.close()
