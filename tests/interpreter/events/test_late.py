"""Lateness: decided once for a record, and inherited by what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from cep.clocks import NEVER_LATE, Lateness, Mode
from cep.interpreter.run import InterpretedRun
from cep.market import DEAL_STREAM
from cep.plan import compile_rules


def test_sorted_records_are_late_by_any_before_them() -> None:
    lateness = Lateness()
    taken = [("S", "A", 5), ("S", "B", 4), ("T", None, 5), ("T", "A", 4), ("S", "B", 6)]
    assert [lateness.take(*one) for one in taken] == [False, True, False, True, False]
    assert lateness.newest_ms({""}) == 6


def test_lived_records_are_late_by_those_of_their_stream_and_key() -> None:
    lateness = Lateness("lived")
    taken = [("S", "A", 5), ("S", "B", 4), ("T", "A", 4), ("S", "A", 4), ("S", None, 1)]
    assert [lateness.take(*one) for one in taken] == [False, False, False, True, False]
    keys = ("A", "B", None, "C")
    assert [lateness.newest_of_key_ms({"S", "T"}, key) for key in keys] == [5, 4, 1, None]
    assert [lateness.newest_ms({name}) for name in ("S", "T", "U")] == [5, 4, None]


@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_what_happened_to_the_account_is_never_late(mode: Mode) -> None:
    lateness = Lateness(mode)
    assert DEAL_STREAM in NEVER_LATE
    assert [lateness.take(DEAL_STREAM, "A", at) for at in (5, 4, 3)] == [False, False, False]
    assert lateness.take("S", "A", 4) is (mode == "sorted")


def test_a_watermark_makes_lived_records_of_its_keys_late() -> None:
    lateness = Lateness("lived")
    lateness.complete(["A"], 10)
    taken = [("S", "A", 9), ("S", "A", 10), ("S", "B", 9), (DEAL_STREAM, "A", 9)]
    assert [lateness.take(*one) for one in taken] == [True, False, False, False]
    again = Lateness("lived")
    again.restore(lateness.state())
    assert again.take("T", "A", 9)


def test_time_that_passed_makes_sorted_records_late() -> None:
    for mode, is_late in (("sorted", True), ("lived", False)):
        lateness = Lateness(mode)  # type: ignore[arg-type]
        lateness.pass_time(10)
        assert lateness.take("S", "A", 9) is is_late


@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_a_snapshot_has_the_clocks(mode: Mode) -> None:
    first, second = Lateness(mode), Lateness(mode)
    first.take("S", "A", 5)
    second.restore(first.state())
    assert second.take("S", "A", 4)


START_MS = 1_700_000_000_000
STREAM = "define stream S (n int, symbol string); "


def run(text: str, *rows: tuple[int, int, str], mode: Mode = "sorted") -> list[tuple[str, int]]:
    """(stream, time) of what comes out for rows (time, n, symbol) of `S`."""
    running = InterpretedRun(compile_rules(STREAM + text), mode=mode)
    found: list[dict[str, Any]] = []
    for at, n, symbol in rows:
        found += running.push("S", START_MS + at, [n, symbol])
    return [(row["stream"], row["time_msc"] - START_MS) for row in found]


def test_what_follows_from_a_late_record_is_late() -> None:
    rules = (
        "define engine First (queue = 1 min); define engine Second (queue = 1 min); "
        "from S select n + 1 as n, symbol insert into T; "
        "define event Of in First as every T[n > 0] repeat allow; "
        "define complex Any in First as Of within 1 min; "
        "from Any select number insert into Seen; "
        "define event Again in Second as every Seen[number > 0] repeat allow;"
    )
    found = run(rules, (10, 1, "A"), (5, 1, "A"))
    assert found == [("T", 10), ("Of", 10), ("Any", 10), ("Seen", 10), ("Again", 10), ("T", 5)]
    accepting = rules.replace("First (queue = 1 min", "First (queue = 1 min, late = 'accept'")
    late = [("T", 5), ("Of", 5), ("Any", 5), ("Seen", 5)]
    assert run(accepting, (10, 1, "A"), (5, 1, "A")) == [*found[:-1], *late]


def test_what_time_makes_is_never_late() -> None:
    """A batch that a late record was counted in ends when the clock says so."""
    rules = (
        "from S#window.timeBatch(1 sec) select sum(n) as n insert into T; "
        "define event Sum as every T[n > 0] repeat allow;"
    )
    rows = [(0, 1, "A"), (900, 1, "A"), (400, 1, "A"), (2500, 1, "A")]
    assert ("Sum", 1000) in run(rules, *rows)


def test_rows_that_were_put_in_order_are_not_late() -> None:
    text = (
        "@reorder(max.delay='30 milliseconds') define stream R (n int); define stream S (n int); "
        "define event Of as every R[n > 0] repeat allow;"
    )
    running = InterpretedRun(compile_rules(text))
    found = running.push("R", START_MS + 10, [1])
    found += running.push("R", START_MS + 5, [2])
    found += running.push("S", START_MS + 100, [0])
    assert [(row["stream"], row["time_msc"] - START_MS) for row in found] == [("Of", 5), ("Of", 10)]


def test_lived_keys_do_not_wait_for_one_another() -> None:
    rules = "define event Of for each symbol as every S[n > 0] repeat allow;"
    rows = [(10, 1, "A"), (5, 1, "B"), (7, 1, "A")]
    assert run(rules, *rows, mode="lived") == [("Of", 10), ("Of", 5)]
    assert run(rules, *rows) == [("Of", 10)]


def test_another_event_changes_no_event() -> None:
    """Neither what is late, nor what expires, follows from which other events a file has."""
    rules = (
        "define engine Main (queue = 10 milliseconds, late = 'accept'); "
        "define event One for each symbol as every S[n == 1] repeat allow; "
        "define event Two for each symbol as every S[n == 2] repeat allow; "
        "define complex Pair for each symbol as One followed by Two within 10 milliseconds;"
    )
    more = rules + (
        "define event Other for each symbol as every S repeat allow; "
        "define complex Cross as Other('A') and Other('B') within 10 milliseconds;"
    )
    rows = [(0, 1, "A"), (50, 3, "B"), (9, 2, "A"), (60, 1, "A"), (61, 3, "B"), (69, 2, "A")]
    for mode in ("sorted", "lived"):
        alone = run(rules, *rows, mode=mode)  # type: ignore[arg-type]
        together = run(more, *rows, mode=mode)  # type: ignore[arg-type]
        assert [row for row in together if row[0] in ("One", "Two", "Pair")] == alone
        assert ("Pair", 69) in alone and (("Pair", 9) in alone) == (mode == "lived")
