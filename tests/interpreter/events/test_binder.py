"""What the search for a match must not take for done."""

from __future__ import annotations

from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules

RULES = """
define stream S (n int);
define engine Main (queue = 1 min, late = 'accept');
define event One in Main as every S[n == 1] repeat allow;
define event Two in Main as every S[n == 2] repeat allow;
define event Three in Main as every S[n == 3] repeat allow;
define complex All in Main as One followed by Two followed by Three within 4 milliseconds;
"""
START_MS = 1_700_000_000_000


def found(*rows: tuple[int, int]) -> list[list[int]]:
    """The events of each match for rows (time, n)."""
    run = InterpretedRun(compile_rules(RULES))
    made = [row for at, n in rows for row in run.push("S", START_MS + at, [n])]
    return [row["events"] for row in made if row["stream"] == "All"]


def test_what_was_in_vain_with_a_late_event_may_be_found_without() -> None:
    """The newer of the two in the middle is too early for the first one, the older is not."""
    assert found((12, 1), (9, 2), (7, 2), (8, 3)) == [[1, 2, 4]]
    assert found((12, 1), (9, 2), (8, 2), (8, 3)) == [[1, 3, 4]]
    assert found((12, 1), (7, 2), (7, 2), (8, 3)) == []


def test_long_queues_without_a_match_are_searched_once() -> None:
    """Each choice of four of the hundred one by one would take hours."""
    longer = RULES.replace("by Two", "by Two" + 3 * " followed by Two")
    run = InterpretedRun(compile_rules(longer.replace("4 milliseconds", "1 min")))
    for at in range(100):
        run.push("S", START_MS + at, [2])
    assert [row["stream"] for row in run.push("S", START_MS + 100, [3])] == ["Three"]
