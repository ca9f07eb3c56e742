"""Every array of the state grows when it must, in the middle of a batch, and loses nothing."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from cep.engine.memory import FIRST_ARENA, FIRST_ENTRIES, FIRST_GROUPS, FIRST_KEYS, OUTPUT_ROWS
from cep.engine.native import Compiled, Run
from cep.plan.build import compile_rules

KEYS, TIMES = 300, 25
RULES = """
define stream S (symbol string, n int);
define engine Main (queue = 10 min);
from S#window.time(10 min)
select symbol, n, count() as seen, max(n) as top group by symbol, n insert into Seen;
define event A in Main for each symbol as every S[n >= 0] repeat allow;
define event B in Main for each symbol as every S[n < 0] repeat allow;
define complex C in Main for each symbol as A followed by B within 10 min;
"""
Row = dict[str, Any]


@functools.cache
def compiled(jit: bool) -> Compiled:
    return Compiled(compile_rules(RULES, "growth.cep"), jit=jit)


def rows() -> tuple[list[str], list[int]]:
    """Per key, `TIMES` rows of A with values of their own, then as many of B; keys interleaved."""
    phases = [*range(TIMES), *range(-TIMES, 0)]
    pairs = [(f"K{key}", n) for n in phases for key in range(KEYS)]
    return [symbol for symbol, _ in pairs], [n for _, n in pairs]


def push(run: Run, start: int, stop: int) -> list[Row]:
    symbols, values = rows()
    columns = {"symbol": symbols[start:stop], "n": np.array(values[start:stop])}
    return run.push("S", columns, np.arange(start, start + len(columns["n"]))).dicts()


def expected_complexes() -> list[tuple[str, list[int]]]:
    """Key and bound sequence numbers: each B takes the newest A that is still free."""
    free: dict[str, list[int]] = defaultdict(list)
    found = []
    for seq, (symbol, n) in enumerate(zip(*rows(), strict=True), start=1):
        if n >= 0:
            free[symbol].append(seq)
        else:
            found.append((symbol, [free[symbol].pop(), seq]))
    return found


@pytest.mark.parametrize("jit", [True, False])
def test_one_batch_outgrows_every_array(jit: bool) -> None:
    run = compiled(jit).start()
    found = push(run, 0, 2 * TIMES * KEYS)
    state = run.runner.state
    counts = Counter(row["stream"] for row in found)
    assert counts == {"Seen": 15_000, "A": 7_500, "B": 7_500, "C": 7_500}
    assert len(found) > OUTPUT_ROWS
    assert len(state.ki) > FIRST_KEYS and len(state.ai) > FIRST_GROUPS
    assert len(state.wi) > FIRST_ARENA and len(state.qe) > FIRST_ENTRIES
    assert len(state.qb) > FIRST_ENTRIES
    complexes = [(row["key"], row["events"]) for row in found if row["stream"] == "C"]
    assert complexes == expected_complexes()
    assert all(row["seen"] == 1 and row["top"] == row["n"] for row in found if "seen" in row)


def test_numbers_of_many_keys_never_meet() -> None:
    found = push(compiled(True).start(), 0, 2 * TIMES * KEYS)
    owners = {(row["number"], row["stream"], row["key"]) for row in found if "number" in row}
    assert len({number for number, _, _ in owners}) == len(owners) == 3 * KEYS


def test_growing_in_small_batches_gives_the_same() -> None:
    run = compiled(True).start()
    pieces = [push(run, at, at + 700) for at in range(0, 2 * TIMES * KEYS, 700)]
    whole = push(compiled(True).start(), 0, 2 * TIMES * KEYS)
    assert [row for piece in pieces for row in piece] == whole


def test_what_left_the_queue_makes_room() -> None:
    """A long stream of events that expire keeps the arrays at the size of what is queued."""
    run = compiled(True).start()
    for at in range(0, 60_000, 1_000):
        times = 60_000 * np.arange(at, at + 1_000)  # one event a minute: ten are in the queue
        columns = {"symbol": ["K"] * 1_000, "n": np.where(np.arange(at, at + 1_000) % 3, 1, -1)}
        run.push("S", columns, times)
    stage = run.runner
    state = stage.state
    assert state.gi[0, stage.compiled.tables.entered["Main"]] == 60_000
    assert len(state.qe) <= 4 * FIRST_ENTRIES and len(state.qb) <= 4 * FIRST_ENTRIES
    assert len(state.wi) <= 2 * FIRST_ARENA


def test_thousands_of_rules_load_and_take_little_memory() -> None:
    numbers = range(500)
    text = "define stream S (n int);\ndefine engine Main (queue = 5 min);\n"
    text += "".join(
        f"define event E{i} in Main as every S[n == {i}] repeat allow;\n" for i in numbers
    )
    text += "".join(
        f"define complex C{i} in Main as E{i} followed by E{(i + 1) % 500} within 1 min;\n"
        for i in numbers
    )
    run = Compiled(compile_rules(text, "many.cep"), jit=False).start()
    found = run.push("S", {"n": np.arange(500)}, np.arange(500)).dicts()
    state = run.runner.state
    assert [row["stream"] for row in found if row["stream"][0] == "C"] == [
        f"C{i}" for i in range(499)
    ]
    assert sum(array.nbytes for array in state) < 64 << 20


def test_the_first_row_may_open_more_rings_than_the_first_arena_holds() -> None:
    """Without a look at the first blocks, too, they would be written behind the arena's end."""
    queries = [
        f"from S[x != {i}.5]#window.length({i + 2}) select min(x) as a, max(y) as b, sum(x) as c"
        f" {'group by symbol ' if i % 2 else ''}insert into T{i};"
        for i in range(200)
    ]
    rules = "define stream S (symbol string, x double, y double);\n" + "\n".join(queries)
    run = Compiled(compile_rules(rules), jit=False).start()
    rows = run.push("S", {"symbol": ["A"], "x": [1.0], "y": [2.0]}, [1_000]).dicts()
    assert [(row["a"], row["b"], row["c"]) for row in rows] == [(1.0, 2.0, 1.0)] * 200
