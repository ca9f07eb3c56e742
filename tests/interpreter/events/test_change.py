"""A change of rules: events, engines and signals that stay go on as if all had run all along."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cep.interpreter.change import go_on
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from cep.plan.change import Report, compared
from cep.plan.nodes import Plan
from tests.interpreter.events.test_against_reference import few
from tests.reference.generate_changes import ChangeCase, changes
from tests.reference.generate_rows import SourceRow, cases

Found = dict[str, list[Any]]
COUNTED = ("number", "seq", "events")
"""What depends on which other rules there are."""


def fed(run: InterpretedRun, rows: Sequence[SourceRow]) -> Found:
    """What rows lead to, by stream, with events by name and key."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        for one in run.push_row(*row):
            shown = {name: value for name, value in one.items() if name not in COUNTED}
            if "arrangement" in one:
                names = _names(run)
                shown["arrangement"] = [names[number] for number in one["arrangement"]]
            found[one["stream"]].append(shown)
    return dict(found)


def _names(run: InterpretedRun) -> dict[int, Any]:
    plan, keys = run.interpreter.plan, list(run.interpreter.shared.keys) or [None]
    named = [(one.name, one.number) for one in (*plan.events, *plan.complexes)]
    named += [(one.complex, one.number) for one in plan.chained]
    return {
        number + slot * plan.number_stride: (name, key)
        for name, number in named
        for slot, key in enumerate(keys)
    }


def changed(run: InterpretedRun, plan: Plan) -> tuple[InterpretedRun, Report]:
    after = InterpretedRun(plan)
    change = compared(run.interpreter.plan, plan)
    go_on(run.interpreter, after.interpreter, change)
    return after, change.report()


@few(400)
@given(st.data())
def test_what_stays_goes_on(data: st.DataObject) -> None:
    plan, rows = data.draw(cases())
    case: ChangeCase = data.draw(changes(plan))
    cut = data.draw(st.integers(0, len(rows)))
    run, always = InterpretedRun(case.before), InterpretedRun(case.together)
    fed(run, rows[:cut])
    fed(always, rows[:cut])
    run, report = changed(run, case.after)
    found, expected = fed(run, rows[cut:]), fed(always, rows[cut:])
    for fate in report.kept:
        if fate.kind in ("event", "complex", "signal"):
            assert found.get(fate.name) == expected.get(fate.name), f"{fate}\n{report}"


RULES = """
define stream S (n int, symbol string);
define engine Main (queue = 1 min);
define event One in Main for each symbol as every S[n == 1] repeat allow;
define event Two in Main for each symbol as every S[n == 2] repeat allow;
define complex Rise in Main for each symbol as One followed by Two within 1 min;
"""
MORE = "define complex Again in Main for each symbol as One followed by Two within 1 min;"


def row(time_ms: int, n: int, symbol: str = "A") -> SourceRow:
    return ("S", time_ms, {"n": n, "symbol": symbol})


def test_a_new_complex_event_sees_what_enters_from_now_on() -> None:
    run = InterpretedRun(compile_rules(RULES))
    fed(run, [row(1, 1)])
    run, report = changed(run, compile_rules(RULES + MORE))
    assert [fate.name for fate in report.new] == ["Again"]
    assert fed(run, [row(2, 2)]).keys() == {"Two", "Rise"}
    assert fed(run, [row(3, 1), row(4, 2)]).keys() == {"One", "Two", "Rise", "Again"}


def test_what_was_bound_and_counted_stays_so() -> None:
    run = InterpretedRun(compile_rules(RULES))
    fed(run, [row(1, 1), row(2, 2)])
    run, _ = changed(run, compile_rules(RULES + MORE))
    (two,) = run.push_row(*row(3, 2))
    assert (two["stream"], two["seq"]) == ("Two", 3)


def test_events_of_a_definition_that_changed_leave() -> None:
    run = InterpretedRun(compile_rules(RULES))
    fed(run, [row(1, 1)])
    run, report = changed(run, compile_rules(RULES.replace("n == 1", "n == 3")))
    assert {fate.name for fate in report.reset} == {"One", "Rise"}
    assert fed(run, [row(2, 2)]).keys() == {"Two"}


def test_an_engine_that_changed_starts_empty() -> None:
    run = InterpretedRun(compile_rules(RULES))
    fed(run, [row(1, 1)])
    run, _ = changed(run, compile_rules(RULES.replace("1 min)", "2 min)")))
    (two,) = run.push_row(*row(2, 2))
    assert (two["stream"], two["seq"]) == ("Two", 1)


def test_keys_keep_their_numbers() -> None:
    run = InterpretedRun(compile_rules(RULES))
    fed(run, [row(1, 1, "B"), row(2, 1, "A")])
    named = RULES + "define complex Pair in Main as One('Q') and Two('A') within 1 min;"
    run, _ = changed(run, compile_rules(named))
    assert list(run.interpreter.shared.keys) == ["B", "A", "Q"]
