"""How much a queue holds: so many of each event and key, whatever else is in the engine."""

from __future__ import annotations

from typing import Any

import pytest

from cep.engine.change import changed, compiled_for
from cep.engine.kernels.state import ENTRY_LARGEST
from cep.engine.native import Compiled, Run
from cep.engine.queues import queue
from cep.engine.snapshot import restore, take
from cep.interpreter.run import InterpretedRun
from cep.plan import Plan, compile_rules

MOST = 3
RULES = f"""
@key('k') define stream S (k string, n int);
define engine Main (queue = 1 hour, max = {MOST});
define event Up in Main for each k as every S[n == 1] repeat allow;
define event Down in Main for each k as every S[n == 2] repeat allow;
define complex Turn in Main for each k as Up followed by Up followed by Down within 1 hour;
"""
MORE = {
    "an event": "define event Flat in Main for each k as every S[n < 3] repeat allow;",
    "a complex event of several keys": "define complex Both in Main as Up('x') and Up('y')"
    " within 1 hour;",
    "an event without a key": "define event Any in Main as every S[n < 3] repeat allow;",
}
NUMBERS = [1, 1, 2, 1, 1, 1, 2, 2, 1, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 2]
ROWS = [("S", 1_000 + at, {"k": "xyy"[at % 3], "n": n}) for at, n in enumerate(NUMBERS * 4)]


def rows_of(run: Any, stream: str = "Turn") -> list[tuple[int, str, int]]:
    """Times of a complex event and of its first event; numbers shift with what is added."""
    found = []
    for row in ROWS:
        made = run.push_row(*row)
        found += [
            (one["time_msc"], one["key"], one["first_msc"])
            for one in (made if isinstance(run, InterpretedRun) else made.dicts())
            if one["stream"] == stream
        ]
    return found


def started(plan: Plan) -> Run:
    return Compiled(plan, jit=False).start(mode="sorted")


@pytest.mark.parametrize("more", MORE)
def test_what_else_is_in_the_engine_takes_no_room(more: str) -> None:
    alone, beside = compile_rules(RULES), compile_rules(RULES + MORE[more])
    run = InterpretedRun(alone)
    expected = rows_of(run)
    unbound = compile_rules(RULES.replace(f", max = {MOST}", ""))
    assert expected and expected != rows_of(InterpretedRun(unbound))
    wanted = run.dropped.by_name()
    assert {"event Down", "event Up"} == wanted.keys()
    for other in (InterpretedRun(beside), started(alone), started(beside)):
        assert rows_of(other) == expected
        found = other.dropped.by_name()
        assert {name: found[name] for name in wanted} == wanted


LONG = """
@key('k') define stream S (k string, n int);
define engine Main (queue = 1 hour, max = 5{late});
define event Old in Main for each k as every S[n == 0] repeat allow;
define event Now in Main for each k as every S[n == 1] repeat refresh;
define event Often in Main for each k as every S[n == 2] repeat allow;
define complex Turn in Main for each k as Old followed by Now followed by Often within 1 hour;
"""
CROSSING = "define complex Both in Main as Often('x') followed by Often('y') within 1 hour;"
PASSING = "define event Odd in Main for each k as every S[n == 2] repeat allow;"


@pytest.mark.parametrize("crosses", [False, True])
@pytest.mark.parametrize("late", ["", ", late = 'accept'"])
def test_gaps_in_a_queue_are_closed(crosses: bool, late: str) -> None:
    """What left from the middle takes no room, though what is before it stays for an hour."""
    text = LONG.format(late=late) + CROSSING * crosses
    plan, other = compile_rules(text), compile_rules(text + PASSING)
    expected, run, found = InterpretedRun(plan), started(plan), 0
    for at in range(600):
        n = 0 if at % 150 < 2 else 1 + at % 7 // 3 % 2
        time_msc = 10_000 + at - (40 if at % 11 == 5 else 0)
        row = ("S", time_msc, {"k": "xyz"[at * 5 % 3], "n": n})
        made = run.push_row(*row).dicts()
        assert made == expected.push_row(*row)
        found += len(made)
        if at % 97 == 96:
            run = restore(run.rules, take(run))
            for following in (other, plan):
                run, _ = changed(run, compiled_for(run, following))
    assert found > 500
    assert len(queue(run, "Main")) <= 3 * (5 + 5 + 1)
    stage = run.runner
    assert stage.state.gi[0, ENTRY_LARGEST] <= 128, "not as many as have ever come"
