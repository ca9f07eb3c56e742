"""JEPC's matchings on the machine, beside the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine.change import changed
from cep.engine.machine import matchings
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, seed_of, take
from cep.interpreter.run import InterpretedRun
from cep.jepc import PatternMatcher, PatternSymbol, Stream
from cep.jepc.catalog import Catalog
from cep.jepc.queries import Input
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from cep.plan.query import Match, Matching, Query, StreamInput
from tests.campaign import examples, only
from tests.engine.machine.test_change import changed_meaning
from tests.engine.test_matchings import (
    MEMBERS,
    ONE,
    ROWS,
    SCHEMA,
    SHAPES,
    TWO,
    TWO_ENDS,
    TWO_SHARED,
    VARIABLES,
    Event,
    Shape,
    events_of,
    plan_of,
    steady,
)
from tests.jepc.generated import EVENTS, SCHEMAS, networks
from tests.jepc.test_semantics import Raw
from tests.jepc.test_semantics import events_of as jepc_events

MODES = pytest.mark.parametrize("mode", ["sorted", "lived"])
Members = dict[int, tuple[int, int]]
Rows = list[tuple[int, Any, Any, Any]]
generously = settings(deadline=None, suppress_health_check=list(HealthCheck))


def started(plan: Plan, mode: Mode, *, jit: bool = False) -> tuple[Run, InterpretedRun]:
    """The rules as one program, and in the interpreter."""
    rules = Compiled(plan, jit=jit, machine="always")
    assert rules.as_program(mode) is not None, rules.why_not_whole
    run = rules.start(mode=mode)
    assert run.machine is not None
    return run, InterpretedRun(plan, mode=mode)


def push(run: Run, meant: InterpretedRun, stream: str, time_ms: int, row: dict[str, Any]) -> int:
    """What an event leads to, in order; how many rows, which must be alike."""
    found = run.push_row(stream, time_ms, row).dicts()
    assert found == meant.push_row(stream, time_ms, row)
    assert run.dropped == meant.dropped
    return len(found)


def check(plan: Plan, events: Sequence[Event], mode: Mode = "sorted", *, jit: bool = False) -> int:
    run, meant = started(plan, mode, jit=jit)
    return sum(push(run, meant, "s", time_ms, row) for time_ms, row in events)


@MODES
@settings(generously, max_examples=examples(150))
@given(SHAPES, MEMBERS, ROWS, st.sampled_from([1, 2, 3, 4, 10_000]))
@example(TWO_ENDS, {0: (1, 6), 1: (2, 6)}, steady(6), 10_000)
@example(TWO_SHARED, ONE, [*steady(2), (0, 1, 0.0, "x"), *steady(2)], 1)
@example(TWO_SHARED, TWO, [(0, 1, 0.0, "x")] * 4 + [(4, 1, 0.0, "x"), (0, 1, 0.0, "x")] * 2, 1)
def test_as_interpreted(mode: Mode, shape: Shape, members: Members, rows: Rows, most: int) -> None:
    check(plan_of(shape, members, most), events_of(rows), mode)


PATTERNS = ["(x | y)* x (y | u){3}", "(x y* | u+){2,4} y?", "(x | y u)+ (u | x){2} y*", "x{90} y?"]
WIDE = st.builds(
    replace, SHAPES, pattern=st.sampled_from(PATTERNS), gaps=st.sampled_from(["none", "invisible"])
)


@pytest.mark.parametrize("kept", [0, 1_000])
@settings(generously, max_examples=examples(150))
@given(WIDE, MEMBERS, ROWS, st.sampled_from([1, 2, 30]))
def test_many_states(kept: int, shape: Shape, members: Members, rows: Rows, most: int) -> None:
    """Also where those are forgotten at each instant that nothing is in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matchings, "STATES_KEPT", kept)
        check(plan_of(shape, members, most), events_of(rows))


def of_words(pattern: str, within: int = 90) -> PatternMatcher:
    """A matcher of letters."""
    symbols = {name: PatternSymbol(f"k == '{name}'", {"z": "a"}) for name in "xy"}
    return PatternMatcher(Stream("s"), pattern, within, symbols, VARIABLES, ("z",))


def plan_with(query: PatternMatcher) -> Plan:
    catalog = Catalog()
    catalog.register("s", SCHEMA)
    catalog.create("q", query)
    return catalog.plan()


def letters(text: str) -> list[Event]:
    return events_of([(1, n, 0.0, letter) for n, letter in enumerate(text)])


def test_positions_of_several_words() -> None:
    """One that needs more than 62 positions has them in two words."""
    assert check(plan_with(of_words("x{60} y{3} x{4}")), letters("x" * 61 + "yyyxxxxyx")) == 1
    assert check(plan_with(of_words("(x y | y x){40}")), letters("xyyx" * 25)) > 3


def test_exponentially_many_states_do_not_stay() -> None:
    """There are 2^9 and more; a few of them are kept, and the memory is used again."""
    query = of_words("(x | y)* x (x | y){8}", within=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matchings, "STATES_KEPT", 50)
        run, _ = started(plan_with(query), "sorted")
        assert run.machine is not None
        tops, number, time_ms = list[int](), 1, 1_000
        for turn in range(900):
            number = number * 48_271 % 0x7FFF_FFFF
            run.push_row("s", time_ms + turn, {"a": turn, "d": 0.0, "k": "xy"[number >> 9 & 1]})
            tops.append(int(run.machine.memory.i[0, 0]))
    assert tops[-1] <= tops[450]


@MODES
@settings(generously, max_examples=examples(150))
@given(SHAPES, st.lists(MEMBERS, min_size=2, max_size=4), ROWS, st.sampled_from([1, 9]), st.data())
def test_members_come_and_go(
    mode: Mode, shape: Shape, members: list[Members], rows: Rows, most: int, data: st.DataObject
) -> None:
    """What stays as it is goes on, also from snapshots; what is new begins empty."""
    plans = [plan_of(shape, one, most) for one in members]
    run, meant = started(plans.pop(), mode)
    cuts = sorted(data.draw(st.integers(0, len(rows))) for _ in plans)
    for place, (time_ms, row) in enumerate(events_of(rows)):
        while cuts and cuts[0] == place:
            del cuts[0]
            plan = plans.pop()
            run, report = changed(run, plan)
            assert run.machine is not None
            meant, expected = changed_meaning(meant, plan, mode)
            assert report == expected
            if data.draw(st.booleans()):
                saved = take(run)
                rules = Compiled(plan, jit=False, seed=seed_of(saved), machine="always")
                run = restore(rules, saved)
        push(run, meant, "s", time_ms, row)


@MODES
@settings(generously, max_examples=examples(300))
@given(networks(), EVENTS)
def test_networks(mode: Mode, query: Input, raw: Raw) -> None:
    """Any operator of JEPC, also on top of another one."""
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    catalog.create("q", query)  # type: ignore[arg-type]
    plan = catalog.plan()
    if Compiled(plan, jit=False, machine="always").as_program(mode) is None:
        assert not any(isinstance(one.input, Matching) for one in plan.queries)
        return
    run, meant = started(plan, mode)
    for stream, row, time_ms in jepc_events(raw):
        push(run, meant, stream, time_ms, row)


STREAMS = (
    "define stream s (a int, d double, k string);\n"
    "define stream v (z int, w long, f double, t string);\n"
)
"""What events are, and what variables are."""
SELECTED = {
    "groups": "select e1.k as k, sum(e2.z) as t, count() as n group by e1.k having n > 1",
    "doubles": "select avg(e1.d) as m, max(e2.f) as f, distinctCount(e2.t) as t",
    "order and limit": "select e2.z as z order by z limit 1",
    "offset": "select e2.z as z offset 1",
    "rates": "select e1.k as k, e2.w as w group by e1.k output last every 3 events",
    "times": "select eventTimestamp() as at, eventTimestamp(e1) as here, e2.z + e1.a as s",
}
INPUTS = {
    "alone": "s",
    "filtered": "s[a > 0]",
    "length": "s[a > 0]#window.length(3)[d < 3.0]",
    "batches": "s#window.lengthBatch(3)",
    "times": "s#window.timeJump(7, 3)",
}


def selecting(shape: Shape, source: str, selected: str, *, by_key: bool = False) -> Plan:
    """A matching with what rule files say behind and in front of it.

    It takes the place of a sequence of two states, which have its slots.
    """
    query = f"@info(name='q') from e1=s, e2=v {selected} insert into Out;"
    inside = f"partition with (k of s, t of v) begin {query} end;" if by_key else query
    plan = compile_rules(STREAMS + inside)
    (given,) = compile_rules(f"{STREAMS}from {source} select a insert into Out;").queries
    (made,) = plan_of(shape, {0: (1, 6)}).queries
    assert isinstance(made.input, Matching) and isinstance(given.input, StreamInput)
    matching = replace(made.input, input=given.input)

    def matched(one: Any) -> Any:
        is_it = isinstance(one, Query) and isinstance(one.input, Match)
        return replace(one, input=matching) if is_it else one

    return replace(plan, operators=tuple(map(matched, plan.operators)))


@pytest.mark.parametrize("selected", SELECTED)
@settings(generously, max_examples=examples(60))
@given(SHAPES, ROWS, st.sampled_from(["sorted", "lived"]))
def test_what_is_selected(selected: str, shape: Shape, rows: Rows, mode: Mode) -> None:
    check(selecting(shape, "s", SELECTED[selected]), events_of(rows), mode)


@pytest.mark.parametrize("source", INPUTS)
@settings(generously, max_examples=examples(60))
@given(SHAPES, ROWS, st.sampled_from(["sorted", "lived"]))
def test_what_stands_in_front(source: str, shape: Shape, rows: Rows, mode: Mode) -> None:
    check(selecting(shape, INPUTS[source], "select e1.a as a, e2.z as z"), events_of(rows), mode)


@settings(generously, max_examples=examples(100))
@given(SHAPES, ROWS, st.sampled_from(["sorted", "lived"]))
def test_each_key_has_partial_matches_of_its_own(shape: Shape, rows: Rows, mode: Mode) -> None:
    plan = selecting(shape, "s", "select e1.k as k, e2.z as z, count() as n", by_key=True)
    check(plan, events_of(rows), mode)


RISING = Shape(
    "x y u", (("true", "z = a"), ("a >= z", "w = a"), ("a > {c}", "f = d")), "none", False
)


def alternatives() -> list[Event]:
    """Hundreds of rows of one instant, then some of two more."""
    rows = [(0, n % 3, 1.0, "x") for n in range(200)]
    rows += [(int(not n), n % 3, 1.0, "x") for n in range(20)]
    rows += [(int(not n), 2, 1.0, "x") for n in range(2)]
    return events_of(rows)


@pytest.mark.parametrize("jit", [False, only(True)])
def test_many_ways_at_once_find_room(jit: bool) -> None:
    """Rings and output grow in the middle of a row."""
    plan = plan_of(RISING, {0: (1, 9), 1: (2, 9)})
    run, meant = started(plan, "sorted", jit=jit)
    events = alternatives()
    columns = {name: [row[name] for _, row in events] for name in SCHEMA}
    made = run.push("s", columns, [time for time, _ in events]).dicts()
    assert made == [one for time, row in events for one in meant.push_row("s", time, row)]
    assert len(made) > 1_000


def test_memory_is_used_again() -> None:
    run, _ = started(plan_of(RISING, {0: (1, 9), 1: (2, 9)}), "sorted")
    assert run.machine is not None
    tops = []
    for turn in range(4):
        for time, row in alternatives():
            run.push_row("s", time + 1_000 * turn, row)
        tops.append(int(run.machine.memory.i[0, 0]))
    assert len(set(tops[1:])) == 1


def changed_input(change: Callable[[Matching], Matching]) -> Plan:
    plan = plan_of(RISING, {0: (1, 5)})
    (query,) = plan.queries
    assert isinstance(query.input, Matching)
    return replace(plan, operators=(replace(query, input=change(query.input)),))


def test_what_it_cannot_do() -> None:
    def wrong(matching: Matching) -> Matching:
        first, *rest = matching.symbols
        one = replace(first, sets=((0, matching.symbols[1].condition),))
        return replace(matching, symbols=(one, *rest))

    rules = Compiled(changed_input(wrong), jit=False, machine="always")
    assert rules.whole is None
    assert "type bool becomes one of type int" in rules.why_not_whole
