"""Keys by declaration and inheritance, and the clock of each operator."""

from __future__ import annotations

import pytest

from cep.plan import compile_rules
from cep.plan.clocks import clocks, key_attributes

SOURCES = """
define stream Tick (symbol string, bid double);
@key('venue') define stream Quote (symbol string, venue string, bid double);
define stream News (text string);
"""

INHERITED = """
from Tick[bid > 1.0] select bid, symbol as name, str:upper(symbol) as big insert into Copy;
from Copy select name, bid insert into Both;
from Quote select symbol as name, bid insert into Both;
define event Up for each name as Copy[bid > 2.0];
from Up select key insert into Seen;
"""


def has_key(text: str) -> bool:
    """Whether the first query or event has a clock per key."""
    found = clocks(compile_rules(SOURCES + text))
    return next(iter(found.values()))


@pytest.mark.parametrize(
    "text",
    [
        "from Tick#window.time(1 min) select symbol, avg(bid) as m group by symbol insert into O;",
        "from Tick#window.timeBatch(1 min) select symbol, max(bid) as m group by symbol"
        " order by m limit 1 insert into O;",
        "from Tick#window.length(3) select symbol, avg(bid) as m group by symbol insert into O;",
        "from Quote select venue, avg(bid) as m group by venue insert into O;",
        "define event E for each symbol as Tick[bid > 1.0];",
        "partition with (symbol of Tick) begin from Tick select bid insert into O; end;",
    ],
)
def test_what_works_by_the_key_has_a_clock_per_key(text: str) -> None:
    assert has_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "from Tick#window.time(1 min) select avg(bid) as m insert into O;",
        "from Tick select bid, count() as n group by bid insert into O;",
        "from Quote select symbol, avg(bid) as m group by symbol insert into O;",
        "from News select text, count() as n group by text insert into O;",
        "define event E as Tick[bid > 1.0];",
        "define event E for each text as News[true];",
        "partition with (bid > 1.0 as 'high' of Tick) begin from Tick select bid insert into O;"
        " end;",
    ],
)
def test_all_else_has_one_clock(text: str) -> None:
    assert not has_key(text)


def test_a_key_is_inherited_by_what_passes_it_on_unchanged() -> None:
    plan = compile_rules(SOURCES + INHERITED)
    held = key_attributes(plan)
    assert held["Copy"] == {1}, "under another name, and not what was made of it"
    assert "Both" not in held, "what another source writes there is no key of its row"
    assert held["Up"] == held["Seen"] == {0}


@pytest.mark.parametrize(
    "more",
    [
        "from Tick select bid, count() as n group by bid insert into Other;",
        "define event Any as every Tick[bid > 3.0]; define complex Cross as Any within 1 sec;",
        "define table T (symbol string); from Tick select symbol insert into T;",
    ],
)
def test_nothing_that_is_added_changes_a_clock(more: str) -> None:
    own = "define event E for each symbol as Tick[bid > 1.0];"
    before, after = (clocks(compile_rules(SOURCES + text)) for text in (own, own + more))
    assert before.items() <= after.items()
