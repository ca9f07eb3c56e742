"""Records as they were lived: what is compiled goes by the clocks of the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from loguru import logger

from cep.app import App
from cep.clocks import Mode
from cep.engine.apart import is_distributable
from cep.engine.change import changed
from cep.engine.explain import how_it_runs
from cep.engine.native import Compiled
from cep.engine.snapshot import restore, take
from cep.engine.watermarks import Telling
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests.metamorphic.changes import own_functions
from tests.metamorphic.rules import random_rules
from tests.metamorphic.triples import stream_of
from tests.metamorphic.ways import END, Step

JOINED = (
    "define stream S (n int, symbol string); define stream R (n int, symbol string);"
    " from S#window.time(10 ms) as s join R#window.time(10 ms) as r on s.symbol == r.symbol"
    " select s.n as n, r.n as m insert into J;"
)
OF_ALL = (
    "define stream S (n int, symbol string); define stream R (n int, symbol string);"
    " from S[n > 0] select n insert into P;"
    " from P#window.time(10 ms) select sum(n) as total insert into T;"
)
BARS = (
    "define stream S (n double, symbol string);"
    " from S#bars:ticks(n, 1.0, 1) select symbol, close group by symbol insert into Bar;"
    " from Bar#window.time(10 ms) select symbol, sum(close) as total group by symbol insert into T;"
)
WAITING = "@reorder(max.delay='30 milliseconds', late.stream='Late') define stream A (v int);"


def app(rules: str, output: str) -> App:
    return App(rules, outputs=[output], jit=False, mode="lived")


def test_the_watermark_of_one_key_moves_no_window_of_all() -> None:
    """A record that is late behind its key's watermark meets what the clock of all keys left."""
    of_one, of_all = app(OF_ALL, "T"), app(OF_ALL, "T")
    for one in (of_one, of_all):
        one.send("S", (1, "A"), 1_000)
    of_one.advance(1_050, keys=["A"])
    of_all.advance(1_050)
    assert [row["total"] for row in of_one.send("S", (2, "A"), 1_005)] == [3]
    assert [row["total"] for row in of_all.send("S", (2, "A"), 1_005)] == [2]


def test_a_join_goes_by_what_all_its_sources_keys_have_told() -> None:
    run = app(JOINED, "J")
    run.send("R", (1, "A"), 1_000)
    run.send("S", (2, "B"), 1_050)
    assert run.send("S", (4, "A"), 1_005) == [], "R's row has left by B's record"


@pytest.mark.parametrize("rules", [OF_ALL, JOINED])
def test_a_snapshot_and_a_change_keep_the_clocks_of_all_keys(rules: str) -> None:
    plan = compile_rules(rules)
    more = compile_rules(rules + " from R select n insert into Other;")
    whole, run = (Compiled(plan, jit=False).start() for _ in range(2))
    steps = [
        *(("S", 1_000, "A", 1), ("R", 1_002, "A", 2), ("S", 1_050, "B", -1)),
        *(("R", 1_001, "A", 4), ("S", 1_009, "A", 8), ("S", 1_055, "A", 16)),
    ]
    for place, (stream, at, symbol, n) in enumerate(steps):
        row = {"n": n, "symbol": symbol}
        expected = list(whole.push_row(stream, at, row).dicts())
        found = [one for one in run.push_row(stream, at, row).dicts() if one["stream"] != "Other"]
        assert found == expected
        if place == 2:
            run = restore(run.rules, take(run))
        if place == 3:
            run, _ = changed(run, more)


def test_a_window_of_all_keys_is_in_no_module_where_each_key_has_a_clock() -> None:
    """Only of what was lived: else there is one clock."""
    crossing = (
        "define stream S (n double, symbol string); define engine Main (queue = 2 sec);"
        " define event Up in Main for each symbol as S[n > 0.0];"
        " define complex Both in Main as Up('A') -> Up('B') within 1 sec;"
        " from Up#window.time(50 milliseconds) select key, count() as n group by key insert into T;"
    )
    rules = Compiled(compile_rules(crossing), jit=False)
    name = rules.plan.queries[0].name
    assert rules.is_generated("sorted") and rules.in_mode("sorted").module is not None
    lived = rules.in_mode("lived")
    assert lived.program is not None
    assert lived.in_mode("lived") is lived and rules.start().rules is lived
    (told,) = rules.why_not_generated("lived").items()
    assert told == (name, "its window of all keys has a clock for each")
    said = f"of records as they came: a program, as\n    {name}: {told[1]}"
    assert said in how_it_runs(rules.plan)


@pytest.mark.parametrize(("mode", "total"), [("lived", 5.0), ("sorted", 4.0)])
def test_a_snapshot_is_of_the_rules_in_its_mode(mode: Mode, total: float) -> None:
    rules = Compiled(compile_rules(BARS), outputs=["T"], jit=False)
    run = rules.start(mode=mode)
    run.push_row("S", 1_000, {"n": 1.0, "symbol": "A"})
    run.push_row("S", 1_050, {"n": 2.0, "symbol": "B"})
    run = restore(rules, take(run))
    rows = run.push_row("S", 1_009, {"n": 4.0, "symbol": "A"}).dicts()
    assert [row["total"] for row in rows] == [total]


def test_as_in_siddhi_there_is_one_clock_though_each_key_is_late_by_itself() -> None:
    plan = compile_rules(
        "@app:compat('siddhi') define stream S (n double, symbol string);"
        " from S#window.time(10 ms) select symbol, sum(n) as total group by symbol insert into T;"
        " define event E for each symbol as every S[n > 0.0] repeat allow;"
    )
    rules, meaning = Compiled(plan, jit=False), InterpretedRun(plan, mode="lived")
    run, batched = rules.start(), rules.start()
    steps = [(1_000, "A"), (1_050, "B"), (1_009, "A"), (1_070, "B")]
    expected = []
    for at, symbol in steps:
        made = meaning.push_row("S", at, {"n": 1.0, "symbol": symbol})
        found = run.push_row("S", at, {"n": 1.0, "symbol": symbol}).dicts()
        assert by_stream(found) == by_stream(made)
        expected += made
    columns = {"n": [1.0] * len(steps), "symbol": [symbol for _, symbol in steps]}
    rows = batched.push("S", columns, [at for at, _ in steps]).dicts()
    assert by_stream(rows) == by_stream(expected)
    assert [row["total"] for row in by_stream(expected)["T"]] == [1.0, 1.0, 1.0, 1.0]


def test_rules_of_ticks_by_symbol_stay_compiled() -> None:
    plan = compile_rules(
        "define stream Tick (symbol string, bid double); define stream Deal (symbol string);"
        " from Tick#window.time(1 min) select symbol, bid, avg(bid) as m group by symbol"
        " insert into Band;"
        " define event Up for each symbol as Band[bid > m];"
        " define event Fill for each symbol as every Deal[symbol != ''];"
        " define complex Both for each symbol as Up followed by Fill within 10 sec;"
    )
    rules = Compiled(plan, jit=False)
    lived = rules.in_mode("lived")
    assert lived.module is not None and not lived.stages.clocks


@pytest.mark.parametrize("lived", [True, False])
def test_keys_run_apart_behind_complex_events_too(lived: bool) -> None:
    found = (
        "define stream S (n int, symbol string); define engine Main (queue = 10 sec);"
        " define event Up in Main for each symbol as every S[n > 0] repeat allow;"
        " define complex Turn in Main for each symbol as Up within 1 sec;"
        " from Turn#window.time(1 sec) select key, count() as rows group by key insert into T;"
    )
    assert is_distributable(Compiled(compile_rules(found), jit=False), lived=lived) is None


def test_where_rows_wait_what_reads_other_streams_is_in_no_module_either() -> None:
    rules = (
        f"{WAITING} define stream B (v int); define event Any as every B[v > 0];"
        " from Any select seq output last every 2 events insert into P;"
    )
    plan = compile_rules(rules)
    compiled = Compiled(plan, jit=False)
    assert compiled.why_not_generated("lived")["A"] == "its rows wait for their order"
    run, meaning = compiled.start(), InterpretedRun(plan, mode="lived")
    made = 0
    for at, stream in ((10, "B"), (40, "A"), (35, "B"), (30, "A"), (90, "B"), (120, "B")):
        rows = run.push_row(stream, at, {"v": at}).dicts()
        assert rows == meaning.push_row(stream, at, {"v": at})
        made += len(rows)
    assert made


def test_no_row_that_comes_later_is_taken_for_one_of_a_late_rows_record() -> None:
    """A late row waits in its window while its record is at work, and no longer."""
    rules = compile_rules(
        f"{WAITING} define stream B (v int); from A#window.length(3) as l join"
        " B#window.time(120 milliseconds) as r on l.v > r.v select r.v as v insert into T;"
    )
    run, meaning = Compiled(rules, jit=False).start(), InterpretedRun(rules, mode="lived")
    found = [*run.advance(10_242, is_complete=True).dicts()]
    expected = meaning.advance(10_242)
    for stream, at, v in (("A", 10_302, 1), ("B", 9_909, 0), ("A", 10_305, 5), ("B", 10_330, 3)):
        found += run.push_row(stream, at, {"v": v}).dicts()
        expected += meaning.push_row(stream, at, {"v": v})
    found += run.end(15_773).dicts()
    assert found == expected + meaning.end(15_773) and [row["v"] for row in found] == [3]


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    """Rules that are generated may fail for a row."""
    logger.disable("cep")
    yield
    logger.enable("cep")


@pytest.mark.parametrize("number", range(24))
def test_watermarks_of_keys_move_the_clocks_of_the_interpreter(number: int) -> None:
    """Of generated rules, records and watermarks of some keys, of all, of nobody in particular."""
    random = Random(number)
    rules = random_rules(random)
    steps = stream_of(random, rules)
    with own_functions():
        plan = compile_rules(rules.text)
        compiled = Compiled(plan, jit=False).start()
        meaning = InterpretedRun(plan, mode="lived")
        newest_ms = common_ms = 0
        for step in steps:
            newest_ms = max(newest_ms, step[1])
            if random.random() < 0.3:
                at_ms = newest_ms + random.choice((-400, -20, 0, 10, 300))
                keys = tuple(random.sample(("x", "y", "z"), random.randint(1, 3)))
                common_ms = random.choice((common_ms, max(common_ms, at_ms - 50)))
                compiled.watermarks.clock_msc = common_ms or None
                told = Telling(at_ms, keys, is_complete=random.random() < 0.8)
                rows = compiled.tell(told, compiled.next_order)
                expected = meaning.tell(
                    keys, at_ms, common_ms or None, is_complete=told.is_complete
                )
                assert by_stream(rows.dicts()) == by_stream(expected)
            if random.random() < 0.1:
                at_ms = newest_ms + random.choice((0, 100))
                expected = meaning.advance(at_ms)
                rows = compiled.advance(at_ms, is_complete=True)
                assert by_stream(rows.dicts()) == by_stream(expected)
            assert by_stream(sent(compiled, step)) == by_stream(sent(meaning, step))


def sent(run: Any, step: Step) -> list[dict[str, Any]]:
    """What a step leads to."""
    stream, at_ms, row = step
    if row is not None:
        made = run.push_row(stream, at_ms, row)
    elif stream == END:
        made = run.end(at_ms)
    elif isinstance(run, InterpretedRun):
        made = run.advance(at_ms)
    else:
        made = run.advance(at_ms, is_complete=True)
    return list(made) if isinstance(run, InterpretedRun) else list(made.dicts())


def by_stream(rows: Any) -> dict[str, list[dict[str, Any]]]:
    """The rows of each stream, in order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["stream"], []).append(row)
    return found
