"""Joins on the machine: the rows of the interpreter, in its order, chunk by chunk."""
# ruff: noqa: S608 -- these are rules, made of constants

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import assert_same
from tests.engine.machine.records import START, STREAMS, records

TABLE = (
    "{key}define table T (symbol string, price double, n long);\n"
    "from B select symbol, price, n update or insert into T on T.n == n;\n"
)
KEYS = ["", "@PrimaryKey('n')\n", "@PrimaryKey('symbol')\n", "@Index('symbol')\n"]
KINDS = ["join", "left outer join", "right outer join", "full outer join"]
ON = [
    "a.symbol == b.symbol",
    "a.n == b.n and a.price < b.price",
    "a.n <= b.n",
    "b.symbol == a.symbol and b.n + 1L == a.n",
    "a.price == b.price",
    "eventTimestamp() % 2L == 0L and a.n <= b.n",
    "eventTimestamp(a) <= eventTimestamp(b) + 500L",
    "",
]
WINDOWS = [
    "length(2)",
    "length(0)",
    "time(2 sec)",
    "expressionBatch('count() < 3', true)",
    "timeLength(2 sec, 2)",
    "length(5)",
]
BY_KEY = ["session(1 sec, symbol)", "session(1 sec, symbol, 700)", "frequent(2, n)",
          "lossyFrequent(0.3, 0.2, n)", "lengthJump(3, 2, symbol)"]  # fmt: skip
WINDOWS += BY_KEY
SELECTS = [
    "select a.symbol as s, b.symbol as t, a.n as n, b.price as p, eventTimestamp() as at",
    "select a.symbol as s, b.n as n order by n, s desc limit 3",
    "select a.symbol as s, b.n as n order by n desc limit 2 offset 1",
    "select sum(b.n) as n, count() as c, max(a.price) as p",
    "select a.symbol as s, sum(b.n) as n, count() as c group by a.symbol",
    "select a.symbol as s, avg(b.price) as p group by a.symbol, b.symbol having p > 0.5"
    " order by p limit 2",
    "select stdDev(b.price) as d, avg(a.price) as m, sum(b.price) as s, skewness(a.n) as k",
    "select b.symbol as s, vwap(a.price, b.n) as v, stdDev(a.price) as d group by b.symbol",
    "select a.n as k, median(b.price) as m, distinctCount(b.n) as d, lag(a.n) as l group by a.n",
    "select and(a.price > 1.0) as e, or(b.n > 2) as o, ema(a.price, 2) as m, maxForever(b.n) as h,"
    " percentile(a.price, 30) as p",
    "select eventTimestamp() as at, sum(eventTimestamp(b)) as s, max(eventTimestamp()) as m"
    " group by a.symbol having eventTimestamp(a) % 2L == 0L",
    "select eventTimestamp(a) as x, eventTimestamp(b) as y, b is null as no, a.n is null as na",
]
EVENTS = ["", "all events ", "expired events "]


def same(text: str, rows: list[Any]) -> None:
    assert_same(STREAMS + text, rows, START + 10_000_000)


def written(left: str, kind: str, right: str, on: str, select: str, events: str) -> str:
    condition = f" on {on}" if on else ""
    return f"from {left} {kind} {right}{condition}\n  {select}\n  insert {events}into Out;\n"


drawn = {
    "kind": st.sampled_from(KINDS),
    "on": st.sampled_from(ON),
    "select": st.sampled_from(SELECTS),
    "events": st.sampled_from(EVENTS),
    "rows": records(),
}


@pytest.mark.parametrize(
    ("left", "right"),
    [("A", "T"), ("A[n > 0]", "T[price > 1.0]"), ("A#window.length(2)", "T"), ("T", "A"),
     ("T", "A[flag][n < 4]#window.time(2 sec)")],
)  # fmt: skip
@settings(max_examples=examples(125))
@given(key=st.sampled_from(KEYS), **drawn)
def test_with_a_table(
    left: str, right: str, key: str, kind: str, on: str, select: str, events: str, rows: list[Any]
) -> None:
    text = written(f"{left} as a", kind, f"{right} as b", on, select, events)
    same(TABLE.format(key=key) + text, rows)


@settings(max_examples=examples(300))
@given(
    one=st.sampled_from(WINDOWS), other=st.sampled_from(WINDOWS),
    ways=st.sampled_from([("", ""), (" unidirectional", ""), ("", " unidirectional")]),
    filters=st.sampled_from([("", ""), ("[n > 0]", ""), ("", "[eventTimestamp() % 2L == 0L]")]),
    **drawn,
)  # fmt: skip
def test_of_windows(
    one: str, other: str, ways: tuple[str, str], filters: tuple[str, str],
    kind: str, on: str, select: str, events: str, rows: list[Any],
) -> None:  # fmt: skip
    left = f"A{filters[0]}#window.{one} as a{ways[0]}"
    right = f"B{filters[1]}#window.{other} as b{ways[1]}"
    same(written(left, kind, right, on, select, events), rows)


@settings(max_examples=examples(300))
@given(
    window=st.sampled_from(WINDOWS), sides=st.sampled_from([("A", "W"), ("W", "A"), ("W", "W")]),
    out=st.sampled_from(["", "output expired events", "output current events"]),
    filters=st.sampled_from([("", ""), ("[n > 0]", ""), ("", "[eventTimestamp() % 2L == 0L]")]),
    **drawn,
)  # fmt: skip
def test_with_a_named_window(
    window: str, sides: tuple[str, str], out: str, filters: tuple[str, str],
    kind: str, on: str, select: str, events: str, rows: list[Any],
) -> None:  # fmt: skip
    """What comes out of it asks, and is asked for what it holds."""
    named = f"define window W (symbol string, price double, n long, flag bool) {window} {out};\n"
    left = f"{sides[0]}{filters[0]} as a"
    right = f"{sides[1]}{filters[1]} as b"
    fed = "from B select symbol, price, n, flag insert into W;\n"
    same(named + fed + written(left, kind, right, on, select, events), rows)


@settings(max_examples=examples(200))
@given(one=st.sampled_from(WINDOWS), other=st.sampled_from(WINDOWS), **drawn)
def test_of_a_stream_with_itself(
    one: str, other: str, kind: str, on: str, select: str, events: str, rows: list[Any]
) -> None:
    text = written(f"A#window.{one} as a", kind, f"A#window.{other} as b", on, select, events)
    same(text + "from Out select * insert into Again;\nfrom A select n insert into Last;\n", rows)


@settings(max_examples=examples(100))
@given(window=st.sampled_from(WINDOWS), **drawn)
def test_of_a_stream_without_a_window(
    window: str, kind: str, on: str, select: str, events: str, rows: list[Any]
) -> None:
    same(written("A as a", kind, f"B#window.{window} as b", on, select, events), rows)


@settings(max_examples=examples(75))
@given(rows=records())
def test_chunks(rows: list[Any]) -> None:
    """What one row brings about goes on together, and is selected row by row behind it."""
    text = (
        "from A#window.time(3 sec) as a join B#window.length(4) as b on a.n <= b.n\n"
        "  select a.symbol as s, b.n as n insert all events into Out;\n"
        "from Out#window.length(3) select s, sum(n) as n insert into Sums;\n"
        "from Out as a join Out#window.length(2) as b select a.n as n, b.n as m\n"
        "  insert into Pairs;\n"
        "define table T (n long);\nfrom Sums select n insert into T;\n"
        "from Pairs[T.n == n in T] select n, m insert into Seen;\n"
    )
    same(text, rows)


@settings(max_examples=examples(75))
@given(rows=records())
def test_in_partitions(rows: list[Any]) -> None:
    text = (
        "@PrimaryKey('symbol')\ndefine table T (symbol string, price double, n long);\n"
        "partition with (symbol of A, symbol of B) begin\n"
        "from A select symbol, price, n update or insert into T on T.symbol == symbol;\n"
        "from A#window.length(2) as a join B#window.time(2 sec) as b on a.n <= b.n\n"
        "  select a.symbol as s, b.n as n insert into #Both;\n"
        "from #Both as a join T on T.symbol == a.s select a.s as s, a.n + T.n as n\n"
        "  insert into Out;\n"
        "end;\n"
    )
    same(text, rows)


@settings(max_examples=examples(150))
@given(
    named=st.sampled_from(WINDOWS), own=st.sampled_from(BY_KEY), kind=st.sampled_from(KINDS),
    events=st.sampled_from(EVENTS), rows=records(),
)  # fmt: skip
def test_of_what_lies_elsewhere_in_partitions(
    named: str, own: str, kind: str, events: str, rows: list[Any]
) -> None:
    """Named windows and aggregations, which are in no partition, and windows by key within one."""
    text = (
        f"define window W (symbol string, price double, n long, flag bool) {named};\n"
        "from B select symbol, price, n, flag insert into W;\n"
        "define aggregation G from B select n, sum(price) as p, count() as c group by n\n"
        "  aggregate every sec, min;\n"
        "partition with (symbol of A) begin\n"
        + written("A as a", kind, "W as b", "a.n <= b.n", "select a.symbol as s, b.n as n", events)
        + written("A as a", kind, "G as g", "a.n == g.n within 0L, 9999999999999L per 'sec'",
                  "select a.symbol as s, g.c as n", "")
        + written("A#window.length(1) as a", kind, f"A#window.{own} as b", "a.n != b.n",
                  "select a.symbol as s, b.n as n", events)
        + "end;\n"
    )  # fmt: skip
    same(text, rows)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("from A#window.length(1) as a join B#window.length(1) as b on (T.n == a.n in T)\n"
         "  select a.n as n insert into Out;\n", "in"),
        ("from A#window.length(1) as a join B#window.length(1) as b\n"
         "  select correlation(a.n, b.n) as n insert into Out;\n", "correlation"),
    ],
)  # fmt: skip
def test_what_is_not_there_yet(rules: str, why: str) -> None:
    compiled = Compiled(compile_rules(STREAMS + "define table T (n long);\n" + rules), jit=False)
    assert compiled.whole is None
    assert f"`{why}`" in compiled.why_not_whole


TICK = ("EURUSD", "XAUUSD")


@pytest.mark.parametrize("name", ["markout", "news_table", "trailing_exit", "pair_zscore"])
def test_files_of_traders(name: str) -> None:
    text = (Path(__file__).parents[3] / f"benchmarks/trader/{name}.cep").read_text()
    random, time, rows = Random(7), START, []
    plan = compile_rules(text)
    for place in range(400):
        time += random.choice([0, 100, 900, 7000, -300])
        symbol, price = random.choice(TICK), 1.0 + random.randrange(1000) / 1e4
        if random.random() < 0.7 or len(plan.sources) == 1:
            rows.append(("Tick", time, [symbol, price, price, price, 1.0, 2]))
        elif name == "news_table":
            rows.append(("News", time, [symbol, time - 1000, time + 20_000]))
        else:
            side, entry = random.choice(["buy", "sell"]), random.choice(["in", "in", "out"])
            deal = [symbol, place, place, place % 7, 1, side, entry, 0.1, price, 0.0]
            rows.append(("Deal", time, deal))
    assert assert_same(text, rows, time + 600_000)
