"""Rules in the interpreter, in the place of the engine: its rows, snapshots, changes, questions."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cep.clocks import Mode
from cep.engine.change import changed, compiled_for
from cep.engine.native import Compiled, Run
from cep.engine.row_feed import RowFeed
from cep.engine.snapshot import restore, take
from cep.engine.watermarks import Telling
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from cep.plan.on_demand import build_on_demand

RULES = """
define stream S (symbol string, n long, price double, flag bool, thing object);
define table T (symbol string, n long);
define engine Main (queue = 1 min);
define engine Second (queue = 1 min) from Main;
@info(name='some') from S select symbol, n output last every 2 events insert into Some;
define event Up in Main for each symbol as every Some[n > 1];
define event Price in Main for each symbol as every S[price > 1.0] repeat allow;
define complex Both in Main for each symbol as Up followed by Price within 10 sec;
define complex Twice in Second for each symbol as Both within 1 min;
define signal Buy on Twice buy 'A' 0.1 lots;
@info(name='last') from Up select key, seq output every 2 events insert into Last;
from S#window.time(2 sec) select symbol, sum(price) as p, thing insert all events into Sums;
from S select symbol, n update or insert into T on T.symbol == symbol;
"""


def records(seed: int, count: int) -> list[tuple[int, dict[str, Any]]]:
    random, at_ms, found = Random(seed), 100_000, []
    for place in range(count):
        at_ms += random.choice((0, 10, 400, 900, -300))
        row = {"symbol": random.choice(("A", "B", None)), "n": random.randrange(4),
               "price": random.choice((0.5, 1.5, None)), "flag": True, "thing": place}  # fmt: skip
        found.append((at_ms, row))
    return found


def started(mode: Mode) -> Run:
    run = Compiled(compile_rules(RULES), jit=False).by_interpreter.start(mode=mode)
    assert run.interpreting is not None
    return run


@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_it_puts_out_the_rows_of_the_interpreter(mode: Mode) -> None:
    run, batches = started(mode), started(mode)
    meaning = InterpretedRun(run.rules.plan, mode=mode)
    made, found = [], []
    for at_ms, row in records(1, 200):
        rows = run.push_row("S", at_ms, row).dicts()
        assert rows == meaning.push_row("S", at_ms, row)
        made += rows
    for first in range(0, 200, 7):
        times, rows = zip(*records(1, 200)[first : first + 7], strict=True)
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        found += batches.push("S", columns, list(times)).dicts()
    assert found == made
    assert {row["stream"] for row in made} >= {"Up", "Both", "Twice", "Buy", "Last", "Sums"}
    if mode == "lived":
        told = Telling(200_000, ("A",), is_complete=True)
        own = run.tell(told, run.next_order).dicts()
        assert own == meaning.tell(("A",), 200_000, None, is_complete=True)
    assert run.advance(300_000, is_complete=True).dicts() == meaning.advance(300_000)
    assert run.end(400_000).dicts() == meaning.end(400_000)
    assert run.dropped == meaning.dropped
    query = build_on_demand("from T select symbol, n", run.rules.plan)
    assert run.ask(query) == [
        dict(zip(("symbol", "n"), values, strict=True))
        for values in meaning.interpreter.ask(query) or []
    ]


@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_it_goes_on_from_snapshots_and_under_other_rules(mode: Mode) -> None:
    run, meaning = started(mode), InterpretedRun(compile_rules(RULES), mode=mode)
    following = compile_rules(RULES + "from S select symbol insert into More;")
    for place, (at_ms, row) in enumerate(records(2, 120)):
        if place in (20, 100):
            run = restore(Compiled(run.rules.plan, jit=False), take(run))
        if place == 60:
            run, report = changed(run, compiled_for(run, following))
            assert not report.reset
        rows = run.push_row("S", at_ms, row).dicts()
        kept = [one for one in rows if one["stream"] != "More"]
        assert kept == meaning.push_row("S", at_ms, row), place
        assert (len(kept) < len(rows)) == (place >= 60)


def test_rules_that_a_program_could_run_go_on_in_the_interpreter() -> None:
    """What is kept has its state there."""
    run = started("sorted")
    plain = compile_rules("\n".join(line for line in RULES.splitlines() if "'last'" not in line))
    run, report = changed(run, compiled_for(run, plain))
    assert run.interpreting is not None and "last" in str(report.dropped)
    run = restore(Compiled(plain, jit=False), take(run))
    assert run.interpreting is not None


def test_rows_one_by_one_keep_their_objects() -> None:
    feed, things = RowFeed(started("lived"), "S"), [object() for _ in range(3)]
    made = [
        row["thing"]
        for place, thing in enumerate(things)
        for row in feed.push(1_000 + place, "A", 1, 2.0, True, thing).dicts()
        if row["stream"] == "Sums"
    ]
    assert made == things
