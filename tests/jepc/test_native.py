"""The native provider: events and results column by column are those one by one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.database.batches import Arrivals
from cep.engine.native import Compiled
from cep.engine.results import Results
from cep.jepc import (
    Aggregator,
    Correlator,
    CountWindow,
    EventProcessor,
    Filter,
    NativeProvider,
    PatternMatcher,
    PatternSymbol,
    Result,
    Stream,
    TimeWindow,
    average,
    count,
    total,
)
from cep.jepc.catalog import Catalog
from cep.jepc.provider import ColumnProvider
from cep.jepc.queries import Query

SCHEMAS = {"s": {"a": "int", "k": "string"}, "r": {"b": "int", "d": "double"}}
Rows = list[tuple[str, int, tuple[Any, ...]]]

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["s", "r"]),
        st.integers(0, 2),
        st.one_of(st.none(), st.integers(0, 12)),
        st.sampled_from([0, 1]),
    ),
    max_size=30,
)


@pytest.mark.parametrize("jit", [False, True])
def test_a_stream_of_nothing_but_doubles(jit: bool) -> None:
    """Its rows need no int cell, the results of queries written together do."""
    told: list[Result] = []
    with EventProcessor(NativeProvider(jit=jit)) as processor:
        processor.register_stream("s", {"x": "double"})
        processor.create_query(
            "q", Aggregator(Stream("s").window(CountWindow(2)), {"m": average("x")})
        )
        processor.add_output_processor("q", told.append)
        processor.push_events([("s", (x,), t) for t, x in enumerate((1.0, 2.0, 4.0))])
    assert [one.values["m"] for one in told] == [1.0, 1.5, 3.0]


def load(members: int, window: type[TimeWindow] | type[CountWindow]) -> dict[str, Query]:
    """Families of each kind, wide enough for everything that is done for many at once."""
    queries: dict[str, Query] = {}
    for i in range(members):
        left, right = (
            Stream("s").window(window(4 + i % 5)),
            Stream("r").window(TimeWindow(9 - i % 7)),
        )
        queries[f"filter{i}"] = Filter(Stream("s"), f"a == {i}")
        queries[f"mean{i}"] = Aggregator(left, {"n": count(), "m": average("a"), "t": total("a")})
        queries[f"each{i}"] = Aggregator(
            Filter(Stream("r"), "b > 1").window(TimeWindow(3 + i)),
            {"n": count()},
            having=f"n > {i}",
        )
        queries[f"pair{i}"] = Correlator([left, right], f"s.a - r.b == {i % 6 - 2}")
        queries[f"word{i}"] = PatternMatcher(
            Stream("s"),
            "x y",
            5,
            {"x": PatternSymbol("true", {"z": "a"}), "y": PatternSymbol(f"a - z == {i % 4}")},
            {"z": "int"},
            ["z"],
        )
    names = sorted(queries, key=lambda name: name[:4])
    return {name: queries[name] for name in names}


def started(queries: dict[str, Query], jit: bool) -> tuple[EventProcessor, NativeProvider]:
    provider = NativeProvider(jit=jit)
    processor = EventProcessor(provider)
    for stream, schema in SCHEMAS.items():
        processor.register_stream(stream, schema)
    for name, query in queries.items():
        processor.create_query(name, query)
    return processor, provider


def events(raw: list[tuple[str, int, int | None, int]]) -> Rows:
    time, found = 1_000, []
    for stream, step, number, other in raw:
        time += step
        found.append((stream, time, (number, "xy"[other] if stream == "s" else other / 2)))
    return found


def one_by_one(queries: dict[str, Query], rows: Rows, at_once: int) -> dict[str, list[Result]]:
    processor, _ = started(queries, jit=False)
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for name in queries:
        processor.add_output_processor(name, found[name].append)
    for first in range(0, len(rows), at_once):
        batch = rows[first : first + at_once]
        processor.push_events([(stream, values, time) for stream, time, values in batch])
    return {name: made for name, made in found.items() if made}


def in_columns(queries: dict[str, Query], rows: Rows, jit: bool) -> dict[str, list[Result]]:
    processor, provider = started(queries, jit)
    for name in queries:
        processor.add_output_processor(name, lambda result: None)
    processor.push_events([])
    arrivals = []
    for stream in SCHEMAS:
        places = [place for place, row in enumerate(rows) if row[0] == stream]
        columns = zip(*(rows[place][2] for place in places), strict=True)
        times = np.array([rows[place][1] for place in places], np.int64)
        if places:
            arrivals.append(Arrivals(stream, np.array(places), times, tuple(columns)))
    found: defaultdict[str, list[Result]] = defaultdict(list)
    counted = 0
    by_columns: ColumnProvider = provider
    for parts in by_columns.push_columns(arrivals):
        for part in parts:
            assert isinstance(part, Results)
            counted += len(part)
            for column in part.columns():
                values = zip(*part.decoded(column), strict=True)
                for time, value in zip(column.times.tolist(), values, strict=True):
                    named = dict(zip(column.schema.names, value, strict=True))
                    found[column.stream].append(Result(column.stream, time, named))
    assert counted == sum(map(len, found.values()))
    return dict(found)


@settings(max_examples=8, deadline=None)
@given(ROWS, st.sampled_from([TimeWindow, CountWindow]))
def test_columns_say_what_events_say(raw: Any, window: type[TimeWindow]) -> None:
    queries, rows = load(9, window), events(raw)
    wanted = one_by_one(queries, rows, 1)
    assert in_columns(queries, rows, jit=False) == wanted
    assert one_by_one(queries, rows, 7) == wanted


@pytest.mark.campaign
def test_machine_code_and_long_batches_say_the_same() -> None:
    steps = [("sr"[n % 2], n % 3 % 2, n * 7 % 13, n % 2) for n in range(3_000)]
    queries, rows = load(9, TimeWindow), events(steps)  # type: ignore[arg-type]
    found = in_columns(queries, rows, jit=True)
    assert found == one_by_one(queries, rows, 1_000)
    assert {name[:4] for name in found} == {"filt", "mean", "each", "pair", "word"}


def test_the_interpreter_says_the_same() -> None:
    steps = [("sr"[n % 2], n * n % 3 % 2, n * 7 % 13, n % 2) for n in range(120)]
    queries, rows = load(9, TimeWindow), events(steps)  # type: ignore[arg-type]
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    for name, query in queries.items():
        catalog.create(name, query)
    run = Compiled(catalog.plan(), jit=False).by_interpreter.start()
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for stream, time, values in rows:
        for row in run.push_row(
            stream, time, dict(zip(SCHEMAS[stream], values, strict=True))
        ).dicts():
            name, at, _ = (row.pop(key) for key in ("stream", "time_msc", "kind"))
            found[name].append(Result(name, at, row))
    assert in_columns(queries, rows, jit=False) == dict(found)


def test_single_queries_do_without_wide_rows() -> None:
    """What another query reads comes as its rows do."""
    queries = load(1, TimeWindow)
    queries["again"] = Filter(Stream("pair0"), "a > 3")
    queries["more"] = Aggregator(Stream("mean0").window(CountWindow(2)), {"t": total("n")})
    rows = events([("sr"[n % 2], n % 2, n * 5 % 7, n % 2) for n in range(60)])
    assert in_columns(queries, rows, jit=False) == one_by_one(queries, rows, 1)
