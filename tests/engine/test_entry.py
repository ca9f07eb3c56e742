"""Rows fed one by one enter machine code by address: the same rows come out as in a batch."""

from __future__ import annotations

import numpy as np
import pytest

from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import STATUS
from cep.engine.native import Compiled
from cep.engine.row_feed import RowFeed
from cep.plan import compile_rules

RULES = """
define stream S (symbol string, mid double);
from S#window.length(3000) select symbol, avg(mid) as a, max(mid) as m, count() as n
group by symbol insert into Out;
"""
COUNT = 4000


@pytest.mark.parametrize("jit", [True, False])
def test_single_rows_outgrow_every_array(jit: bool) -> None:
    rules = Compiled(compile_rules(RULES), jit=jit)
    mid = np.random.default_rng(5).integers(0, 100, COUNT).astype(float)
    symbols = [f"K{number % 300}" for number in range(COUNT)]
    times = np.arange(COUNT)
    expected = rules.start().push("S", {"symbol": symbols, "mid": mid}, times).dicts()
    run = rules.start()
    feed = RowFeed(run, "S")
    found = [
        row
        for time, symbol, value in zip(times.tolist(), symbols, mid.tolist(), strict=True)
        for row in feed.push(time, symbol, value).dicts()
    ]
    assert found == expected


def test_a_row_without_room_is_not_begun() -> None:
    run = Compiled(compile_rules(RULES)).generated.start()
    feed = RowFeed(run, "S")
    feed.push(0, "K0", 1.0)
    stage = run.runner
    entry, row = stage._entry, feed._row
    assert entry is not None
    while entry.run_row(row, stage.state) == 1:
        stage.take()
    before = [array.copy() for array in stage.state]
    assert entry.run_row(row, stage.state) == 0
    pairs = zip(stage.state._fields, before, stage.state, strict=True)
    assert [name for name, old, new in pairs if not np.array_equal(old, new)] in ([], ["gi"])
    before[4][0, STATUS] = stage.state.gi[0, STATUS]
    assert np.array_equal(before[4], stage.state.gi)


def test_rows_that_do_not_lie_behind_each_other_are_refused() -> None:
    """Their address alone would not say where they are."""
    run = Compiled(compile_rules(RULES)).generated.start()
    feed = RowFeed(run, "S")
    feed.push(0, "K0", 1.0)
    entry, row = run.runner._entry, feed._row
    assert entry is not None
    with pytest.raises(AssertionError, match="behind each other"):
        entry.run(0, 1, InputRows(row.ints[:, ::2], row.floats), run.runner.state)
