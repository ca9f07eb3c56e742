"""A few output rows row by row, against the same rows by columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.few_rows import FEW
from cep.engine.native import Compiled
from cep.engine.output_rows import OutputRows
from cep.engine.rows import Rows
from cep.plan import compile_rules

RULES = """
define stream Tick (symbol string, bid double, n int, flag bool);
from Tick select symbol, bid / n as share, n, flag, not flag as other insert into Share;
from Tick#window.length(3) select symbol, unionSet(createSet(n)) as all insert into Sets;
define engine E (queue = 5 sec);
define event High in E for each symbol as every Tick[bid > 1.0] repeat allow;
define event Low in E as every Tick[bid < 1.0] repeat allow;
define complex Both in E for each symbol as High followed by High within 2 sec;
define signal Go on Both buy 0.10 lots;
"""
BIDS = st.sampled_from([0.5, 1.5, 2.5, float("nan")])
TICKS = st.tuples(st.sampled_from(["A", "B", None]), BIDS, st.integers(0, 2), st.booleans())


@given(st.lists(TICKS, min_size=FEW, max_size=40))
def test_few_rows_are_as_many(ticks: list[tuple[str | None, float, int, bool]]) -> None:
    run = Compiled(compile_rules(RULES, "t"), machine="always", jit=False).start()
    symbols, bids, numbers, flags = map(list, zip(*ticks, strict=True))
    columns = {"symbol": symbols, "bid": bids, "n": numbers, "flag": flags}
    found = run.push("Tick", columns, 500 * np.arange(len(ticks)))
    assert len(found) > FEW, "they are read by columns"
    whole = found.dicts()
    for first in range(0, len(whole), FEW):
        part = slice(first, first + FEW)
        raw = OutputRows(found.ints[part], found.floats[part], found.lists)
        assert Rows(found.decoder, raw, found.objects).dicts() == whole[part]
