"""What one input row can cause is bounded before any kernel writes it."""

from __future__ import annotations

import numpy as np
import pytest

from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import NUMBA
from tests.engine.test_against_reference import reference

DOUBLING = "define stream S (n int, symbol string);\n" + "".join(
    f"from {f'T{level - 1}' if level else 'S'} "
    f"select n + {side} as n, symbol insert into T{level};\n"
    for level in range(6)
    for side in range(2)
)
EVENTS = """
define engine E (queue = 10 sec);
define event A in E for each symbol as every T5[n >= 0] repeat allow;
define event B in E for each symbol as every T5[n == 3] repeat allow;
define complex C in E for each symbol as A followed by B within 10 sec;
define complex D in E for each symbol as A followed by A within 10 sec;
from C select key, number insert into Cs;
from T5#window.time(5 sec) select symbol, max(n) as m, sum(n) as s group by symbol insert into W;
"""


@pytest.mark.parametrize("jit", [False, NUMBA], ids=["plain", "numba"])
def test_rows_that_double_on_their_way(jit: bool) -> None:
    """64 rows from one, 128 events from these: more than there are statements in the file."""
    plan = compile_rules(DOUBLING + EVENTS)
    compiled = Compiled(plan, jit=jit)
    module = compiled.generated.module
    assert module is not None
    bound = module.needs.bounds(0, 0)
    run = compiled.start()
    expected = reference(plan, [("S", 1000 + i, {"n": i % 3, "symbol": "A"}) for i in range(4)])
    found = []
    for i in range(4):
        rows = run.push_row("S", 1000 + i, {"n": i % 3, "symbol": "A"})
        assert len(rows) <= bound.rows and len(rows.lists) <= bound.lists
        found += rows.dicts()
    assert found == expected
    assert bound.rows < 1000


def test_every_key_may_complete_at_once() -> None:
    """One event without a key completes a complex event for each of many keys."""
    plan = compile_rules(
        "define stream S (n int, symbol string);\n"
        "define engine E (queue = 10 sec);\n"
        "define event A in E for each symbol as every S[n == 1] repeat allow;\n"
        "define event Go in E as every S[n == 2] repeat allow;\n"
        "define complex C in E for each symbol as A followed by Go within 10 sec;\n"
    )
    run = Compiled(plan, jit=False).start()
    names = [f"K{i}" for i in range(500)]
    run.push("S", {"n": np.ones(500, np.int64), "symbol": names}, np.full(500, 1000))
    rows = run.push_row("S", 1001, {"n": 2, "symbol": "K0"})
    assert [row["key"] for row in rows.of("C")] == names
