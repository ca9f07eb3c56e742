"""Where rows hold their key, told once for clocks and for what runs by the key."""

from __future__ import annotations

import pytest

from cep.plan import compile_rules
from cep.plan.keys import key_attributes
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


@pytest.mark.parametrize("number", range(60))
def test_what_runs_by_the_key_finds_it_where_clocks_do(number: int) -> None:
    """Streams of events apart: those are keyed as a whole engine or not at all."""
    plan = compile_rules(random_app(number).text)
    held, found = key_attributes(plan), separability(plan).key_columns
    queries = {query.target for query in plan.queries}
    read = {one.stream for query in plan.queries for one in query.inputs}
    made = {one.name for one in (*plan.events, *plan.complexes, *plan.signals)}
    if not read & made:
        assert {name: found[name] for name in found.keys() & queries if found[name]} == {
            name: held[name] for name in found.keys() & queries if found[name]
        }
