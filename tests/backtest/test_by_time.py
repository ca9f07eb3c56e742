"""A symbol in parts of time: the rows of one process, from what the rules remember."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import numpy as np
import pytest

from cep.archive import Archive, import_history
from cep.backtest.divided import how_divided, memory_of, tasks_by_time, why_whole
from cep.backtest.parts import Job, Task, merged_rows, run_task, why_sequential
from cep.backtest.processes import Sharing, in_processes
from cep.backtest.records import keys_in_order
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.plan.memory import Memory
from mt5bridge.history import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, walk, with_points
from tests.backtest.rules import TICK
from tests.backtest.test_programs_apart import PROGRAMS, Placed, placed
from tests.campaign import either

SESSIONS, SESSION_MS = 5, 3 * 3_600_000
EVENTS = """
    from Tick#window.time(5 min)
    select symbol, bid, avg(bid) as mean, stdDev(bid) as deviation group by symbol insert into Band;
    define engine Main (queue = 5 min);
    define event High in Main for each symbol as {every}Band[bid > mean + deviation] {repeat};
    define event Low in Main for each symbol as {every}Band[bid < mean - deviation] {repeat};
    define complex Turn in Main for each symbol as High followed by Low within 3 min;
    define signal Fade on Turn sell 0.10 lots stop 20 points target 30 points for 30 min;
"""
RULES = {
    "nothing": "from Tick[bid > ask - 0.00002] select symbol, bid insert into Thin;"
    " define event Low for each symbol as every Thin[bid < 1.1] repeat allow;",
    "a window": "from Tick#window.time(7 min) select symbol, sum(bid) as total, max(ask) as high"
    " group by symbol insert into Sums;",
    "events that turn true": EVENTS.format(every="", repeat="repeat allow"),
    "every event": EVENTS.format(every="every ", repeat="repeat refresh"),
    "events known since a silence": EVENTS.format(every="", repeat="repeat reject"),
}
BARS = ("candles", "candles of candles", "two sizes")
IN_PARTS = (*RULES, *BARS, "what leaves", "a median", "delayed")
WHOLE = ("bars of ticks", "batches", "candles to signals", "rises")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Days of two symbols, each with a session and a night."""
    random, blocks = np.random.default_rng(4), []
    for symbol in ("EURUSD", "^GSPC"):
        days = [walk(random, START_MSC + day * DAY_MS, SESSION_MS, 400) for day in range(SESSIONS)]
        ticks = np.concatenate(days)
        ticks["time_msc"].sort()
        blocks.append(TickBlock(symbol, ticks))
    found = Archive(tmp_path_factory.mktemp("archive"))
    import_history(found, blocks)
    return with_points(found)


def rules_of(name: str) -> Compiled:
    """Modules run uncompiled, which is fast enough for so few records."""
    return Compiled(compile_rules(TICK + (RULES | PROGRAMS)[name]), jit=name in PROGRAMS)


def in_sequence(rules: Compiled, archive: Archive) -> tuple[list[Placed], Dropped]:
    dropped: list[Dropped] = []
    rows = sequential(rules, select(archive, rules.plan), ended=dropped.append)
    return placed(rows), dropped[0]


def in_parts(
    rules: Compiled, archive: Archive, memory: Memory | None = None, slice_rows: int = 300
) -> tuple[list[Placed], Dropped, list[Task]]:
    """The rows of tasks by time, one after the other in this process; and the tasks."""
    selection = select(archive, rules.plan)
    memory = memory or memory_of(rules, selection)
    assert why_sequential(rules) is None
    keys, dropped = keys_in_order(selection, rules.plan), list[Dropped]()
    with TemporaryDirectory() as folder:
        job = Job.of(rules, keys, selection, folder, slice_rows, memory.silence_ms)
        todo = tasks_by_time(job, rules, selection, memory)
        parts = [row for task in todo for row in run_task(job, task)]
        rows = placed(merged_rows(rules, keys, parts, selection, dropped.append))
    return rows, dropped[0], todo


@pytest.mark.parametrize("slice_rows", either([300], [300, 70]))
@pytest.mark.parametrize("name", IN_PARTS)
def test_parts_of_time_are_sequential(archive: Archive, name: str, slice_rows: int) -> None:
    rules = rules_of(name)
    rows, dropped, tasks = in_parts(rules, archive, slice_rows=slice_rows)
    assert len(tasks) > 6, "both symbols are in parts"
    assert (rows, dropped) == in_sequence(rules, archive)
    assert rows


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_remembered_for_ever_stays_in_one_piece(archive: Archive, name: str) -> None:
    rules = rules_of(name)
    rows, dropped, tasks = in_parts(rules, archive)
    assert len(tasks) == 2, "one for each symbol"
    selection = select(archive, rules.plan)
    assert "in one piece, " in how_divided(rules, selection)
    assert why_whole(rules, selection) == "", "there are two symbols"
    alone = why_whole(rules, select(archive, rules.plan, ["EURUSD"]))
    assert alone.startswith("there is one symbol, and ")
    assert (rows, dropped) == in_sequence(rules, archive)


@pytest.mark.parametrize("name", ["a window", "events that turn true", "candles"])
def test_a_warm_up_that_is_too_short_is_noticed(archive: Archive, name: str) -> None:
    rules = rules_of(name)
    rows, _, _ = in_parts(rules, archive, Memory())
    assert rows != in_sequence(rules, archive)[0]


def test_what_had_no_room_is_run_again_in_one_piece(archive: Archive) -> None:
    """Which partial matches are dropped depends on all before."""
    text = "@bound(partials='2') from every e1=Tick -> e2=Tick[bid > e1.bid + 0.0001] within 1 hour"
    rules = Compiled(
        compile_rules(
            f"{TICK} partition with (symbol of Tick) begin {text}"
            " select e1.symbol as symbol, e2.bid as bid insert into Rise; end;"
        )
    )
    _, dropped, tasks = in_parts(rules, archive)
    assert len(tasks) > 6 and dropped
    selection = select(archive, rules.plan)
    again, sharing = list[Dropped](), Sharing(2, slice_rows=300)
    found = placed(in_processes(rules, selection, sharing, ended=again.append))
    assert (found, again[0]) == in_sequence(rules, archive)
