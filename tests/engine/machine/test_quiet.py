"""Records that only become part of bars are run apart, and nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from cep.engine.machine.kernels.streams import STREAM_QUIET
from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.engine.machine.compared import assert_same
from tests.engine.machine.test_functions import BAR, ROWS, START_MS, STREAMS, records

MINUTES = """
from Tick#bars:time(bid, volume, 1 min) select symbol, open, close group by symbol
insert into Minutes;"""
QUIET = {
    "two time frames": """
MINUTES
from Tick#bars:time(bid, volume, 5 min) select symbol, EVERYTHING group by symbol insert into Fives;
from Minutes#window.length(2) select symbol, max(close) as top group by symbol insert into Tops;""",
    "ticks beside minutes": """
from Tick#bars:ticks(bid, size, 3) select symbol, EVERYTHING group by symbol insert into Threes;
MINUTES""",
    "by volume": """
from Tick#bars:volume(bid, volume, 2) select symbol, EVERYTHING group by symbol insert into Out;
MINUTES""",
    "beside a condition": """
from Tick[bid > 1.0] select symbol, bid insert into High;
MINUTES
from Tick[volume > 1.0 and flag] select symbol, volume insert into Much;""",
    "behind conditions": """
from Tick[bid > 0.5]#bars:time(bid + 1.0, volume, 1 min) select symbol, EVERYTHING
insert into Upper;
from Tick[bid < 0.5]#bars:time(size, volume, 1 min) select flag, EVERYTHING group by flag
insert into Lower;""",
    "with events of keys": """
MINUTES
define event Up for each symbol as Minutes[close > open] repeat allow;
define event Down for each symbol as Minutes[close < open] repeat allow;
define complex Turn for each symbol as Up followed by Down within 4 min;""",
    "beside what waits": """
MINUTES
from Deal#window.time(90 sec) select symbol, count() as n group by symbol
insert all events into Deals;
from every m=Minutes -> not Deal[symbol == m.symbol] for 2 min select m.symbol as symbol
insert into Lonely;""",
}
NOT_QUIET = {
    "all ticks go on": "MINUTES from Tick select symbol, bid insert into Out;",
    "nothing makes bars": "from Tick[bid > 1.0] select symbol, bid insert into Out;",
    "Python computes a price": """
from Tick#bars:time(math:ln(bid), volume, 1 min) select symbol, EVERYTHING insert into Out;""",
    "Python looks at a condition": """
MINUTES
from Tick[str:upper(symbol) == 'A'] select symbol, bid insert into Out;""",
    "an event of ticks": """
MINUTES
define event High for each symbol as Tick[bid > 1.0] repeat allow;""",
    "too many readers": "".join(
        f"from Tick#bars:time(bid, volume, {n} min) select symbol, close insert into M{n};"
        for n in range(1, 6)
    ),
    "in a partition": """
partition with (symbol of Tick) begin
from Tick#bars:time(bid, 1, 1 min) select close insert into Out;
end;""",
}


def rules_of(form: str) -> str:
    text = (QUIET | NOT_QUIET)[form]
    return STREAMS + text.replace("MINUTES", MINUTES).replace("EVERYTHING", BAR)


@pytest.mark.parametrize("form", [*QUIET, *NOT_QUIET])
@settings(max_examples=10, deadline=None)
@given(rows=ROWS)
def test_rows_are_those_of_the_interpreter(form: str, rows: list[tuple[Any, ...]]) -> None:
    assert_same(rules_of(form), records(rows), START_MS + 100_000_000)


@pytest.mark.parametrize("form", [*QUIET, *NOT_QUIET])
def test_what_is_looked_at_first(form: str) -> None:
    rules = Compiled(compile_rules(rules_of(form)), jit=False).whole
    assert rules is not None and rules.program is not None
    words = rules.program.words
    at = words[words[0] + rules.ids.of("Tick")]
    assert bool(words[at + STREAM_QUIET]) == (form in QUIET)
