"""What modules run, why they run no other rules, and in which stages."""

from __future__ import annotations

import pytest

from cep.engine.coverage import why_not_generated
from cep.engine.native import Compiled
from cep.engine.stages import CROSSING, KEYED, Stages
from cep.plan import compile_rules

TICKS = "define stream S (symbol string, mid double);\n"


def reasons(rules: str) -> dict[str, str]:
    return why_not_generated(compile_rules(TICKS + rules))


def test_rules_of_windows_and_events_have_a_module() -> None:
    rules = """
    from S#window.time(1 min) select symbol, avg(mid) as a group by symbol insert into A;
    define event Up for each symbol as A[a > 1.0];
    """
    plan = compile_rules(TICKS + rules)
    assert not why_not_generated(plan)
    assert Stages.of(plan).used() == (KEYED,)
    assert Compiled(plan, jit=False).start(mode="sorted").rules.module is not None


def test_one_query_that_no_module_can_run_makes_all_of_the_rules_a_program() -> None:
    rules = """
    @info(name='band')
    from S#window.time(1 min) select symbol, avg(mid) as a group by symbol insert into Band;
    @info(name='some') from Band select symbol, a output every 3 events insert into Some;
    """
    assert reasons(rules) == {"some": "its output is rate limited"}
    run = Compiled(compile_rules(TICKS + rules), jit=False).start(mode="sorted")
    assert run.rules.program is not None and run.rules.module is None


@pytest.mark.parametrize(
    ("definition", "name", "why"),
    [
        ("define table T (n long);", "T", "a table"),
        ("define window W (n long) length(2);", "W", "a named window"),
        ("define trigger R at every 1 sec;", "R", "a trigger"),
        ("@reorder(max.delay='1 sec') define stream O (n long);", "O", "wait for their order"),
        ("define event E as S[str:length(symbol) > 2];", "E", "function `str:length`"),
    ],
)
def test_definitions_that_need_a_program(definition: str, name: str, why: str) -> None:
    assert why in reasons(definition)[name]


def test_what_crosses_keys_has_a_stage_of_its_own_only_when_it_is_run_apart() -> None:
    rules = """
    @info(name='sums') from S select symbol, sum(mid) as m group by symbol insert into Sums;
    @info(name='all') from Sums select sum(m) as m insert into Total;
    """
    plan = compile_rules(TICKS + rules)
    assert Stages.of(plan).used() == (KEYED,)
    apart = Stages.of(plan, apart=True)
    assert apart.used() == (KEYED, CROSSING)
    assert [(turn.stream, turn.place) for turn in apart.turns()] == [("Sums", 0)]


TOGETHER = """
@info(name='pairs')
from every a=S[mid > 1.0] -> b=S[mid > 2.0] select a.symbol, b.mid insert into P;
@info(name='one') from P[mid > 3.0] select symbol, mid insert into One;
@info(name='two') from P[mid > 4.0] select symbol, mid insert into TARGET;
"""


def test_rows_that_go_on_together_need_a_program_where_that_can_be_told() -> None:
    assert not reasons(TOGETHER.replace("TARGET", "Two"))
    assert reasons(TOGETHER.replace("TARGET", "One")) == {
        "pairs": "one and two read P, to which it puts many rows at once, and both lead to One"
    }


@pytest.mark.parametrize(
    "rest",
    [
        "define event E as every P[mid > 5.0];"
        "from E select key as symbol, 1.0 as mid insert into One;",
        "from P join T on P.symbol == T.symbol select T.symbol, T.mid insert into Found;"
        "from Two select symbol, mid update or insert into T on T.symbol == symbol;",
        "from P[(T.mid > 3.0) in T] select symbol, mid insert into Two;"
        "from P select symbol, mid insert into T;",
        "from P select symbol, mid output every 2 events insert into Rated;",
        "from P select count() as n insert into Counted;",
    ],
)
def test_where_it_can_be_told(rest: str) -> None:
    """By an engine, a table that one fills and the other asks, or one that sees them as a whole."""
    table = "define table T (symbol string, mid double);\n"
    assert "pairs" in reasons(table + TOGETHER.replace("TARGET", "Two") + rest)


def test_tables_that_are_only_asked_are_no_place_to_meet() -> None:
    ask = "from P[(T.mid > 3.0) in T] select symbol, mid insert into"
    rules = f"define table T (symbol string, mid double); {ask} Some; {ask} More;"
    assert "pairs" not in reasons(TOGETHER.replace("TARGET", "Two") + rules)
