"""Idle time moves the clock of what is compiled, too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests.engine.test_against_reference import examples

RULES = """
@app:playback(idle.time='100 millisec', increment='2 sec')
@key('k') define stream S (k string, v long);
from S#window.time(3 sec) select k, count() as n insert into Busy;
from S#window.time(3 sec) select k, count() as n group by k insert into BusyOfKey;
from S#window.time(1 sec) as l join S#window.time(5 sec) as r on l.k == r.k
select l.k as k, r.v as v insert into Pairs;
define engine E (queue = 4 sec);
define event Up in E for each k as every S[v > 2];
define event Down in E for each k as every S[v < 1] repeat allow;
define complex Turn in E for each k as Up followed by Down within 3 sec;
"""
PLAN = compile_rules(RULES, "rules")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("row", "row", "wall")),
        st.sampled_from((0, 50, 120, 900, 4_000)),
        st.sampled_from(("x", "y")),
        st.integers(0, 4),
    ),
    max_size=30,
)


def answers(mode: Mode, steps: list[tuple[str, int, str, int]]) -> tuple[list[Any], list[Any]]:
    """By the interpreter, and natively: the rows of each step, by stream."""
    interpreted, native = (
        InterpretedRun(PLAN, mode=mode),
        Compiled(PLAN, jit=False).start(mode=mode),
    )
    at_msc, wall_msc = 1_700_000_000_000, 5_000
    found: tuple[list[Any], list[Any]] = ([], [])
    for what, gap_ms, key, v in steps:
        if what == "row":
            at_msc += gap_ms
            row = {"k": key, "v": v}
            made = interpreted.push_row("S", at_msc, row), native.push_row("S", at_msc, row).dicts()
        else:
            wall_msc += gap_ms
            made = interpreted.wall(wall_msc), native.wall(wall_msc).dicts()
        for rows, one in zip(made, found, strict=True):
            one.append(sorted(rows, key=lambda row: str(row["stream"])))
    assert interpreted.dropped == native.dropped
    return found


@pytest.mark.parametrize("mode", ["sorted", "lived"])
@examples(100)
@given(STEPS)
def test_what_is_compiled_waits_as_the_interpreter_does(
    mode: Mode, steps: list[tuple[str, int, str, int]]
) -> None:
    interpreted, native = answers(mode, steps)
    assert native == interpreted


def test_a_window_is_empty_after_idle_time() -> None:
    steps = [("wall", 0, "", 0), ("row", 0, "x", 1), ("wall", 4_000, "", 0), ("row", 50, "x", 1)]
    _, native = answers("sorted", steps)
    assert [row["n"] for row in native[3] if row["stream"] == "Busy"] == [1]
