"""Up to when each key is complete, by what the sources have told."""

from __future__ import annotations

import msgspec
import pytest

from cep.engine.change import changed
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.engine.watermarks import SavedWatermarks, Telling, Watermarks
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules

TICKS = "define stream Tick (symbol string, bid double);"
BEATS = f"{TICKS} define trigger Beat at every 1 sec; from Beat select * insert into Beaten;"


def two() -> Watermarks:
    """`left` publishes A and B, `right` B and C."""
    marks = Watermarks()
    for source, key in ("left", "A"), ("left", "B"), ("right", "B"), ("right", "C"):
        marks.published(source, key)
    return marks


def test_one_terminal_tells_its_own_keys_in_the_order_they_came() -> None:
    marks = Watermarks()
    assert marks.tell("one", False, 100) == [(100, (), True)]
    for key in ("B", "A", "B"):
        marks.published("one", key)
    assert marks.tell("one", False, 200) == [(200, ("B", "A"), True)]
    assert marks.clock_msc == 200


def test_a_key_of_two_terminals_is_complete_when_both_are() -> None:
    marks = two()
    assert marks.tell("left", False, 100) == [
        (100, ("A", "B"), True)
    ]  # of the other nobody knows yet
    assert marks.tell("right", False, 50) == [(50, ("B", "C"), True)]
    assert marks.tell("left", False, 200) == [(50, ("B",), True), (200, ("A",), True)]
    assert marks.tell("right", False, 150) == [(150, ("B", "C"), True)]
    assert marks.clock_msc == 150


def test_a_watermark_that_goes_back_changes_nothing() -> None:
    marks = two()
    marks.tell("left", False, 100)
    assert marks.tell("left", False, 70) == [(100, ("A", "B"), True)]
    marks.tell("right", False, 60)
    assert marks.clock_msc == 100, "a new terminal does not turn the clock back"


def test_who_is_away_is_left_out_until_it_tells_something() -> None:
    marks = two()
    marks.tell("left", False, 100)
    marks.tell("right", False, 500)
    assert marks.clock_msc == 100
    assert marks.tell("left", True, 900) == [(500, ("B",), True)]
    assert marks.clock_msc == 500
    assert marks.tell(None, False, 1_000) == [(1_000, ("A",), False)]  # what only it publishes
    assert marks.tell("right", False, 600) == [(600, ("B", "C"), True)]
    assert marks.tell("left", False, 650) == [(600, ("B",), True), (650, ("A",), True)]
    assert marks.tell(None, False, 2_000) == []


def test_where_nobody_tells_anything_the_own_clock_speaks_for_all() -> None:
    marks = two()
    assert marks.tell(None, False, 10) == [(10, None, False)]
    marks.tell("left", False, 100)
    marks.tell("left", True, 100)
    assert marks.tell(None, False, 300) == [(300, None, False)]
    assert marks.clock_msc == 300


def test_state_goes_through_a_snapshot() -> None:
    marks = two()
    marks.tell("left", False, 100)
    marks.tell("right", False, 60)
    marks.tell("right", True, 60)
    again = Watermarks()
    data = msgspec.msgpack.encode(marks.state())
    again.restore(msgspec.msgpack.decode(data, type=SavedWatermarks))
    again.published("left", "A")
    for one in (marks, again):
        assert one.tell("left", False, 200) == [(200, ("A", "B"), True)]
        assert one.tell("right", False, 90) == [(90, ("B", "C"), True)]
    assert again.holding == ["left", "right"] and again.state() == marks.state()


def beats(run: Run, source: str | None, time_msc: int, *, is_away: bool = False) -> int:
    """How often the trigger fires by what a source tells."""
    told = run.watermarks.tell(source, is_away, time_msc)
    return sum(len(run.tell(one, run.next_order)) for one in told) // 2


@pytest.fixture
def run() -> Run:
    return Compiled(compile_rules(BEATS), jit=False).start()


def test_the_one_clock_waits_for_the_terminal_that_is_behind(run: Run) -> None:
    run.watermarks.published("left", "A")
    run.watermarks.published("right", "C")
    assert beats(run, "left", 10_000) == 0  # the beginning
    assert beats(run, "right", 11_000) == 0
    assert beats(run, "right", 15_000) == 0, "left is at 10 s"
    assert beats(run, "left", 12_000) == 2
    assert beats(run, "left", 20_000) == 3, "up to 15 s"
    assert beats(run, "right", 15_000, is_away=True) == 5
    assert beats(run, None, 30_000) == 0, "the keys of right only"
    assert beats(run, "left", 21_000) == 1


def test_a_snapshot_keeps_who_is_waited_for(run: Run) -> None:
    run.watermarks.published("left", "A")
    beats(run, "left", 10_000)
    beats(run, "right", 10_000)
    again = restore(run.rules, take(run))
    assert beats(again, "left", 20_000) == 0
    assert beats(again, "right", 13_000) == 3


def test_other_rules_wait_for_the_same_terminals(run: Run) -> None:
    run.watermarks.published("left", "A")
    beats(run, "left", 10_000)
    beats(run, "right", 10_000)
    after, _ = changed(run, compile_rules(BEATS + "from Tick select bid insert into Bids;"))
    assert beats(after, "left", 20_000) == 0
    assert beats(after, "right", 13_000) == 3


def test_a_watermark_of_keys_is_a_record_whose_keys_appear() -> None:
    """So that the numbers of events and the names that follow from records are alike everywhere."""
    plan = compile_rules(
        "define stream Tick (symbol string, bid double);"
        "define event High for each symbol as every Tick[bid > 1.0] repeat allow;"
        "from Tick select UUID() as id, symbol insert into Named;"
    )
    alone, run = InterpretedRun(plan, mode="lived"), Compiled(plan, jit=False).start(mode="lived")
    told = [alone.tell(["B"], 1_000, 900, is_complete=True)]
    run.watermarks.clock_msc = 900
    told.append(run.tell(Telling(1_000, ("B",), is_complete=True), 0).dicts())
    assert told == [[], []]
    row = {"symbol": "A", "bid": 2.0}
    made = alone.push_row("Tick", 2_000, row)
    assert made == run.push_row("Tick", 2_000, row).dicts()
    numbers = [one["number"] for one in made if one["stream"] == "High"]
    assert numbers == [101], "the second key"
