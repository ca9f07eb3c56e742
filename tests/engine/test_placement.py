"""Which operators are compiled, which are interpreted, and in which order the stages run."""

from __future__ import annotations

import pytest

from cep.engine.native import Compiled
from cep.engine.placement import BEHIND, CROSSING, INTERPRETED, KEYED, PlacementError
from cep.engine.stages import Stages
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests.engine.test_against_interpreter import by_stream

TICKS = "define stream S (symbol string, mid double);\n"
RATED = "output every 3 events insert into"
"""What is not compiled today; a test that needs another one fails here first."""


def stages(rules: str, *interpreted: str) -> Stages:
    return Stages.of(compile_rules(TICKS + rules.replace("RATED", RATED)), interpreted)


def placed(rules: str, *interpreted: str) -> dict[str, int]:
    found = stages(rules, *interpreted)
    return {operator.name: found.operator(operator) for operator in found.plan.operators}


def test_rules_that_compile_have_no_interpreter() -> None:
    rules = "from S#window.time(1 min) select symbol, avg(mid) as a group by symbol insert into A;"
    found = stages(rules)
    assert found.used() == (KEYED,) and not found.has_interpreter


def test_only_what_cannot_be_compiled_is_interpreted() -> None:
    rules = """
    @info(name='band')
    from S#window.time(1 min) select symbol, avg(mid) as a group by symbol insert into Band;
    @info(name='some') from Band select symbol, a RATED Some;
    """
    assert placed(rules) == {"band": KEYED, "some": INTERPRETED}
    assert stages(rules).placement.reasons == {"some": "its output is rate limited"}


def test_what_follows_the_interpreter_is_compiled_again() -> None:
    rules = """
    @info(name='some') from S select symbol, mid, UUID() as id insert into Some;
    @info(name='band')
    from Some#window.time(1 min) select symbol, mid, avg(mid) as a group by symbol insert into Band;
    define engine Main (queue = 5 min);
    define event Up in Main for each symbol as Band[mid > a];
    define event Any in Main for each symbol as every S[mid > 1.0];
    define complex Both in Main for each symbol as Up and Any within 1 min;
    """
    found = placed(rules)
    assert found == {
        "some": INTERPRETED,
        "band": BEHIND,
        "Up": BEHIND,
        "Any": KEYED,
        "Both": BEHIND,
    }


def test_aggregates_over_rows_that_come_several_at_a_time_are_interpreted() -> None:
    """A selection with aggregates puts out one row per chunk."""
    rules = """
    @info(name='some') from S select symbol, mid RATED Some;
    @info(name='n') from Some select count() as n insert into N;
    @info(name='copy') from Some select symbol insert into Copy;
    """
    assert placed(rules) == {"some": INTERPRETED, "n": INTERPRETED, "copy": BEHIND}


def test_what_stands_between_two_interpreted_queries_is_interpreted() -> None:
    rules = """
    @info(name='some') from S select symbol, mid RATED Some;
    @info(name='middle') from Some[mid > 1.0] select symbol, mid insert into Middle;
    @info(name='last') from Middle select symbol RATED Last;
    """
    assert set(placed(rules).values()) == {INTERPRETED}
    assert "between" in stages(rules).placement.reasons["middle"]


def test_what_stands_around_the_interpreted_stays_compiled() -> None:
    """Rows are handed on in their place, whatever stands in front and behind."""
    rules = """
    @info(name='one') from S select symbol, mid RATED One;
    @info(name='x') from S[mid > 1.0] select symbol, mid insert into X;
    @info(name='two') from S select symbol, mid RATED Two;
    @info(name='three') from X select symbol RATED Three;
    """
    found = placed(rules)
    assert found == {"one": INTERPRETED, "x": KEYED, "two": INTERPRETED, "three": INTERPRETED}
    turns = stages(rules).turns(KEYED)
    assert [(turn.stream, turn.place) for turn in turns] == [("S", 0), ("S", 1), ("X", 0)]


def test_what_crosses_keys_has_a_stage_of_its_own_only_when_it_is_run_apart() -> None:
    rules = """
    @info(name='sums') from S select symbol, sum(mid) as m group by symbol insert into Sums;
    @info(name='all') from Sums select sum(m) as m insert into Total;
    """
    plan = compile_rules(TICKS + rules)
    assert Stages.of(plan).used() == (KEYED,)
    assert Stages.of(plan, apart=True).used() == (KEYED, CROSSING)


@pytest.mark.parametrize("source", ["S", "Q"])
def test_a_partition_is_one_reader(source: str) -> None:
    """What stands between two interpreted queries of it is interpreted, whatever it reads."""
    rules = """
    from S[mid > 2.0] select symbol, mid insert into Q;
    partition with (symbol of S, symbol of Q) begin
    from S select symbol, mid RATED One;
    @info(name='middle') from SOURCE[mid > 1.0] select symbol, mid insert into X;
    from S select symbol, mid RATED Two;
    end;
    """
    assert placed(rules.replace("SOURCE", source))["middle"] == INTERPRETED


def test_inner_streams_are_compiled_or_interpreted_as_a_whole() -> None:
    rules = """
    partition with (symbol of S) begin
    @info(name='first') from S[mid > 1.0] select symbol, mid insert into #In;
    from #In select symbol, mid RATED One;
    end;
    """
    assert placed(rules)["first"] == INTERPRETED


TOGETHER = """
@info(name='pairs')
from every a=S[mid > 1.0] -> b=S[mid > 2.0] select a.symbol, b.mid insert into P;
@info(name='one') from P[mid > 3.0] select symbol, mid insert into One;
@info(name='two') from P[mid > 4.0] select symbol, mid insert into TARGET;
"""


def test_rows_that_go_on_together_are_interpreted_where_that_can_be_told() -> None:
    assert set(placed(TOGETHER.replace("TARGET", "Two")).values()) == {KEYED}
    found = stages(TOGETHER.replace("TARGET", "One"))
    assert found.placement.reasons == {
        "pairs": "one and two read P, to which it puts many rows at once, and both lead to One"
    }
    assert placed(TOGETHER.replace("TARGET", "One"))["two"] == BEHIND


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
    rules = table + TOGETHER.replace("TARGET", "Two") + rest
    assert "pairs" in stages(rules).placement.reasons


def test_a_partition_is_compiled_as_a_whole_or_not_at_all() -> None:
    """Else its halves would not know each other's keys."""
    rules = """
    partition with (symbol of S) begin
        @info(name='a') from S[mid > 1.0] select symbol, mid insert into A;
        @info(name='some') from S select symbol, mid RATED Some;
    end;
    @info(name='b') from S select symbol insert into B;
    """
    assert placed(rules) == {"a": INTERPRETED, "some": INTERPRETED, "b": KEYED}
    assert "as a whole" in stages(rules).placement.reasons["a"]


def test_a_query_may_be_interpreted_on_demand() -> None:
    rules = "@info(name='a') from S select symbol insert into A;"
    assert placed(rules, "a") == {"a": INTERPRETED}


def test_a_circle_of_interpreted_and_compiled_has_no_stages() -> None:
    rules = """
    from S select symbol, mid RATED Some;
    define engine Main (queue = 5 min);
    define event Up in Main for each symbol as Some[mid > 1.0];
    from Up select key RATED Last;
    """
    with pytest.raises(PlacementError, match="Up depends on a query that is not compiled"):
        stages(rules)


CASCADE = """
@info(name='some') from S select symbol, mid RATED Some;
define engine One (queue = 1 min);
define engine Two (queue = 1 min) from One;
define event E in One for each symbol as every S[mid > 0.0] repeat allow;
define event F in Two for each symbol as every Some[mid > 5.0] repeat allow;
define complex C in One for each symbol as E within 1 min;
define complex B in One for each symbol as E within 1 min;
define complex D in Two for each symbol as C within 1 min;
from D select key insert into Found;
@info(name='copy') from B select key insert into TARGET;
"""
ENGINES = {"Apart": [KEYED, BEHIND], "Found": [BEHIND, BEHIND]}


@pytest.mark.parametrize("target", ENGINES)
def test_engines_whose_finds_meet_hand_over_in_one_stage(target: str) -> None:
    found = stages(CASCADE.replace("TARGET", target))
    assert [found.engine(name) for name in ("One", "Two")] == ENGINES[target]
    assert placed(CASCADE.replace("TARGET", target))["E"] == KEYED
    rules = Compiled(found.plan, jit=False)
    run, meant = rules.start(mode="sorted"), InterpretedRun(found.plan)
    for place in range(4):
        row = {"symbol": "AB"[place % 2], "mid": float(place)}
        rows = run.push_row("S", place, row).dicts(), meant.push_row("S", place, row)
        assert by_stream(rows[0]) == by_stream(rows[1])


def test_engines_whose_finds_meet_around_the_interpreter_have_no_stages() -> None:
    rules = CASCADE.replace("TARGET", "Found") + "from B select key RATED Last;"
    with pytest.raises(PlacementError, match="engine One leads to Two and both to Found"):
        stages(rules)


def test_tables_that_are_only_asked_are_no_place_to_meet() -> None:
    ask = "from P[(T.mid > 3.0) in T] select symbol, mid insert into"
    rules = f"define table T (symbol string, mid double); {ask} Some; {ask} More;"
    rules = TOGETHER.replace("TARGET", "Two") + rules
    assert "pairs" not in stages(rules).placement.reasons
