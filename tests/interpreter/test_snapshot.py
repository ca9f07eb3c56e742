"""A snapshot at a random row, restored into a new interpreter, continues with the same output."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cep.interpreter.codec import pack, unpack
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.rows import Row, RowKind
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.campaign import examples

STREAMS = "define stream A (k string, v long, p double); define stream B (k string, v long); "
HOLDERS = (
    "define table T (k string, v long); define window W (k string, v long) length(3); "
    "define trigger Tick at every 700 milliseconds; "
)
QUERIES = (
    "from A#window.length(3) select k, sum(v) as s, avg(p) as a, min(v) as m group by k "
    "insert all events into O{n};",
    "from A[v > 2]#window.time(1 sec) select k, count() as c, max(p) as m having c > 1 "
    "insert all events into O{n};",
    "from A#window.lengthBatch(3) select k, stdDev(p) as d, distinctCount(k) as c "
    "insert all events into O{n};",
    "from A#window.timeBatch(900 milliseconds) select k, v, sum(v) as s group by k "
    "order by s desc limit 2 insert into O{n};",
    "from A#window.sort(3, v, 'desc') select k, v insert all events into O{n};",
    "from A#window.session(500 milliseconds, k) select k, count() as c "
    "insert all events into O{n};",
    "from A select k, sum(v) as s group by k output last every 3 events insert into O{n};",
    "from A#window.length(4) select k, v output snapshot every 800 milliseconds "
    "insert all events into O{n};",
    "from A select k, v output all every 600 milliseconds insert into O{n};",
    "from every a=A[v > 3] -> b=B[k == a.k] within 2 sec select a.v as x, b.v as y "
    "insert into O{n};",
    "from every a=A<2:3> -> b=B select a[0].v as x, a[last].v as y, b.v as z insert into O{n};",
    "from a=A -> not B for 400 milliseconds select a.v as x insert into O{n};",
    "from every a=A, b=A[v > a.v]+, c=B select a.v as x, b[last].v as y insert into O{n};",
    "from A#window.length(3) as a left outer join B#window.time(1 sec) as b on a.k == b.k "
    "select a.v as x, b.v as y insert all events into O{n};",
    "from B select k, v update or insert into T set T.v = v on T.k == k;",
    "from A[(k == T.k) in T] select k, v insert into O{n};",
    "from A select k, v insert into W;",
    "from W select k, sum(v) as s insert all events into O{n};",
    "from Tick select triggered_time as t insert into O{n};",
    "partition with (k of A, k of B) begin from A#window.length(2) select k, sum(v) as s "
    "insert into #I{n}; from every a=#I{n} -> b=B select a.s as s, b.v as v insert into O{n}; "
    "end;",
    "@purge(enable='true', interval='1 sec', idle.period='1 sec') "
    "partition with (v > 4 as 'big' or v > 1 as 'some' of A) begin "
    "from A select k, count() as c output first every 500 milliseconds insert into O{n}; end;",
)

plans = st.lists(st.sampled_from(QUERIES), min_size=1, max_size=3, unique=True)
sends = st.lists(
    st.tuples(
        st.sampled_from(["A", "A", "B"]),
        st.integers(0, 400),
        st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 6)), min_size=1, max_size=2),
    ),
    min_size=2,
    max_size=25,
)


def listened(plan: Plan) -> tuple[Interpreter, list[Any]]:
    """An interpreter and what all its queries and streams put out."""
    interpreter = Interpreter(plan)
    out: list[Any] = []
    for stream in plan.streams:
        if "#" not in stream.name:
            interpreter.on_stream(stream.name, lambda rows, name=stream.name: out.append(  # type: ignore[misc]
                (name, [(row.time, row.values) for row in rows])))  # fmt: skip
    for query in plan.queries:
        interpreter.on_query(query.name, lambda time, new, old, name=query.name: out.append(  # type: ignore[misc]
            (name, time, new and [row.values for row in new], old and [row.values for row in old])
        ))  # fmt: skip
    return interpreter, out


def feed(interpreter: Interpreter, steps: list[Any], start_ms: int) -> int:
    """Send the rows; the time of the last one."""
    now_ms = start_ms
    for stream, gap_ms, rows in steps:
        now_ms += gap_ms
        values = [[k, v, v / 3] if stream == "A" else [k, v] for k, v in rows]
        interpreter.send(stream, [(now_ms, row) for row in values])
    return now_ms


@settings(max_examples=examples(300), deadline=None)
@given(plans, sends, st.data())
def test_the_continuation_is_the_same(
    queries: list[str], steps: list[Any], data: st.DataObject
) -> None:
    text = STREAMS + HOLDERS + " ".join(text.format(n=n) for n, text in enumerate(queries))
    plan = compile_rules(text)
    cut = data.draw(st.integers(0, len(steps)))
    first, first_out = listened(plan)
    now_ms = feed(first, steps[:cut], 1_000_000)
    saved = first.snapshot()
    first_out.clear()
    second, second_out = listened(plan)
    second.restore(saved)
    assert second.snapshot() == saved
    for interpreter in (first, second):
        end_ms = feed(interpreter, steps[cut:], now_ms)
        interpreter.advance(end_ms + 5000)
    assert second_out == first_out


def test_plain_data_rows_and_sets_come_back() -> None:
    row = Row(5, [1, "a", None, 2.5, True], RowKind.EXPIRED, [None, [Row(1, [2])]])
    row.group = ("g", None)
    state = {"rows": [row], "set": {1, 2}, "map": {1: "x", (2, "y"): None}, "bytes": b"z"}
    back = unpack(pack(state))
    assert back["set"] == {1, 2}
    assert back["map"] == {1: "x", (2, "y"): None}
    assert back["bytes"] == b"z"
    assert repr(back["rows"]) == repr([row])
    assert back["rows"][0].group == ("g", None)
    assert back["rows"][0].kind is RowKind.EXPIRED
