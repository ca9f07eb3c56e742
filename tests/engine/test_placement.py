"""Which operators are compiled, which are interpreted, and in which order the stages run."""

from __future__ import annotations

import pytest

from cep.engine.placement import BEHIND, CROSSING, INTERPRETED, KEYED, PlacementError
from cep.engine.stages import Stages
from cep.plan import compile_rules

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


def test_a_reader_between_interpreted_readers_of_its_source_is_interpreted() -> None:
    """Else the rows of `X` would come before or after both, not between."""
    rules = """
    @info(name='one') from S select symbol, mid RATED One;
    @info(name='x') from S[mid > 1.0] select symbol, mid insert into X;
    @info(name='two') from S select symbol, mid RATED Two;
    @info(name='three') from X select symbol RATED Three;
    """
    assert set(placed(rules).values()) == {INTERPRETED}


@pytest.mark.parametrize(("first", "derived_first"), [("x", True), ("one", False)])
def test_readers_of_a_source_keep_their_order(first: str, derived_first: bool) -> None:
    texts = {
        "one": "@info(name='one') from S select symbol, mid RATED One;\n",
        "x": "@info(name='x') from S[mid > 1.0] select symbol, mid insert into X;\n",
    }
    last = "@info(name='last') from X select symbol RATED Last;"
    second = next(name for name in texts if name != first)
    found = stages(texts[first] + texts[second] + last)
    assert found.placement.operators["x"] == CROSSING
    assert found.placement.derived_first is derived_first


def test_a_query_may_be_interpreted_on_demand() -> None:
    rules = "@info(name='a') from S select symbol insert into A;"
    assert placed(rules, "a") == {"a": INTERPRETED}


def test_a_circle_of_interpreted_and_compiled_is_refused() -> None:
    rules = """
    from S select symbol, mid RATED Some;
    define engine Main (queue = 5 min);
    define event Up in Main for each symbol as Some[mid > 1.0];
    from Up select key RATED Last;
    """
    with pytest.raises(PlacementError, match="Up depends on a query that is not compiled"):
        stages(rules)
