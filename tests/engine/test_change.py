"""A change of rules in the engine: what did not change goes on as if all had run all along."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine.change import changed, compiled_for
from cep.engine.compiled import Machine
from cep.engine.native import Compiled, Run
from cep.engine.queues import queue
from cep.engine.snapshot import SnapshotError, restore, seed_of, take
from cep.plan import compile_rules
from cep.plan.change import Report
from cep.plan.nodes import Plan, Stream
from tests.campaign import NUMBA
from tests.engine.chains import apps
from tests.engine.mixed import RULES, mixed
from tests.engine.test_against_reference import examples
from tests.reference.generate_changes import ChangeCase, changes
from tests.reference.generate_families import filter_plans, window_plans
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import SourceRow, cases

Found = dict[str, list[Any]]
COUNTED = ("number", "seq", "events")
"""What depends on which other rules there are."""


def fed(run: Run, rows: Sequence[SourceRow]) -> Found:
    """What rows lead to, by stream."""
    numbers = _names(run)
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for one in run.push_row(*row).dicts():
            shown = {name: value for name, value in one.items() if name not in COUNTED}
            if "arrangement" in one:
                numbers = _names(run)
                shown["arrangement"] = [numbers[number] for number in one["arrangement"]]
            found[one["stream"]].append(shown)
    return dict(found)


def _names(run: Run) -> dict[int, Any]:
    """Event and key slot by number."""
    plan = run.rules.plan
    named = {one.name: one.number for one in (*plan.events, *plan.complexes)}
    named |= {f"{one.complex}@{one.engine}": one.number for one in plan.chained}
    slots = range(max(len(run.keys), 1))
    return {
        number + slot * plan.number_stride: (name.partition("@")[0], slot)
        for name, number in named.items()
        for slot in slots
    }


def check(
    case: ChangeCase,
    rows: Sequence[SourceRow],
    cut: int,
    *,
    jit: bool = False,
    machine: Machine = "needed",
    mode: Mode = "lived",
) -> Report:
    def started(plan: Plan) -> Run:
        return Compiled(plan, jit=jit, machine=machine).start(mode=mode)

    rows = sorted(rows, key=lambda row: row[1])
    run, always = started(case.before), started(case.together)
    fed(run, rows[:cut])
    fed(always, rows[:cut])
    run, report = changed(run, case.after)
    fresh = started(case.after)
    found, from_start, from_now = (fed(one, rows[cut:]) for one in (run, always, fresh))
    kept = {(fate.kind, fate.name) for fate in report.kept}
    for stream in case.after.streams:
        name = stream.name
        writers = _writers(case.after, name)
        behind = _behind(case.after, name, set())
        if writers == _writers(case.together, name) and behind <= kept:
            assert found.get(name) == from_start.get(name), f"{name} goes on\n{report}"
        elif not writers & kept and _reads_sources(case.after, stream):
            assert found.get(name) == from_now.get(name), f"{name} is new\n{report}"
    return report


def _writers(plan: Plan, stream: str) -> set[tuple[str, str]]:
    written = {("query", query.name) for query in plan.queries if query.target == stream}
    for kind, operators in (
        ("event", plan.events),
        ("complex", plan.complexes),
    ):
        written |= {(kind, op.name) for op in operators if op.name == stream}
    return written


def _behind(plan: Plan, stream: str, seen: set[str]) -> set[tuple[str, str]]:
    """Everything that decides which rows a stream has; for events that is their queue, too."""
    if stream in seen:
        return set()
    seen.add(stream)
    found = _writers(plan, stream)
    found |= {("engine", event.engine) for event in plan.events if event.name == stream}
    read = (one.stream for query in plan.queries if query.target == stream for one in query.inputs)
    return found.union(*(_behind(plan, name, seen) for name in read))


def _reads_sources(plan: Plan, stream: Stream) -> bool:
    """Whether a stream is made by queries of what nothing in the rules makes."""
    sources = {source.name for source in plan.sources}
    writers = [query for query in plan.queries if query.target == stream.name]
    return bool(writers) and all(
        one.stream in sources and not _writers(plan, one.stream)
        for query in writers
        for one in query.inputs
    )


@examples(200)
@given(st.data())
def test_events(data: st.DataObject) -> None:
    plan, rows = data.draw(cases())
    check(data.draw(changes(plan)), rows, data.draw(st.integers(0, len(rows))))


@examples(150)
@given(st.data())
def test_queries(data: st.DataObject) -> None:
    case = data.draw(changes(data.draw(query_plans())))
    rows = data.draw(query_rows(moderate=True))
    check(case, rows, data.draw(st.integers(0, len(rows))))


@examples(150)
@given(st.data())
def test_families(data: st.DataObject) -> None:
    case = data.draw(changes(data.draw(st.one_of(filter_plans(), window_plans()))))
    rows = data.draw(query_rows(moderate=True))
    check(case, rows, data.draw(st.integers(0, len(rows))))


@examples(150)
@given(st.data())
def test_matches(data: st.DataObject) -> None:
    text, rows = data.draw(apps())
    case = data.draw(changes(compile_rules(text, "app.cep")))
    check(case, rows, data.draw(st.integers(0, len(rows))))


@pytest.mark.campaign
@examples(3)
@given(st.data())
def test_matches_compiled_by_numba(data: st.DataObject) -> None:
    text, rows = data.draw(apps())
    case = data.draw(changes(compile_rules(text, "app.cep")))
    check(case, rows, len(rows) // 2, jit=True)


MORE = RULES.replace(
    "define event Up",
    "from Tick[symbol == 'Q'] select symbol insert into Quoted;\n"
    "from Tick#window.length(5) select symbol, max(bid) as most group by symbol insert into Most;\n"
    "define event Up",
)


@pytest.mark.parametrize("jit", [False, NUMBA])
def test_a_snapshot_after_a_change_continues_exactly(jit: bool) -> None:
    rows = mixed(600)
    before, after = compile_rules(RULES), compile_rules(MORE)
    run, always = Compiled(before, jit=jit).start(), Compiled(after, jit=jit).start()
    fed(run, rows[:200])
    fed(always, rows[:200])
    run, report = changed(run, after)
    assert [fate.name for fate in report.new] == ["query3", "query4"] and not report.reset
    assert fed(run, rows[200:400]).keys() >= {"Caught", "Most"}
    saved = take(run)
    with pytest.raises(SnapshotError, match="other rules"):
        restore(Compiled(after, jit=jit), saved)
    restored = restore(Compiled(after, jit=jit, seed=seed_of(saved)), saved)
    expected = [one for row in rows[400:] for one in run.push_row(*row).dicts()]
    assert [one for row in rows[400:] for one in restored.push_row(*row).dicts()] == expected
    assert take(restored) == take(run)
    fed(always, rows[200:])
    assert restored.dropped == always.dropped


def test_the_run_goes_on_while_the_new_rules_are_compiled() -> None:
    """Strings and keys that come meanwhile are not mixed up with those of the new rules."""
    rows = mixed(600)
    text = MORE.replace("Caught('A')", "Caught('New')").replace("close 'A'", "close 'Other'")
    run = Compiled(compile_rules(RULES), jit=False).start()
    fed(run, rows[:100])
    rules = compiled_for(run, compile_rules(text))
    run.push_row("Tick", rows[100][1], {"symbol": "Late", "bid": 1.0})
    fed(run, rows[100:300])
    run, _ = changed(run, rules)
    assert sorted(run.keys) == ["A", "B", "C", "Late", "New"]
    always = Compiled(compile_rules(RULES), jit=False).start()
    fed(always, rows[:100])
    always.push_row("Tick", rows[100][1], {"symbol": "Late", "bid": 1.0})
    fed(always, rows[100:300])
    found, expected = fed(run, rows[300:]), fed(always, rows[300:])
    assert found["Caught"] and found["Band"] == expected["Band"]
    assert [one["key"] for one in found["Caught"]] == [one["key"] for one in expected["Caught"]]


ENGINE = """
define stream S (n int, symbol string);
define engine Main (queue = 1 min);
define event One in Main for each symbol as every S[n == 1] repeat allow;
define event Two in Main for each symbol as every S[n == 2] repeat allow;
define event Three in Main for each symbol as every S[n == 3] repeat allow;
define complex Rise in Main for each symbol as One followed by Two within 1 min;
{more}
"""


def steps(run: Run, *numbers: int, first: int) -> list[str]:
    rows = [("S", first + place, {"n": n, "symbol": "A"}) for place, n in enumerate(numbers)]
    return list(fed(run, rows))


@pytest.mark.parametrize("jit", [False, True])
def test_a_new_complex_event_sees_what_happens_from_now_on(jit: bool) -> None:
    more = "define complex Other in Main for each symbol as One followed by Three within 1 min;"
    run = Compiled(compile_rules(ENGINE.format(more="")), jit=jit).start()
    assert steps(run, 1, 1, 3, first=0) == ["One", "Three"]
    run, report = changed(run, compile_rules(ENGINE.format(more=more)))
    assert [str(fate) for fate in report.new] == ["complex Other"] and not report.reset
    assert steps(run, 3, first=10) == ["Three"]
    assert steps(run, 2, first=11) == ["Two", "Rise"]
    assert steps(run, 1, 3, first=12) == ["One", "Three", "Other"]


def test_queues_keep_their_events_and_what_they_are_bound_to() -> None:
    """Numbers of what goes on may be others now; what is gone is taken off the lists."""
    gone = "define complex Gone in Main for each symbol as One followed by Two within 30 sec;"
    run = Compiled(compile_rules(ENGINE.format(more=gone)), jit=False).start()
    steps(run, 1, 2, 3, first=0)
    before = queue(run, "Main")
    old = {one.name: one.number for one in run.rules.plan.complexes}
    assert before[0].binds == (old["Rise"], old["Gone"])
    nought = "".join(
        f"define event No{n} in Main for each symbol as S[n == {n}];\n" for n in (7, 8, 9)
    )
    text = ENGINE.format(more="").replace("define event One", f"{nought}define event One")
    text = text.replace(
        "define event Three in Main for each symbol as every S[n == 3] repeat allow;", ""
    )
    run, report = changed(run, compile_rules(text))
    new = {one.name: one.number for one in run.rules.plan.complexes}
    assert new["Rise"] != old["Rise"]
    after = queue(run, "Main")
    assert [(one.event, one.time_msc, one.seq) for one in after] == [
        (one.event, one.time_msc, one.seq) for one in before[:2]
    ]
    assert [one.binds for one in after] == [(new["Rise"],), (new["Rise"],)]
    assert [fate.name for fate in report.dropped] == ["Three", "Gone"]
    assert steps(run, 2, first=10) == ["Two"]


def test_a_changed_engine_starts_with_an_empty_queue() -> None:
    run = Compiled(compile_rules(ENGINE.format(more="")), jit=False).start()
    steps(run, 1, first=0)
    text = ENGINE.format(more="").replace("queue = 1 min", "queue = 2 min")
    run, report = changed(run, compile_rules(text))
    assert {fate.name for fate in report.reset} == {"Main", "One", "Two", "Three", "Rise"}
    assert steps(run, 2, first=10) == ["Two"]


HYBRID = """
define stream S (symbol string, mid double);
define table Last (symbol string, mid double);
@info(name='band')
from S#window.length(10) select symbol, sum(mid) as total group by symbol insert into Band;
@info(name='every third') from Band select symbol, total output every 3 events insert into Some;
@info(name='keep') from S select symbol, mid insert into Last;
{more}
@info(name='after') from Some#window.length(3) select sum(total) as t insert into After;
"""


@pytest.mark.parametrize("way", ["always", "interpreter"])
def test_rules_that_no_module_can_run_go_on(way: str) -> None:
    more = "@info(name='big') from S[mid > 4] select symbol, mid insert into Big;"
    before, after = (compile_rules(HYBRID.format(more=text)) for text in ("", more))
    rows = [("S", place, {"symbol": "AB"[place % 2], "mid": float(place)}) for place in range(40)]

    def started(plan: Plan) -> Run:
        rules = Compiled(plan, jit=False, machine="always")
        return (rules.by_interpreter if way == "interpreter" else rules).start()

    for cut in (0, 1, 7, 20):
        run, always = started(before), started(after)
        fed(run, rows[:cut])
        fed(always, rows[:cut])
        run, report = changed(run, after)
        assert [fate.name for fate in report.new] == ["big"] and not report.reset
        assert fed(run, rows[cut:]) == fed(always, rows[cut:])


def test_what_a_module_has_run_starts_empty_in_a_program() -> None:
    """Who changes rules has a program run them from the start, so that this does not happen."""
    text = "@info(name='q') from S#window.length(9) select sum(v) as s insert into T;"
    more = "define table R (v long);"
    before, after = (
        compile_rules("define stream S (v long); " + one) for one in (text, text + more)
    )
    run = Compiled(before, jit=False).start()
    run.push_row("S", 1, {"v": 5})
    run, report = changed(run, after)
    (reset,) = map(str, report.reset)
    assert reset == "query q: the rules no longer run as they did: a module has run them"
    assert run.push_row("S", 2, {"v": 1}).dicts()[0]["s"] == 1
    run = Compiled(before, jit=False, machine="always").start()
    run.push_row("S", 1, {"v": 5})
    run, report = changed(run, after)
    assert not report.reset and run.push_row("S", 2, {"v": 1}).dicts()[0]["s"] == 6


WINDOWS = "define stream S (v long);\n{}"
SIZES = "@info(name='w{n}') from S#window.length({n}) select sum(v) as s insert into T{n};\n"


@pytest.mark.parametrize("cut", [0, 3, 30])
def test_one_more_window_of_a_shape_starts_empty_and_the_others_go_on(cut: int) -> None:
    def rules(sizes: Sequence[int]) -> Plan:
        return compile_rules(WINDOWS.format("".join(SIZES.format(n=n) for n in sizes)))

    rows = [("S", place, {"v": place}) for place in range(60)]
    run = Compiled(rules((2, 4, 6, 8)), jit=False).start()
    always = Compiled(rules((2, 4, 6, 8, 20)), jit=False).start()
    fed(run, rows[:cut])
    fed(always, rows[:cut])
    run, report = changed(run, rules((2, 4, 6, 20, 8)))
    assert [fate.name for fate in report.new] == ["w20"] and not report.reset
    fresh = Compiled(rules((2, 4, 6, 20, 8)), jit=False).start()
    found, expected, new = fed(run, rows[cut:]), fed(always, rows[cut:]), fed(fresh, rows[cut:])
    assert [found[f"T{n}"] for n in (2, 4, 6, 8)] == [expected[f"T{n}"] for n in (2, 4, 6, 8)]
    assert found["T20"] == new["T20"]


JOINS = """
@key('k') define stream L (k string, x long);
@key('k') define stream R (k string, y long);
{first}
@info(name='join') from L#window.length(3) join R#window.time(20) on L.k == R.k
select L.x as x, R.y as y insert into J;
{more}
"""
OTHER = """@info(name='other') from L#window.length(5) join R#window.time(9) on L.k == R.k
select L.x as x, R.y as y insert into O;"""


@pytest.mark.parametrize(
    ("first", "more"), [("from L[x > 3] select x insert into X;", ""), ("", OTHER)]
)
def test_a_join_goes_on_whoever_shares_its_rows(first: str, more: str) -> None:
    before = compile_rules(JOINS.format(first="", more=""))
    after = compile_rules(JOINS.format(first=first, more=more))
    rows = [
        ("LR"[place % 2], place, {"k": "ab"[place % 3 == 0], "xy"[place % 2]: place})
        for place in range(60)
    ]
    run, always = Compiled(before, jit=False).start(), Compiled(before, jit=False).start()
    assert run.rules.module is not None
    fed(run, rows[:30])
    fed(always, rows[:30])
    run, report = changed(run, after)
    assert "join" in {fate.name for fate in report.kept}
    fresh = Compiled(after, jit=False).start()
    found, new = fed(run, rows[30:]), fed(fresh, rows[30:])
    assert found["J"] == fed(always, rows[30:])["J"] != new["J"]
    assert found.get("O") == new.get("O")
