"""A change of rules: what did not change goes on as if both rules had run from the start."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.interpreter.change import changed
from cep.interpreter.interpreter import Interpreter
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.campaign import examples
from tests.interpreter.test_snapshot import HOLDERS, QUERIES, STREAMS, feed, sends

START_MS = 1_000_000
choices = st.sets(st.integers(0, len(QUERIES) - 1), max_size=4).map(frozenset)


def rules(numbers: frozenset[int]) -> Plan:
    """The queries of these numbers; each keeps its name and the stream it writes."""
    texts = [_named(QUERIES[n].format(n=n), f"q{n}") for n in sorted(numbers)]
    return compile_rules(STREAMS + HOLDERS + "\n".join(texts))


def _named(text: str, name: str) -> str:
    if "partition with" not in text:
        return f"@info(name='{name}') {text}"
    head, _, body = text.partition("begin ")
    queries = [one for one in body.removesuffix("end;").split(";") if one.strip()]
    named = [f"@info(name='{name}p{n}') {one};" for n, one in enumerate(queries)]
    return head + "begin " + " ".join(named) + " end;"


class Watched:
    """An interpreter, and by query what it has put out since it was last emptied."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.out: dict[str, list[Any]] = {}
        for query in interpreter.plan.queries:
            interpreter.on_query(query.name, self._taker(query.name))

    def _taker(self, name: str) -> Any:
        found = self.out[name] = []

        def take(time: int, new: Any, old: Any) -> None:
            rows = [chunk and [row.values for row in chunk] for chunk in (new, old)]
            found.append((time, *rows))

        return take

    def empty(self) -> None:
        for found in self.out.values():
            found.clear()


def finish(watched: Watched, steps: list[Any], now_ms: int) -> dict[str, list[Any]]:
    end_ms = feed(watched.interpreter, steps, now_ms)
    watched.interpreter.advance(end_ms + 5000)
    return watched.out


@settings(max_examples=examples(200), deadline=None)
@given(choices, choices, choices, sends, st.data())
def test_what_did_not_change_goes_on(
    both: frozenset[int],
    first: frozenset[int],
    second: frozenset[int],
    steps: list[Any],
    data: st.DataObject,
) -> None:
    cut = data.draw(st.integers(0, len(steps)))
    before, after = rules(both | first), rules(both | second)
    old, always = Watched(Interpreter(before)), Watched(Interpreter(rules(both | first | second)))
    now_ms = feed(old.interpreter, steps[:cut], START_MS)
    feed(always.interpreter, steps[:cut], START_MS)
    always.empty()
    interpreter, report = changed(old.interpreter, after)
    new, fresh = Watched(interpreter), Watched(Interpreter(after))
    if cut:
        fresh.interpreter.start(now_ms)
    fresh.empty()
    kept = {fate.name for fate in report.kept if fate.kind == "query"}
    found = finish(new, steps[cut:], now_ms)
    from_start = finish(always, steps[cut:], now_ms)
    from_now = finish(fresh, steps[cut:], now_ms)
    for query in after.queries:
        if query.name in kept:
            assert found[query.name] == from_start[query.name], f"{query.name}\n{report}"
        elif not _sees_the_past(query.name):
            assert found[query.name] == from_now[query.name], f"{query.name}\n{report}"


def _sees_the_past(name: str) -> bool:
    """Whether a query that begins now reads what went on: a table, a window, a trigger, a key."""
    held = {"q14", "q15", "q16", "q17", "q18"}
    return name in held or "p" in name


TWO = """
define stream A (k string, v long);
{first}
from A#window.length(10) select sum(v) as s insert into Sum;
"""


def total(interpreter: Interpreter, values: list[int], first: int) -> list[Any]:
    out: list[Any] = []
    interpreter.on_stream("Sum", lambda rows: out.extend(row.values[0] for row in rows))
    for place, value in enumerate(values, first):
        interpreter.send("A", [(place, ["a", value])])
    return out


def test_a_query_without_a_name_is_known_by_what_it_says() -> None:
    plain = compile_rules(TWO.format(first=""))
    more = compile_rules(TWO.format(first="from A[v > 3] select v insert into Big;"))
    interpreter = Interpreter(plain)
    assert total(interpreter, [1, 2], 0) == [1, 3]
    interpreter, report = changed(interpreter, more)
    assert [str(fate) for fate in report.kept] == ["query query2: it was query1"]
    assert [fate.name for fate in report.new] == ["query1"]
    assert total(interpreter, [4], 5) == [7]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from A[v > 2]#window.length(2) select v insert into B;", "its definition changed"),
        ("from A#window.length(2) select v, k insert into B;", "its definition changed"),
    ],
)
def test_readers_of_what_changed_start_empty(text: str, why: str) -> None:
    streams = "define stream A (k string, v long);"
    reader = "@info(name='sum') from B select sum(v) as s insert into Sum;"
    head = "@info(name='b') "
    old = "from A#window.length(2) select v insert into B;"
    interpreter = Interpreter(compile_rules(streams + head + old + reader))
    assert total(interpreter, [1, 2], 0) == [1, 3]
    interpreter, report = changed(interpreter, compile_rules(streams + head + text + reader))
    reasons = {fate.name: fate.why for fate in report.reset}
    assert reasons["b"] == why and reasons["sum"].endswith("changed")
    assert total(interpreter, [4], 5) == [4]


def test_a_table_goes_on_though_other_queries_write_it() -> None:
    table = "define stream A (k string, v long); define table T (k string, v long);"
    write = "@info(name='w') from A[v > {least}] select k, v insert into T;"
    interpreter = Interpreter(compile_rules(table + write.format(least=0)))
    interpreter.send("A", [(1, ["a", 1])])
    interpreter, report = changed(interpreter, compile_rules(table + write.format(least=5)))
    assert [str(fate) for fate in report.kept] == ["table T"]
    interpreter.send("A", [(2, ["b", 2])])
    assert [row.values for row in interpreter.shared.tables["T"].rows()] == [["a", 1]]


def test_callbacks_stay() -> None:
    plan = compile_rules("define stream A (v long); from A select v insert into B;")
    interpreter, out = Interpreter(plan), []
    interpreter.on_stream("B", lambda rows: out.extend(row.values for row in rows))
    interpreter, _ = changed(interpreter, plan)
    interpreter.send("A", [(1, [5])])
    assert out == [[5]]


def test_the_old_rules_are_gone() -> None:
    old = compile_rules(
        "define stream A (v long); define engine E (queue = 1 min);"
        "define trigger Tick at every 1 sec; @info(name='x') from A select v insert into B;"
    )
    interpreter, report = changed(Interpreter(old), compile_rules("define stream A (v long);"))
    gone = [str(fate) for fate in report.dropped]
    assert gone == ["trigger Tick", "engine E", "query x"] and not report.kept
    assert interpreter.plan.queries == ()


def test_triggers_on_the_walls_clock_go_on_or_begin_now() -> None:
    text = (
        "@app:compat('siddhi') @app:playback(idle.time='1 hour', increment='1 sec') "
        "define stream S (v long); define trigger Old at every 100 milliseconds; "
    )
    first = Interpreter(compile_rules(text))
    first.send("S", [(5, [1])])
    first.wall(1000)
    first.wall(1060)
    second, _ = changed(
        first, compile_rules(text + "define trigger New at every 100 milliseconds;")
    )
    fired: list[str] = []
    for name in ("Old", "New"):
        second.on_stream(name, lambda _, name=name: fired.append(name))  # type: ignore[misc]
    second.wall(1100)
    assert fired == ["Old"]
    second.wall(1160)
    assert fired == ["Old", "New"]
