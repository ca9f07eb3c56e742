"""Keys by declaration and inheritance, and the clock of each operator."""

from __future__ import annotations

import pytest

from cep.plan import compile_rules
from cep.plan.clocks import ClockOf, clocks

SOURCES = """
define stream Tick (symbol string, bid double);
@key('venue') define stream Quote (symbol string, venue string, bid double);
define stream News (text string);
"""
DATED = "define stream Dated (symbol string, t long); "


def clock_of(text: str, part: str = "") -> ClockOf:
    """The clock of a query or event, by default of the first."""
    found = clocks(compile_rules(SOURCES + text))
    return next(
        clock for (kind, name), clock in found.items()
        if kind in ("query", "event") and name.startswith(part)
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "from Tick#window.time(1 min) select symbol, avg(bid) as m group by symbol insert into O;",
        "from Tick#window.session(1 min, symbol) select symbol, bid insert into O;",
        "from Tick#window.length(3) select symbol, avg(bid) as m group by symbol insert into O;",
        "from Quote select venue, avg(bid) as m group by venue insert into O;",
        DATED + "from Dated#window.externalTimeBatch(t, 1 sec) select symbol, count() as n"
        " group by symbol insert into O;",
        "define event E for each symbol as Tick[bid > 1.0];",
        "partition with (symbol of Tick) begin from Tick select bid insert into O; end;",
    ],
)
def test_what_works_by_the_key_has_a_clock_per_key(text: str) -> None:
    assert clock_of(text).is_by_key


@pytest.mark.parametrize(
    "text",
    [
        "from Tick#window.time(1 min) select avg(bid) as m insert into O;",
        "from Tick select bid, count() as n group by bid insert into O;",
        "from Tick#window.timeBatch(1 min) select symbol, max(bid) as m group by symbol"
        " insert into O;",
        "from Tick#window.time(1 min) select symbol, max(bid) as m group by symbol"
        " order by m limit 1 insert into O;",
        "from Tick#window.session(1 min) select symbol, bid insert into O;",
        DATED + "from Dated#window.externalTimeBatch(t, 1 sec, t, 2 sec) select symbol,"
        " count() as n group by symbol insert into O;",
        "from Quote select symbol, avg(bid) as m group by symbol insert into O;",
        "from News select text, count() as n group by text insert into O;",
        "define event E as Tick[bid > 1.0];",
        "define event E for each text as News[true];",
        "partition with (bid > 1.0 as 'high' of Tick) begin from Tick select bid insert into O;"
        " end;",
    ],
)
def test_all_else_has_one_clock(text: str) -> None:
    assert not clock_of(text).is_by_key


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("from Tick select bid insert into O;", "Tick"),
        ("from Tick[false] select bid insert into A; from A select bid insert into O;", "Tick"),
        ("define window W (bid double) time(1 sec); from Quote select bid insert into W;"
         " from W select bid insert into O;", "Quote"),
        ("from Tick as t join Quote#window.time(1 sec) as q select t.bid insert into O;",
         "Quote Tick"),
        ("from e1=Tick -> e2=News select e1.bid insert into O;", "News Tick"),
        ("from Tick select bid insert into O; from Quote select bid insert into O;"
         " from O#window.time(1 sec) select bid insert into P;", "Quote Tick"),
        ("define table T (text string); from News select text insert into T;"
         " from Tick join T select bid insert into O;", "Tick"),
        ("define trigger Each at every 1 sec; from Each select triggered_time insert into O;",
         "News Quote Tick"),
        ("define event Up for each symbol as Tick[true]; define event Seen for each symbol as"
         " Quote[true]; define complex C for each symbol as Up followed by Seen within 1 sec;"
         " from C select number insert into O;", "Quote Tick"),
        ("define event Up for each symbol as Tick[true]; define event Seen for each symbol as"
         " Quote[true]; define complex C for each symbol as Up followed by Seen within 1 sec;"
         " from Up select key insert into O;", "Tick"),
    ],
)  # fmt: skip
def test_a_clock_follows_the_sources_its_rows_come_from(text: str, sources: str) -> None:
    plan = compile_rules(SOURCES + text)
    assert clocks(plan)["query", plan.queries[-1].name].sources == set(sources.split())


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
    assert clock_of(own, "E") == clock_of(own + more, "E")
