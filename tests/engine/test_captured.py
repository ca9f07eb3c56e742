"""A state that was captured stays as it was while the run goes on."""

from __future__ import annotations

import pytest

from cep.engine.native import Compiled
from cep.engine.snapshot import captured, sealed, take
from cep.plan import compile_rules

RULES = """
define stream S (symbol string, x double);
from S#window.length(3) select symbol, avg(x) as ma group by symbol insert into Means;
define event High for each symbol as Means[ma > 1.5];
define complex Seen for each symbol as High within 1 sec;
"""
INTERPRETED = RULES + "from every e1=S[x > 1.0] -> e2=S[x > e1.x] select e1.x as x insert into P;"


@pytest.mark.parametrize("text", [RULES, INTERPRETED])
@pytest.mark.parametrize("machine", ["needed", "always"])
def test_what_comes_later_is_not_in_it(text: str, machine: str) -> None:
    run = Compiled(compile_rules(text, "r"), jit=False, machine=machine).start()  # type: ignore[arg-type]

    def push(symbol: str, time_msc: int) -> None:
        run.watermarks.published("demo", symbol)
        for found in run.watermarks.tell("demo", False, time_msc):
            run.tell(found, run.next_order)
        run.push_row("S", time_msc, {"symbol": symbol, "x": float(time_msc % 3)})

    for time_msc in range(1_000, 1_010):
        push("AB"[time_msc % 2], time_msc)
    expected, state = take(run), captured(run)
    for time_msc in range(2_000, 2_010):
        push("ABC"[time_msc % 3], time_msc)
    assert sealed(state) == expected != take(run)
