"""Records that wait for their order in front of a program, beside the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from loguru import logger

from cep.clocks import Mode
from cep.engine.change import changed, compiled_for
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.engine.watermarks import Telling
from cep.plan import compile_rules
from tests.campaign import either
from tests.metamorphic.changes import own_functions
from tests.metamorphic.rules import CHOICES, Rules, random_rules
from tests.metamorphic.triples import stream_of
from tests.metamorphic.ways import END, Step


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    """Rules that are generated may fail for a row."""
    logger.disable("cep")
    yield
    logger.enable("cep")


def waiting_rules(random: Random) -> Rules:
    """Generated rules of which a stream waits for its order."""
    while "@reorder" not in (rules := random_rules(random, CHOICES)).text:
        pass
    return rules


def led_to(run: Run, step: Step, mode: Mode) -> list[dict[str, Any]]:
    stream, at_ms, row = step
    if row is None:
        return (run.end(at_ms) if stream == END else run.advance(at_ms, is_complete=True)).dicts()
    if "keys" not in row:
        return run.push_row(stream, at_ms, row).dicts()
    told = Telling(at_ms, tuple(row["keys"]), row["is_complete"])
    return run.tell(told, run.next_order).dicts() if mode == "lived" else []


@pytest.mark.parametrize("mode", ["sorted", "lived"])
@pytest.mark.parametrize("number", range(either(25, 200)))
def test_as_in_the_interpreter(number: int, mode: Mode) -> None:
    """With snapshots and changes to the same rules now and then."""
    random = Random(number)
    rules = waiting_rules(random)
    steps = stream_of(random, rules)
    with own_functions():
        plan = compile_rules(rules.text)
        made = Compiled(plan, jit=False, machine="always").as_program(mode)
        if made is None:
            return
        run = made.begun(mode=mode)
        meant = Compiled(plan, jit=False).by_interpreter.begun(mode=mode)
        for step in steps:
            assert led_to(run, step, mode) == led_to(meant, step, mode), step
            assert run.dropped == meant.dropped
            if random.random() < 0.1:
                saved = take(run)
                run = restore(run.rules, saved)
                assert take(run) == saved
            if random.random() < 0.05:
                run, _ = changed(run, compiled_for(run, plan))
                meant, _ = changed(meant, compiled_for(meant, plan))


RULES = (
    "@reorder(max.delay='30 milliseconds', late.stream='Late') define stream A (v int);"
    " define stream B (v int);"
    " from A#window.length(2) select sum(v) as total insert into T;"
    " from Late select v insert into TooLate; {more}"
)


def sent(run: Run, *rows: tuple[str, int, int]) -> list[tuple[str, int, Any]]:
    made = [one for stream, at, v in rows for one in run.push_row(stream, at, {"v": v}).dicts()]
    return [(row["stream"], row["time_msc"], list(row.values())[3]) for row in made]


def test_what_waits_goes_on_under_other_rules() -> None:
    rules = compile_rules(RULES.format(more=""))
    run = Compiled(rules, jit=False, machine="always").start(mode="sorted")
    assert sent(run, ("A", 100, 1), ("A", 90, 2)) == []
    run, report = changed(run, compile_rules(RULES.format(more="from B select v insert into C;")))
    assert not report.reset
    assert sent(run, ("B", 125, 9)) == [("T", 90, 2), ("C", 125, 9)]
    assert sent(run, ("A", 80, 4)) == [("Late", 80, 4), ("TooLate", 80, 4)]
    assert [row["total"] for row in run.end(200).dicts()] == [3]


def test_a_batch_is_its_rows_one_by_one() -> None:
    rules = Compiled(compile_rules(RULES.format(more="")), jit=False, machine="always")
    run, batched = rules.start(mode="sorted"), rules.start(mode="sorted")
    times = [100, 90, 131, 95, 140, 20, 171]
    one_by_one = [row for at in times for row in run.push_row("A", at, {"v": at}).dicts()]
    assert batched.push("A", {"v": times}, times).dicts() == one_by_one != []
    assert batched.dropped == run.dropped


def test_in_machine_code() -> None:
    rules = compile_rules(RULES.format(more=""))
    compiled, plain = (Compiled(rules, jit=jit, machine="always").start() for jit in (True, False))
    times = [100 + (n * 37 % 60) + n for n in range(200)]
    found = [run.push("A", {"v": list(range(200))}, times).dicts() for run in (compiled, plain)]
    assert found[0] == found[1] and len(found[0]) > 100
