"""Extended SQL: what is read, and what is refused where."""

from __future__ import annotations

import pytest

from cep.jepc import (
    Aggregator,
    Correlator,
    CountWindow,
    EventProcessor,
    Filter,
    NativeProvider,
    PatternMatcher,
    Projector,
    QueryError,
    Result,
    TimeWindow,
    parse_sql,
)
from cep.lang import RuleError

PATTERN = """SELECT z1, z2, z3 FROM stream[a:Integer]
MATCHING (PATTERN xyu WITHIN (500 + (80/2) - 3) MS
          MEASURES z1:Integer, z2:Integer, z3:Integer
          DEFINE x AS true DO z1 = a
                 y AS a - z1 = 3 DO z2 = a
                 u AS a - z2 = 3 DO z3 = a)"""


def run(text: str, rows: list[dict[str, int]]) -> list[Result]:
    """The results of a query over a stream `stream` whose schema the text gives, one event a ms."""
    parsed = parse_sql(text)
    results: list[Result] = []
    with EventProcessor(NativeProvider(jit=False)) as processor:
        for name, schema in parsed.streams.items():
            processor.register_stream(name, schema)
        processor.create_query("q", parsed.query)
        processor.add_output_processor("q", results.append)
        processor.push_events([("stream", row, time) for time, row in enumerate(rows)])
    return results


def values(results: list[Result]) -> list[dict[str, object]]:
    return [result.values for result in results]


def test_the_filter_of_listing_1() -> None:
    text = "SELECT * FROM stream[a:Integer, b:Integer] WHERE a - b = 3"
    assert values(run(text, [{"a": 5, "b": 2}, {"a": 5, "b": 3}])) == [{"a": 5, "b": 2}]


def test_the_correlation_of_listing_1() -> None:
    text = """SELECT * FROM stream1[a:Integer] WINDOW(RANGE (500 + (80/2) - 1) MS),
                            stream2[b:Integer] WINDOW(RANGE (500 + (80/2) - 1) MS)
              WHERE a - b = 1+1"""
    query = parse_sql(text).query
    assert isinstance(query, Correlator)
    assert [one.span for one in query.inputs] == [TimeWindow(539), TimeWindow(539)]


def test_the_aggregation_of_listing_1() -> None:
    text = "SELECT COUNT(*) FROM stream[a:Integer] WINDOW(RANGE 2 MS)"
    assert values(run(text, [{"a": 1}] * 3)) == [{"count": 1}, {"count": 2}, {"count": 2}]


def test_the_pattern_of_listing_1() -> None:
    found = run(PATTERN, [{"a": 1}, {"a": 4}, {"a": 7}, {"a": 10}, {"a": 1}])
    assert values(found) == [{"z1": 1, "z2": 4, "z3": 7}, {"z1": 4, "z2": 7, "z3": 10}]
    query = parse_sql(PATTERN).query
    assert isinstance(query, PatternMatcher)
    assert (query.within_ms, query.output) == (537, ("z1", "z2", "z3"))


def test_windows_of_rows() -> None:
    text = "SELECT AVG(a) AS m FROM s WINDOW(ROWS 10 SLIDE 2 PARTITION BY k, g)"
    query = parse_sql(text).query
    assert isinstance(query, Aggregator)
    assert query.input.span == CountWindow(10, 2, ("k", "g"))


def test_a_window_that_jumps() -> None:
    query = parse_sql("SELECT MAX(a) FROM s WINDOW(RANGE 1 MIN SLIDE 5 SEC)").query
    assert isinstance(query, Aggregator)
    assert query.input.span == TimeWindow(60_000, 5_000)


def test_inner_queries_have_names() -> None:
    text = """SELECT x.n + 1 AS k FROM
              (SELECT COUNT(*) AS n FROM stream[a:Integer] WINDOW(RANGE 9 MS)) AS x
              WHERE x.n <> 2"""
    assert values(run(text, [{"a": 1}] * 3)) == [{"k": 2}, {"k": 4}]
    assert isinstance(parse_sql(text).query, Projector)


def test_groups() -> None:
    text = """SELECT a, COUNT(*) AS n FROM stream[a:Integer] WINDOW(RANGE 9 MS)
              GROUP BY a HAVING n > 1"""
    assert values(run(text, [{"a": 1}, {"a": 2}, {"a": 1}])) == [{"a": 1, "n": 2}]


def test_gaps_may_be_invisible() -> None:
    text = """SELECT * FROM stream[a:Integer]
              MATCHING (PATTERN x y WITHIN 1 SEC WITH INVISIBLE GAPS
                        MEASURES v INTEGER DEFINE x AS a = 1 DO v = a, y AS a = 2)"""
    assert values(run(text, [{"a": 1}, {"a": 5}, {"a": 2}])) == [{"v": 1}]


def test_everything_of_a_stream() -> None:
    assert isinstance(parse_sql("SELECT * FROM s").query, Filter)
    picked = parse_sql("select a, b from s").query
    assert isinstance(picked, Projector)
    assert tuple(picked.values) == ("a", "b")


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("SELECT a FROM", (1, 13), "expected a stream, found the end of the text", ""),
        ("SELECT * FROM s WHERE a =", (1, 25), "expected an expression", ""),
        ("SELECT a, COUNT(*) FROM s", (1, 8), "beside aggregates stand groups only", "group by it"),
        ("SELECT * FROM s WINDOW(RANGE 5)", (1, 31), "expected a unit of time", "write 5 SEC"),
        ("SELECT * FROM s WINDOW(ROWS 0)", (1, 29), "0 is no size of a window", "use 1 or more"),
        ("SELECT * FROM s WINDOW(RANGE a MS)", (1, 30), "no whole number", "write a number"),
        ("SELECT * FROM s[a:Intger]", (1, 19), "unknown type `Intger`", "did you mean `integer`?"),
        ("SELECT a+1 FROM s", (1, 8), "a selected expression needs a name", "AS name"),
        ("SELECT a FROM s GROUP BY a", (1, 8), "GROUP BY and HAVING need an aggregate", "COUNT"),
        ("SELECT * FROM s MATCHING (PATTERN x", (1, 35), "expected `within`", "WITHIN 5 SEC"),
    ],
)
def test_refused_by_the_parser(text: str, place: tuple[int, int], message: str, hint: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_sql(text)
    error = caught.value
    assert (error.line, error.column) == place
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("SELECT * FROM stream WHERE c = 1", (1, 28), "`stream` has no attribute `c`"),
        ("SELECT *\nFROM stream WHERE a = 'x'", (2, 19), "cannot compare `a` (int) with"),
        ("SELECT AVG(k) AS m FROM stream WINDOW(RANGE 1 SEC)", (1, 12), "`avg` needs a number"),
    ],
)
def test_refused_by_the_checker(text: str, place: tuple[int, int], message: str) -> None:
    with EventProcessor(NativeProvider(jit=False)) as processor:
        processor.register_stream("stream", {"a": "int", "k": "string"})
        with pytest.raises(RuleError) as caught:
            processor.create_query("q", parse_sql(text).query)
    assert (caught.value.line, caught.value.column) == place
    assert message in caught.value.message


def test_an_aggregate_without_a_window_is_refused() -> None:
    with EventProcessor(NativeProvider(jit=False)) as processor:
        processor.register_stream("stream", {"a": "int"})
        with pytest.raises(QueryError, match="give its input a window"):
            processor.create_query("q", parse_sql("SELECT COUNT(*) FROM stream").query)
