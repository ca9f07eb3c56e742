"""Where rows hold their key, told once for clocks and for what runs by the key."""

from __future__ import annotations

import pytest

from cep.plan import compile_rules
from cep.plan.clocks import clocks
from cep.plan.keys import NOWHERE, key_attributes
from cep.plan.separable import separability
from tests.engine.random_apps import random_app

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


def test_a_key_is_inherited_by_what_passes_it_on_unchanged() -> None:
    held = key_attributes(compile_rules(SOURCES + INHERITED))
    assert held["Copy"] == {1}, "under another name, and not what was made of it"
    assert "Both" not in held, "what another source writes there is no key of its row"
    assert held["Up"] == held["Seen"] == {0}


def test_both_sides_of_a_join_pass_on_their_keys() -> None:
    text = """
    from Tick as t join Quote#window.time(1 sec) as q on t.symbol == q.venue
    select q.symbol, q.venue, t.bid, t.symbol as mine insert into Both;
    """
    assert key_attributes(compile_rules(SOURCES + text))["Both"] == {1, 3}


EVENTS = """
define event Up for each symbol as every Tick[bid > 1.0];
define event Seen for each symbol as every Tick[bid > 3.0];
define event Other for each symbol as every Quote[bid > 1.0];
define event Any as every Tick[bid > 2.0];
define complex Both for each symbol as Up followed by Seen within 1 min;
define signal Buy on Both buy 1 lots;
define complex Fixed as Up('EURUSD') within 1 min;
define complex Mixed for each symbol as Up followed by Other within 1 min;
from Buy select key, complex insert into Bought;
from Both#window.time(1 min) select key, count() as n group by key insert into Many;
"""


def test_complex_events_and_signals_pass_on_the_key_of_their_events() -> None:
    plan = compile_rules(SOURCES + EVENTS)
    held = key_attributes(plan)
    assert held["Both"] == held["Bought"] == held["Many"] == {0}
    assert plan.stream("Buy").schema.names[min(held["Buy"])] == "key"
    assert not {"Any", "Fixed", "Other", "Mixed"} & held.keys()
    assert clocks(plan)["query", plan.queries[-1].name].is_by_key


def test_partial_matches_that_run_out_of_time_pass_on_no_key() -> None:
    """They may lack the row that has it; what is selected stands elsewhere."""
    text = """
    partition with (symbol of Tick, venue of Quote) begin
    @expired(stream='Gone') from every a=Tick -> b=Quote within 1 sec
    select b.bid, a.symbol as name insert into Found;
    end;
    """
    plan = compile_rules(SOURCES + text)
    assert key_attributes(plan)["Found"] == separability(plan).key_columns["Found"] == {1}
    assert "Gone" not in key_attributes(plan)
    assert separability(plan).key_columns["Gone"] == frozenset()


@pytest.mark.parametrize("number", range(60))
def test_what_runs_by_the_key_finds_it_where_clocks_do(number: int) -> None:
    plan = compile_rules(random_app(number).text)
    held, found = key_attributes(plan), separability(plan).key_columns
    for stream, positions in found.items():
        assert positions == held.get(stream, NOWHERE), stream
