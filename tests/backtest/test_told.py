"""Watermarks of what was lived make the same records late wherever symbols are run apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.archive import Archive
from cep.backtest.parts import why_sequential
from cep.backtest.selection import Selection, select
from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.plan import compile_rules
from mt5bridge.spool.group import Told
from tests.backtest.rules import TICK
from tests.backtest.test_parity import lines_in_parts, lines_in_sequence
from tests.backtest.told import RULES, Step, any_life, history, lived

COMPILED = Compiled(compile_rules(RULES), jit=False)


def late(dropped: Dropped) -> int:
    return sum(count for _, reason, count in dropped if reason.value == "late")


def both_ways(selection: Selection, slice_rows: int = 1 << 20) -> Dropped:
    """What was dropped, the same in sequence and in parts, and so are all rows."""
    dropped: list[Dropped] = []
    assert why_sequential(COMPILED, lived=selection.is_lived) is None
    expected = lines_in_sequence(COMPILED, selection, dropped.append)
    assert lines_in_parts(COMPILED, selection, slice_rows, 2, dropped.append) == expected
    assert expected
    assert dropped[0] == dropped[1]
    return dropped[0]


EUR, GBP = "EURUSD", "GBPUSD"
ONE, TWO = ("one", EUR, [0, 1]), ("one", GBP, [0, 1])
LIVES: dict[str, tuple[list[Step], bool]] = {
    "a watermark makes late": (
        [ONE, TWO, (Told.COMPLETE, "one", 10), ("one", EUR, [5])], True),
    "it is of another terminal": (
        [ONE, ("two", GBP, [0]), (Told.COMPLETE, "two", 10), ("one", EUR, [5])], False),
    "two terminals publish, one holds": (
        [ONE, TWO, ("two", GBP, [1]), (Told.COMPLETE, "two", 3), (Told.COMPLETE, "one", 10),
         ("one", GBP, [5])], False),
    "two terminals publish, both have told": (
        [ONE, TWO, ("two", GBP, [1]), (Told.COMPLETE, "one", 10), (Told.COMPLETE, "two", 8),
         ("one", GBP, [5])], True),
    "the one that held is away": (
        [ONE, TWO, ("two", GBP, [1]), (Told.COMPLETE, "two", 3), (Told.COMPLETE, "one", 10),
         (Told.AWAY, "two", 11), ("one", GBP, [5])], True),
    "the daemon speaks for all: keys may be old": (
        [ONE, TWO, (Told.OWN, "", 100), ("one", EUR, [5])], False),
    "the daemon speaks for who is away": (
        [ONE, ("two", GBP, [0]), (Told.COMPLETE, "one", 2), (Told.COMPLETE, "two", 2),
         (Told.AWAY, "one", 3), (Told.OWN, "", 100), ("one", EUR, [5])], False),
    "before the first tick of a symbol": (
        [ONE, (Told.COMPLETE, "one", 10), ("one", GBP, [5])], False),
    "a second one behind that": (
        [ONE, (Told.COMPLETE, "one", 10), ("one", GBP, [15]), (Told.COMPLETE, "one", 20),
         ("one", GBP, [17])], True),
}  # fmt: skip


@pytest.mark.parametrize("name", LIVES)
def test_named_lives(tmp_path: Path, name: str) -> None:
    steps, is_late = LIVES[name]
    dropped = both_ways(select(lived(tmp_path, steps), COMPILED.plan))
    assert bool(late(dropped)) == is_late


def whole(folder: Path, seed: int) -> Archive:
    """Two spools, one after the other, and sorted history beside the second and behind it."""
    lived(folder, any_life(seed), "first")
    archive = lived(folder, any_life(seed + 1_000, begin=400), "second")
    history(archive, begin=450)
    history(archive, begin=3_000)
    return archive


@pytest.mark.parametrize("seed", range(6))
def test_any_life_any_slices(tmp_path: Path, seed: int) -> None:
    archive = whole(tmp_path, seed)
    for slice_rows in (1 << 20, 30):
        assert late(both_ways(select(archive, COMPILED.plan), slice_rows))
    low, high = select(archive, COMPILED.plan).interval_msc
    step = (high - low) // 8
    both_ways(select(archive, COMPILED.plan, [EUR, GBP], low + 50_000, low + step + 50_000), 30)


@pytest.mark.parametrize("found", [
    "define event Any as every Held[n > 1];",
    "from Held#window.time(1 min) select count() as rows insert into T;",
])  # fmt: skip
def test_what_goes_by_all_lived_records_is_run_in_sequence(found: str) -> None:
    text = TICK + "from Tick#window.time(3 sec) select symbol, count() as n group by symbol"
    rules = Compiled(compile_rules(f"{text} insert into Held;{found}"), jit=False)
    assert why_sequential(rules) is None
    reason = why_sequential(rules, lived=True)
    assert reason is not None and "goes by the lived records of all keys" in reason


def test_ticks_without_a_symbol_tell_of_no_key() -> None:
    text = "define stream Tick (bid double); define stream Deal (symbol string, lots double);"
    text += "define event Fill for each symbol as every Deal[lots > 0.0] repeat allow;"
    rules = Compiled(compile_rules(text), jit=False)
    assert why_sequential(rules) is None
    reason = why_sequential(rules, lived=True)
    assert reason == "Tick has no symbol, by which terminals tell how time passes"


def test_as_in_siddhi_all_lived_keys_have_one_clock() -> None:
    text = "@app:compat('siddhi') define stream Tick (symbol string, bid double);"
    text += "from Tick#window.time(3 sec) select symbol, count() as n group by symbol"
    rules = Compiled(compile_rules(f"{text} insert into Held;"), jit=False)
    assert why_sequential(rules) is None
    assert why_sequential(rules, lived=True) == "of compat('siddhi') all keys have one clock"
