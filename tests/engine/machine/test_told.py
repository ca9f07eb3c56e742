"""Chunks of queries that callbacks are told of, beside those of the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import pytest
from loguru import logger

from cep.engine.change import changed, compiled_for
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.plan import compile_rules
from tests.campaign import either
from tests.metamorphic.changes import own_functions
from tests.metamorphic.rules import random_rules
from tests.metamorphic.triples import stream_of
from tests.metamorphic.ways import END, Step


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    """Rules that are generated may fail for a row."""
    logger.disable("cep")
    yield
    logger.enable("cep")


def listening(run: Run) -> list[Any]:
    """What callbacks of all queries are told from now on."""
    told: list[Any] = []
    for query in run.rules.plan.queries:
        run.on_query(query.name, lambda *what, name=query.name: told.append((name, *what)))
    return told


def fed(run: Run, step: Step) -> list[dict[str, Any]]:
    stream, at_ms, row = step
    if row is not None:
        return run.push_row(stream, at_ms, row).dicts()
    return (run.end if stream == END else partial(run.advance, is_complete=True))(at_ms).dicts()


@pytest.mark.parametrize("number", range(either(60, 400)))
def test_they_are_told_what_the_interpreter_tells(number: int) -> None:
    """Of generated rules; the rows that are put out are the same as without."""
    random = Random(number)
    rules = random_rules(random)
    steps = stream_of(random, rules)
    with own_functions():
        plan = compile_rules(rules.text)
        names = [query.name for query in plan.queries]
        made = Compiled(plan, jit=False, told=names, machine="always").as_program("sorted")
        if made is None:
            return
        run = made.begun(mode="sorted")
        meant = Compiled(plan, jit=False).by_interpreter.begun(mode="sorted")
        found, expected = listening(run), listening(meant)
        for step in steps:
            if step[1] < 0 or (step[2] is None and step[0] not in ("", END)):
                continue
            assert fed(run, step) == fed(meant, step)
            assert found == expected, step
            found.clear()
            expected.clear()


TEXT = """
define stream S (k string, n long);
@info(name='last') from S#window.length(2) select k, n insert all events into Last;
@info(name='none') from S[n > 2] select n return;
"""


def test_one_is_told_of_rows_that_go_nowhere_else() -> None:
    run = Compiled(compile_rules(TEXT), jit=False, told=["last", "none"]).start(mode="sorted")
    assert run.rules.program is not None
    told = listening(run)
    for at in range(4):
        run.push_row("S", at, {"k": "A", "n": at})
    assert Counter(name for name, *_ in told) == {"last": 4, "none": 1}
    *_, (_, time_msc, current, expired) = [one for one in told if one[0] == "last"]
    assert (time_msc, current[0]["n"], expired[0]["n"]) == (3, 3, 1)
    assert (current[0]["kind"], expired[0]["kind"]) == ("current", "expired")
    assert told[-1] == ("none", 3, [{"stream": "none", "time_msc": 3, "kind": "current", "n": 3}],
                        None)  # fmt: skip


def test_callbacks_go_on_from_snapshots_and_under_other_rules() -> None:
    rules = Compiled(compile_rules(TEXT), jit=False, told=["last"], machine="always")
    run = rules.start(mode="sorted")
    run.push_row("S", 1, {"k": "A", "n": 1})
    run = restore(rules, take(run))
    plan = compile_rules(TEXT + "from S select k insert into More;")
    run, report = changed(run, compiled_for(run, plan, told=["last"]))
    assert not report.reset
    told: list[Any] = []
    run.on_query("last", lambda *what: told.append(what))
    run.push_row("S", 2, {"k": "A", "n": 2})
    run.push_row("S", 3, {"k": "A", "n": 3})
    assert [row["n"] for row in told[1][2]] == [1], "which came before the snapshot"
    with pytest.raises(KeyError, match="no query 'none' is told of"):
        run.on_query("none", print)


@pytest.mark.parametrize(("before", "after"), [([], ["last"]), (["last"], [])])
def test_who_begins_or_ends_to_be_told_changes_no_state(
    before: list[str], after: list[str]
) -> None:
    plan = compile_rules(TEXT)
    run = Compiled(plan, jit=False, told=before, machine="always").start(mode="sorted")
    for at in (1, 2):
        run.push_row("S", at, {"k": "A", "n": at})
    run, report = changed(run, compiled_for(run, plan, told=after))
    assert not report.reset
    made = run.push_row("S", 3, {"k": "A", "n": 3}).dicts()
    assert [row["n"] for row in made] == [3] or [row["n"] for row in made] == [1, 3]
    assert len(made) == 2, "the row that leaves came before"


def test_a_callback_may_feed_the_rules() -> None:
    """It is called when what was fed is done, so that nothing is under way."""
    run = Compiled(compile_rules(TEXT), jit=False, told=["none"]).start(mode="sorted")
    seen: list[int] = []

    def again(time_msc: int, current: Any, expired: Any) -> None:
        seen.append(current[0]["n"])
        if len(seen) < 3:
            run.push_row("S", time_msc + 1, {"k": "A", "n": 7 + len(seen)})

    run.on_query("none", again)
    run.push_row("S", 1, {"k": "A", "n": 7})
    assert seen == [7, 8, 9]
