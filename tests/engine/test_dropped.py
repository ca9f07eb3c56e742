"""What is dropped is counted by name and reason, alike in the interpreter and natively."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.dropped import Dropped
from cep.engine.change import changed
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.interpreter.change import changed as changed_interpreter
from cep.interpreter.run import InterpretedRun
from cep.plan import Plan, compile_rules
from tests.engine.test_against_reference import examples
from tests.reference.generate_rows import SourceRow, cases, timed

EVENTS = """
define stream S (symbol string, n int);
define engine Main (queue = 1 min, max = 2);
define engine Far (queue = 1 min) from Main;
define event One in Main for each symbol as every S[n == 1] opposite Two;
define event Two in Main for each symbol as every S[n == 2] repeat allow;
define event Three in Main for each symbol as every S[n == 3] repeat allow;
define complex Pair in Main for each symbol as One followed by Three within 1 min;
define complex Twice in Far for each symbol as Pair and Pair within 1 min;
@info(name='near') @bound(partials='2')
from every a=S[n == 5] -> b=S[n == 6] select a.symbol as symbol insert into Near;
@info(name='wide') @bound(partials='2')
from every a=S[n == 5] -> b=S[n == 7 and symbol == a.symbol] -> c=S[n == 8]
select a.symbol as symbol insert into Wide;
"""
HELD = """
define stream T (symbol string, n int);
@reorder(max.delay='5 milliseconds') define stream R (n int);
@PrimaryKey('n') define table Known (n int);
@info(name='bars') from T#bars:time(n, 1.0, 10 milliseconds) select open insert into Bars;
@info(name='visits') from T#window.session(10 milliseconds) select n insert into Visits;
@info(name='known') from T select n insert into Known;
@info(name='ordered') from R select n insert into Ordered;
"""
ROWS: list[SourceRow] = [
    *(("S", 1000 + at, {"symbol": "A", "n": n}) for at, n in enumerate([1, 1, 2, 1, 2, 2, 2, 2])),
    ("S", 900, {"symbol": "A", "n": 3}),
    *(("S", 1010 + at, {"symbol": "A", "n": n}) for at, n in enumerate([3, 3, 5, 5, 7, 5, 8, 6])),
]
HELD_ROWS: list[SourceRow] = [
    ("T", 2000, {"symbol": "A", "n": 1}),
    ("T", 2030, {"symbol": "A", "n": 2}),
    ("T", 2003, {"symbol": "A", "n": 1}),
    ("R", 2040, {"n": 1}),
    ("R", 2034, {"n": 2}),
    ("R", 2036, {"n": 3}),
]
EXPECTED = {
    "event One": {"repeat": 1, "opposite": 2},
    "event Three": {"late": 1},
    "event Two": {"opposite": 1, "bound": 2},
    "query near": {"bound": 1},
    "query wide": {"bound": 1},
}
EXPECTED_HELD = {
    "query bars": {"late": 1},
    "query visits": {"late": 1},
    "stream R": {"reorder": 1},
    "table Known": {"repeat": 1},
}


def interpreted(plan: Plan, rows: list[SourceRow], mode: Mode = "sorted") -> InterpretedRun:
    run = InterpretedRun(plan, mode=mode)
    for row in rows:
        run.push_row(*row)
    return run


def native(plan: Plan, rows: list[SourceRow], mode: Mode = "sorted", **options: Any) -> Run:
    run = Compiled(plan, **options).start(mode=mode)
    for row in rows:
        run.push_row(*row)
    return run


def test_every_reason_has_a_name_and_a_count() -> None:
    plan = compile_rules(EVENTS + HELD)
    rows = [*ROWS, *HELD_ROWS]
    expected = EXPECTED | EXPECTED_HELD
    assert interpreted(plan, rows).dropped.by_name() == expected
    assert native(plan, rows, jit=False).dropped.by_name() == expected


def test_machine_code_counts_the_same() -> None:
    assert native(compile_rules(EVENTS), ROWS, jit=True).dropped.by_name() == EXPECTED


def test_a_stream_of_their_own_takes_rows_too_late_to_be_put_in_order() -> None:
    """Then nothing is dropped."""
    text = "@reorder(max.delay='5 milliseconds', late.stream='Late') define stream R (n int);"
    plan = compile_rules(f"{text} from R select n insert into Ordered;")
    rows = [row for row in HELD_ROWS if row[0] == "R"]
    assert not interpreted(plan, rows).dropped
    assert not native(plan, rows, jit=False).dropped


def test_an_accepted_late_event_is_not_dropped() -> None:
    plan = compile_rules(EVENTS.replace("max = 2", "max = 2, late = 'accept'"))
    assert "late" not in str(interpreted(plan, ROWS).dropped)
    assert interpreted(plan, ROWS).dropped == native(plan, ROWS, jit=False).dropped


CHAINED = """
define stream S (n int);
define engine Main (queue = 1 min);
define engine Far (queue = 1 min, repeat = 'reject') from Main;
define engine Copies (queue = 1 min, late = 'accept', max = 1) from Main;
define event One in Main as every S[n == 1] repeat allow;
define complex Ones in Main as One followed by One within 1 min;
define complex Many in Far as Ones within 1 min;
define complex More in Copies as Ones followed by Ones within 1 min;
"""


def test_a_complex_event_is_counted_in_each_engine_that_takes_it() -> None:
    rows: list[SourceRow] = [("S", 1000 + at, {"n": 1}) for at in range(6)]
    rows += [("S", 900, {"n": 1})]
    expected = {
        "event One": {"late": 1},
        "event Ones@Copies": {"bound": 2},
        "event Ones@Far": {"repeat": 2},
    }
    plan = compile_rules(CHAINED)
    assert interpreted(plan, rows).dropped.by_name() == expected
    assert native(plan, rows, jit=False).dropped.by_name() == expected


HOPS = """define stream S (n int);
@info(name='hops') from S#window.hopping(10 milliseconds, 5 milliseconds) select n insert into Out;
"""


def test_a_row_too_late_for_every_hop_to_come_is_counted() -> None:
    """The window shows that of 1008 once more at 1015, not that of 1001."""
    times = [1000, 1012, 1008, 1001, 1030]
    rows: list[SourceRow] = [("S", time_ms, {"n": at}) for at, time_ms in enumerate(times)]
    plan = compile_rules(HOPS)
    expected = {"query hops": {"late": 1}}
    assert interpreted(plan, rows).dropped.by_name() == expected
    assert native(plan, rows, jit=False).dropped.by_name() == expected


@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_engines_of_events(mode: Mode) -> None:
    @examples(400)
    @given(cases())
    def compare(case: tuple[Plan, list[SourceRow]]) -> None:
        plan, rows = case
        expected = interpreted(plan, rows, mode).dropped
        assert native(plan, rows, mode, jit=False).dropped == expected

    compare()


MATCHES = (
    "every a=S[n == 1] -> b=S[n == 2]",
    "every a=S[n == 1] -> b=S[n == 2] -> c=S[n == 3]",
    "every (a=S[n == 1] -> b=S[n == 2]) -> c=S[n == 3]",
    "every a=S[n == 1] -> b=T[n > a.n] -> c=S[n == b.n]",
    "every a=S -> b=T[symbol == a.symbol] -> c=T[n > b.n]",
    "every a=S, b=S[n > a.n], c=S",
)


@st.composite
def bounded(draw: st.DrawFn) -> tuple[Plan, list[SourceRow]]:
    """Patterns with few partial matches, and rows of their streams, some of them late."""
    match, most = draw(st.sampled_from(MATCHES)), draw(st.integers(1, 3))
    within = draw(st.sampled_from(["", " within 8 milliseconds"]))
    text = f"@info(name='q') @bound(partials='{most}') from {match}{within} select a.n as n"
    streams = "define stream S (symbol string, n int); define stream T (symbol string, n int);"
    values = st.fixed_dictionaries(
        {"n": st.sampled_from([1, 1, 1, 2, 2, 3]), "symbol": st.sampled_from("AB")}
    )
    rows = draw(timed("S", draw(st.lists(values, min_size=8, max_size=25))))
    rows = [(draw(st.sampled_from("SST")), time_ms, values) for _, time_ms, values in rows]
    return compile_rules(f"{streams} {text} insert into Out;"), rows


@examples(600)
@given(bounded())
def test_partial_matches(case: tuple[Plan, list[SourceRow]]) -> None:
    """The bound is that of all states together; what gives way is the same everywhere."""
    plan, rows = case
    run, other = Compiled(plan, jit=False).start(mode="sorted"), InterpretedRun(plan)
    for row in rows:
        assert run.push_row(*row).dicts() == other.push_row(*row)
        assert run.dropped == other.dropped


@pytest.mark.parametrize("cut", [0, 5, 9, 14])
def test_a_snapshot_holds_what_was_dropped(cut: int) -> None:
    plan, rows = compile_rules(EVENTS + HELD), [*ROWS, *HELD_ROWS]
    rules = Compiled(plan, jit=False)
    run = rules.start(mode="sorted")
    first = interpreted(plan, rows[:cut])
    for row in rows[:cut]:
        run.push_row(*row)
    assert run.dropped == first.dropped
    run, second = restore(rules, take(run)), InterpretedRun(plan)
    second.interpreter.restore(first.interpreter.snapshot())
    assert run.dropped == second.dropped == first.dropped
    for row in rows[cut:]:
        run.push_row(*row)
        second.push_row(*row)
    assert run.dropped.by_name() == second.dropped.by_name() == EXPECTED | EXPECTED_HELD


def test_other_rules_go_on_with_the_counts_of_what_stays() -> None:
    """One and Pair, with what depends on them, begin anew, and so do the bars."""
    plan, rows = compile_rules(EVENTS + HELD), [*ROWS, *HELD_ROWS]
    text = (EVENTS + HELD).replace("n == 1]", "n == 11]").replace("10 mill", "20 mill", 1)
    text = text.replace("@info(name='known') from T", "@info(name='other') from T")
    other = compile_rules(text)
    left = {
        name: counts
        for name, counts in (EXPECTED | EXPECTED_HELD).items()
        if name not in ("event One", "query bars")
    }
    run, _ = changed(native(plan, rows, jit=False), other)
    again, _ = changed_interpreter(interpreted(plan, rows).interpreter, other)
    assert again.dropped.by_name() == left
    assert run.dropped.by_name() == left


def test_the_summary_is_text_and_json() -> None:
    dropped = interpreted(compile_rules(EVENTS + HELD), [*ROWS, *HELD_ROWS]).dropped
    assert dropped.lines()[:3] == [
        "dropped:",
        "  event One: 1 repeat, 2 opposite",
        "  event Three: 1 late",
    ]
    assert Dropped().lines() == ["dropped: nothing"]
    again = Dropped()
    again.restore(dropped.state())
    assert again == dropped
    assert dropped + dropped - dropped == dropped
    assert not dropped - dropped
