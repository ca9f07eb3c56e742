"""Rows fed one by one the short way give what columns give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.compiled import Machine
from cep.engine.encode import InputError
from cep.engine.native import Compiled, Run
from cep.engine.row_feed import RowFeed
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.mixed import Row, compiled, encoded, mixed, one_by_one, plan

TYPES = """
@key('s') define stream S (s string, t string, i int, l long, f float, d double, b bool);
from S select s, t, i, l, f, d, b, l + i as sum, f * 2.0f as twice insert into Out;
define event A for each s as every S[b] repeat allow;
"""
VALUES = st.tuples(
    st.none() | st.sampled_from("xyz"),
    st.none() | st.text(st.characters(codec="utf-8"), max_size=3),
    st.none() | st.integers(-(2**31) + 1, 2**31 - 1),
    st.none() | st.integers(-(2**62), 2**62),
    st.none() | st.floats(width=32) | st.floats(),
    st.none() | st.floats(),
    st.none() | st.booleans(),
)


WAYS = {
    "compiled": compiled,
    "program": lambda: Compiled(plan(), jit=False, machine="always"),
    "interpreted": lambda: Compiled(plan(), jit=False).by_interpreter,
}
"""What runs the rules."""


def begun(way: str) -> Run:
    rules = WAYS[way]()
    return rules.begun() if way == "interpreted" else rules.start()


@pytest.mark.parametrize("way", WAYS)
def test_rows_of_several_streams_one_by_one(way: str) -> None:
    run = begun(way)
    feeds = {stream.name: RowFeed(run, stream.name) for stream in plan().sources}
    found: list[Row] = []
    for stream, time_msc, row in mixed():
        found += feeds[stream].push(time_msc, *row.values()).dicts()
    assert found == one_by_one()


@pytest.mark.parametrize("way", WAYS)
def test_rows_between_batches_and_new_keys(way: str) -> None:
    run = begun(way)
    feeds = {stream.name: RowFeed(run, stream.name) for stream in plan().sources}
    found = run.feed(encoded(run, mixed()[:200], 0)).dicts()
    for stream, time_msc, row in mixed()[200:400]:
        found += feeds[stream].push(time_msc, *row.values()).dicts()
    found += run.feed(encoded(run, mixed()[400:], 400)).dicts()
    assert found == one_by_one()
    for number in range(500):
        feeds["Tick"].push(200_000, f"K{number}", 1.0)
    assert run.keys[-1] == "K499"


@pytest.mark.parametrize("machine", ["never", "always"])
@settings(max_examples=examples(100), deadline=None)
@given(rows=st.lists(VALUES, min_size=1, max_size=20))
def test_values_of_every_type_are_taken_as_columns_take_them(
    machine: Machine, rows: list[tuple[Any, ...]]
) -> None:
    rules = Compiled(compile_rules(TYPES, "types.cep"), jit=False, machine=machine)
    names = rules.plan.stream("S").schema.names
    columns = {
        name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    expected = rules.start().push("S", columns, np.arange(len(rows))).dicts()
    run = rules.start()
    lists = [[(n, *row)] if n < 3 else [] for n, row in enumerate(rows)]  # new texts, then known
    lists.append([(n, *row) for n, row in enumerate(rows) if n >= 3])
    assert [row for some in lists for row in run.push_rows("S", some).dicts()] == expected
    feed = RowFeed(rules.start(), "S")
    found = [feed.push(n, *row) for n, row in enumerate(rows)]
    assert [row for rows in found for row in rows.dicts()] == expected
    assert all(len(made.ints) == len(made) for made in found), "they are arrays from now on"
    assert [row for rows in found for row in rows.dicts()] == expected


def test_events_for_each_of_more_strings_than_keys() -> None:
    text = """
    define stream S (symbol string, comment string);
    define event A for each symbol as every S[comment is null];
    define engine Two (queue = 5 min);
    define event B in Two for each comment as every S[not (comment is null)] repeat allow;
    """
    feed = RowFeed(Compiled(compile_rules(text)).start(), "S")
    found = [feed.push(n, "X", f"comment {n}").dicts()[0] for n in range(1_000)]
    assert [row["key"] for row in found] == [f"comment {n}" for n in range(1_000)]


@pytest.mark.parametrize(
    ("time_msc", "values", "message"),
    [
        (1, ("A",), "Tick: 1 values; give symbol, bid"),
        (1, ("A", 1.0, 2.0), "Tick: 3 values; give symbol, bid"),
        (1, ("A", "x"), "Tick.bid: 'x' does not fit"),
        (1, (7, 1.0), "Tick.symbol: 7 does not fit string: give a text"),
        (-1, ("A", 1.0), "Tick: times before 1970"),
        (1.5, ("A", 1.0), "Tick: .* do not fit"),
    ],
)
def test_a_bad_row_is_named_and_not_fed(
    time_msc: Any, values: tuple[Any, ...], message: str
) -> None:
    run = compiled().start()
    feed = RowFeed(run, "Tick")
    with pytest.raises(InputError, match=message):
        feed.push(time_msc, *values)
    assert run.next_order == 0
    assert feed.push(1, "A", 1.0).of("Band")[0]["ma"] == 1.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "A", 1.0), (2, 7, 1.0)], "Tick.symbol: not string"),
        ([(1, "A", 1.0), (2, ["A"], 1.0)], "Tick.symbol: not string"),
        ([(1, "A", 1.0), (2, "A", "x")], "Tick.bid: not double"),
        ([(1, "A", 1.0), (2, "A")], "Tick: rows of unequal length; give a time, then symbol, bid"),
        ([(1, "A")], "Tick: rows of 2 values; give a time, then symbol, bid"),
        ([1, 2], "Tick: these are no rows"),
        ([(-1, "A", 1.0)], "Tick.time_msc: row 0: -1 ms is before 1970"),
    ],
)
@pytest.mark.parametrize("known", [(), ("A",)])
def test_of_a_list_with_a_bad_row_nothing_is_fed(
    known: tuple[str, ...], rows: list[Any], message: str
) -> None:
    run = compiled().start()
    for symbol in known:
        run.push_rows("Tick", [(0, symbol, 1.0)])
    before = run.next_order
    with pytest.raises(InputError, match=message):
        run.push_rows("Tick", rows)
    assert run.next_order == before


def test_whole_numbers_keep_within_their_bits() -> None:
    rules = Compiled(compile_rules(TYPES, "types.cep"), jit=False)
    feed = RowFeed(rules.start(), "S")
    with pytest.raises(InputError, match="is beyond 2147483647"):
        feed.push(1, "x", "y", 2**31, 1, 1.0, 1.0, True)


def test_the_stream_must_be_a_source() -> None:
    with pytest.raises(InputError, match="no source stream 'Band'"):
        RowFeed(compiled().start(), "Band")
