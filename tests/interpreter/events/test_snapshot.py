"""A run that is cut, saved and restored goes on as one that was not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.interpreter.run import InterpretedRun
from cep.interpreter.snapshot import SnapshotError
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.interpreter.events.test_against_reference import few
from tests.reference.generate_rows import SourceRow, cases

RULES = """
define stream Tick (symbol string, bid double);
define stream Deal (symbol string, magic long);
define trigger Clock at every 3 sec;
define engine One (queue = 1 min, late = 'accept');
define engine Two (queue = 2 min, opposites = 'validate') from One;
from Tick#window.timeBatch(2 sec) select symbol, avg(bid) as ma group by symbol insert into Band;
define event Up in One for each symbol as Band[ma > 1.5] opposite Down;
define event Down in One for each symbol as Band[ma < 1.5];
define event Fill in One for each symbol as every Deal[magic == 7] repeat allow;
define event Beat in One as every Clock repeat refresh;
define complex Caught in One for each symbol as Down followed by Fill within 20 sec;
define complex Beaten in One as Beat followed by Fill('A') within 30 sec forbid Down('B');
define complex Both in Two as Caught('A') and Caught('B') within 1 min;
define signal Out on Both close 'A';
from Caught select key, count() as n group by key insert into Counted;
"""
MARKETS = st.lists(
    st.tuples(
        st.sampled_from(["Tick", "Tick", "Deal", ""]),
        st.sampled_from([0, 1, 300, 900, 2_500, -700]),
        st.sampled_from(["A", "A", "B", None]),
        st.sampled_from([1, 2, 7]),
    ),
    min_size=4,
    max_size=40,
)
Step = tuple[str, int, dict[str, Any]]


def steps(market: list[tuple[str, int, str | None, int]]) -> list[Step]:
    """Ticks, deals and time that passes, some of them late."""
    now_ms, found = 1_000_000, []
    for stream, gap_ms, symbol, number in market:
        values = {"bid": number / 2} if stream == "Tick" else {"magic": number}
        found.append((stream, now_ms + gap_ms, {"symbol": symbol, **values}))
        now_ms += max(gap_ms, 0)
    return found


def fed(run: InterpretedRun, rows: list[Step] | list[SourceRow]) -> list[list[dict[str, Any]]]:
    """What each step leads to."""
    return [
        run.push_row(stream, time_ms, row) if stream else run.advance(time_ms)
        for stream, time_ms, row in rows
    ]


def check(plan: Plan, rows: list[Step] | list[SourceRow], cut: int, mode: Mode = "sorted") -> None:
    whole, first = InterpretedRun(plan, mode=mode), InterpretedRun(plan, mode=mode)
    expected = fed(whole, rows)
    assert fed(first, rows[:cut]) == expected[:cut]
    saved = first.interpreter.snapshot()
    second = InterpretedRun(plan, mode=mode)
    second.interpreter.restore(saved)
    assert second.interpreter.snapshot() == saved
    assert fed(second, rows[cut:]) == expected[cut:]
    assert second.interpreter.snapshot() == whole.interpreter.snapshot()
    assert second.dropped == whole.dropped


@few(400)
@given(cases(), st.data())
def test_rule_sets(case: tuple[Plan, list[SourceRow]], data: st.DataObject) -> None:
    plan, rows = case
    mode: Mode = data.draw(st.sampled_from(["sorted", "lived"]))
    check(plan, rows, data.draw(st.integers(0, len(rows))), mode)


@few(200)
@given(MARKETS, st.data())
def test_with_batches_timers_and_deals(market: list[Any], data: st.DataObject) -> None:
    rows = steps(market)
    check(compile_rules(RULES), rows, data.draw(st.integers(0, len(rows))))


def test_the_rules_find_something() -> None:
    """What is cut is not nothing."""
    run = InterpretedRun(compile_rules(RULES))
    market = [("Tick", 900, "AB"[i % 2], 2) for i in range(4)]
    market += [("Tick", 900, "AB"[i % 2], 7) for i in range(4)]
    market += [("Tick", 900, "AB"[i % 2], 1) for i in range(6)]
    market += [("Deal", 10, "AB"[i % 2], 7) for i in range(4)]
    found = {row["stream"] for made in fed(run, steps(market)) for row in made}
    assert found >= {"Up", "Down", "Fill", "Beat", "Caught", "Both", "Out", "Counted"}


def test_a_snapshot_of_other_engines_is_refused() -> None:
    saved = InterpretedRun(compile_rules(RULES)).interpreter.snapshot()
    other = compile_rules(RULES.replace("queue = 1 min", "queue = 2 min"))
    with pytest.raises(SnapshotError, match="other rules"):
        InterpretedRun(other).interpreter.restore(saved)
