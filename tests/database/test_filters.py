"""Filters and projections on every database: families by an index, windows with a jump, nulls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.database.drivers import connect, values_of
from cep.database.runner import Options, Runner, _numbers
from cep.jepc import CountWindow, Filter, NativeProvider, Projector, Stream, TimeWindow
from cep.jepc.catalog import Catalog
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event, Result
from cep.jepc.queries import Query
from cep.plan import compile_rules
from tests.campaign import examples
from tests.database.servers import url_for

SCHEMA = {"a": "int", "b": "int", "l": "long", "d": "double", "k": "string"}
DATABASES = ("sqlite", "duckdb", "postgresql")
FAMILY = 6
EXAMPLES = examples(25)

CONDITIONS = (
    "a == {0}", "{0} == a - b", "a - b == {0} and k == '{2}'", "a > {0}", "{0} >= b", "d < {1}",
    "d >= {0}", "l == {0}", "a > {0} and a <= {3}", "a == {0} or b == {3}", "not (a == {0})",
    "d != {1}", "a % 3 == {0} and d > {1}", "k == '{2}'", "a * {0} == b + {3}", "k is null",
)  # fmt: skip
"""{0} and {3} are whole numbers, {1} is a real one, {2} a text."""
VALUES: tuple[dict[str, str], ...] = (
    {},
    {"v": "a + {0}"},
    {"v": "d * {1}", "w": "k"},
    {"v": "{0}", "w": "a is null"},
)
WINDOWS = (
    None,
    TimeWindow(5),
    TimeWindow(2, 5),
    TimeWindow(7, 3),
    CountWindow(2, 5),
    CountWindow(2, 3, ("k",)),
)


@st.composite
def networks(draw: st.DrawFn) -> dict[str, Query]:
    """Queries of one shape or two, over the stream or over what one of them lets pass."""
    queries: dict[str, Query] = {
        "first": Filter(Stream("s"), draw(st.sampled_from(("a > -3", "b < 3"))))
    }
    for shape in range(draw(st.integers(1, 2))):
        condition, values = draw(st.sampled_from(CONDITIONS)), draw(st.sampled_from(VALUES))
        source, window = draw(st.sampled_from(("s", "first"))), draw(st.sampled_from(WINDOWS))
        is_behind = draw(st.booleans())
        for member in range(draw(st.integers(1, FAMILY))):
            whole, other = draw(st.integers(-3, 3)), draw(st.integers(-3, 3))
            real, text = draw(st.sampled_from((-1.5, 0.0, 0.25, 2.0))), draw(st.sampled_from("xy"))
            given = (whole, real, text, other)
            read: Any = Stream(source)
            if window is not None and is_behind:
                read = read.window(window)
            query: Any = Filter(read, condition.format(*given))
            if values:
                query = Projector(query, {name: one.format(*given) for name, one in values.items()})
            queries[f"q{shape}_{member}"] = query
    return queries


def _or_null(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(values, values, values, st.none())


ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.tuples(
            _or_null(st.integers(-4, 4)),
            _or_null(st.integers(-4, 4)),
            _or_null(st.sampled_from([-3, 0, 2, 2**53 + 1])),
            _or_null(st.sampled_from([-1.5, 0.0, 0.25, 2.0, 3.0])),
            _or_null(st.sampled_from("xy")),
        ),
    ),
    max_size=30,
)
"""Time since the event before, values."""


def plan_of(queries: Mapping[str, Query]) -> Any:
    catalog = Catalog()
    catalog.register("s", SCHEMA)
    for name, query in queries.items():
        catalog.create(name, query)
    return catalog.plan()


def told(results: Sequence[Result]) -> list[tuple[str, int, tuple[Any, ...]]]:
    return [(one.query, one.time_msc, tuple(one.values.values())) for one in results]


def by_stream(results: Sequence[Result]) -> dict[str, list[tuple[str, int, tuple[Any, ...]]]]:
    found: dict[str, list[tuple[str, int, tuple[Any, ...]]]] = {}
    for one in told(results):
        found.setdefault(one[0], []).append(one)
    return found


@pytest.fixture(scope="module", params=DATABASES)
def shared(request: pytest.FixtureRequest) -> Iterator[DatabaseProvider]:
    """A database for many plans, one after the other."""
    provider = DatabaseProvider(url_for(request), prefix="filters_", batch_events=7)
    yield provider
    provider.change(Catalog().plan(), ())
    provider.close()


@settings(max_examples=EXAMPLES, deadline=None)
@given(networks(), ROWS)
def test_generated(shared: DatabaseProvider, queries: dict[str, Query], rows: Any) -> None:
    start = shared._runner.progress.now_msc
    shared.change(Catalog().plan(), ())
    events = []
    for step, values in rows:
        start += step
        events.append(Event("s", start, values))
    plan = plan_of(queries)
    shared.change(plan, list(queries))
    native = NativeProvider(jit=False)
    native.change(plan, list(queries))
    assert by_stream(shared.push(events)) == by_stream(native.push(events))


def test_a_row_that_no_window_ever_holds_passes_no_filter(shared: DatabaseProvider) -> None:
    queries = {
        f"q{size}": Filter(Stream("s").window(TimeWindow(size, 5)), "a == 1") for size in (2, 4, 5)
    }
    shared.change(Catalog().plan(), ())
    shared.change(plan_of(queries), list(queries))
    start = shared._runner.progress.now_msc // 5 * 5 + 5
    found = shared.push([Event("s", start + n, (1, 0, 0, 0.0, "x")) for n in range(10)])
    by_query = {
        name: [one.time_msc - start for one in found if one.query == name] for name in queries
    }
    assert by_query == {"q2": [3, 4, 8, 9], "q4": [1, 2, 3, 4, 6, 7, 8, 9], "q5": list(range(10))}


def test_a_later_query_counts_from_its_first_row(url: str) -> None:
    query = Filter(Stream("s").window(CountWindow(1, 3)), "a == 1")
    provider = DatabaseProvider(url)
    first: list[Any] = [Event("s", time, (1, 0, 0, 0.0, "x")) for time in range(4)]
    later: list[Any] = [Event("s", time, (1, 0, 0, 0.0, "x")) for time in range(4, 10)]
    provider.change(plan_of({"old": query}), ["old"])
    found = provider.push(first)
    provider.change(plan_of({"old": query, "new": query}), ["old", "new"])
    found += provider.push(later)
    times = {name: [one.time_msc for one in found if one.query == name] for name in ("old", "new")}
    assert times == {"old": [2, 5, 8], "new": [6, 9]}
    provider.close()


@pytest.mark.parametrize(
    ("condition", "by"),
    [
        ("a - b == {0}", "rowid=?"),
        ("{0} > a", "rowid>?"),
        ("d <= {0}", "c_0>?"),
        ("d == {0}.5 and a > 1", "c_0=?"),
        ("l == {0} and d < {0}.5", "rowid=?"),
        ("a == {1} and b > {0}", "c_0=?"),
        ("a != {0}", None),
        ("a == {0} or b == 1", None),
        ("a + {0} == b * {0}", None),
    ],
)
def test_rows_find_the_queries_by_an_index(condition: str, by: str | None) -> None:
    """As SQLite plans it: a search by the constants, as row numbers if it can be; none sorted."""
    run = Runner(connect("sqlite://"), Options())
    queries: dict[str, Query] = {
        f"q{n}": Filter(Stream("s"), condition.format(n, n // 2)) for n in range(30)
    }
    run.change(plan_of(queries), list(queries))
    (step,) = run.program.steps
    assert step.strategy.endswith("an index on their constants" if by else "one by one")
    assert step.fetch is not None
    asked = step.fetch.statement
    values = asked.bound(_numbers(run.progress))
    columns = run._driver.fetch(f"EXPLAIN QUERY PLAN {asked.text}", values)
    lines = list(values_of(columns[-1]))
    assert lines[0].startswith("SEARCH e USING INTEGER PRIMARY KEY (rowid>?)"), lines
    assert ("SEARCH p USING" in lines[1]) is (by is not None), lines
    assert by is None or by in lines[1], lines
    assert not any("TEMP B-TREE" in line for line in lines)
    run.close()


def test_many_constants_are_one_statement(url: str) -> None:
    provider = DatabaseProvider(url)
    queries: dict[str, Query] = {
        f"q{n}": Filter(Stream("s"), f"a == {n} and d > {n % 3}") for n in range(300)
    }
    provider.change(plan_of(queries), list(queries))
    assert len(provider.explain().splitlines()) == 2
    events = [Event("s", n, (n * 7 % 300, 0, 0, float(n % 5), "x")) for n in range(300)]
    found = provider.push(events)
    expected = [
        (f"q{e.values[0]}", e.time_msc) for e in events if e.values[3] > e.values[0] % 3
    ]  # fmt: skip
    assert [(one.query, one.time_msc) for one in found] == expected
    provider.close()


def test_numbers_by_key_jump_too(url: str) -> None:
    windows = {
        "by_k": CountWindow(1, 3, ("k",)),
        "by_b": CountWindow(1, 3, ("b",)),
        "wide": CountWindow(2, 3, ("k",)),
    }
    queries = {
        name: Filter(Stream("s").window(window), "a == 1") for name, window in windows.items()
    }
    rows: list[Any] = [(1, n // 4 % 2, 0, 0.0, (None, "x", "x", "y")[n % 4]) for n in range(40)]
    events = [Event("s", n, row) for n, row in enumerate(rows)]
    native = NativeProvider(jit=False)
    provider = DatabaseProvider(url, batch_events=3)
    for engine in (native, provider):
        engine.change(plan_of(queries), list(queries))
    expected = by_stream(native.push(events))
    assert by_stream(provider.push(events)) == expected
    assert [len(expected[name]) for name in queries] == [12, 12, 25]
    provider.close()


def test_having_is_a_condition_on_what_is_selected(url: str) -> None:
    """Of queries of one shape too: each has its own number."""
    rules = ["define stream s (a int);"]
    for number in (1, 2, 3):
        select = f"select a * 2 as v, a + {number} as w having v > {number} and w < 5"
        rules.append(f"from s {select} insert into T{number};")
    plan = compile_rules("\n".join(rules), "rules")
    events = [Event("s", 1_000 + n, (n,)) for n in range(5)]
    provider = DatabaseProvider(url)
    provider.change(plan, ["T1", "T2", "T3"])
    found = [(one.query, *one.values.values()) for one in provider.push(events)]
    assert found == [
        ("T1", 2, 2), ("T1", 4, 3), ("T2", 4, 4), ("T1", 6, 4),
    ]  # fmt: skip
    assert "a table of 3 queries" in provider.explain()
    provider.close()


def test_other_windows_in_front_of_a_filter_are_refused() -> None:
    text = "define stream S (a int); from S#window.sort(3, a) select a insert into T;"
    provider = DatabaseProvider()
    (reason,) = provider.refusals(compile_rules(text, "rules")).values()
    assert reason == "notimpl: #window.sort in front of a filter"
    provider.close()
