"""Conditions of events that call functions of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings

from cep.engine.native import Compiled
from cep.engine.stages import Stages
from cep.functions import function
from cep.plan import Plan, compile_rules
from cep.plan.expressions import Call, Expression
from cep.plan.functions import unregister, user_function
from cep.plan.nodes import Event
from cep.plan.rewrite import with_queries
from cep.plan.types import Type
from tests.campaign import examples
from tests.functions.own import STREAM, TICKS
from tests.reference.generate_rows import SourceRow, cases

EVENTS = STREAM + (
    "define event Wide for each symbol as {} repeat allow;"
    "define event Up for each symbol as every Tick[bid > 2.0] repeat allow;"
    "define complex Both for each symbol as Wide followed by Up within 1 min;"
)


@pytest.fixture(scope="module", autouse=True)
def same() -> Iterator[None]:
    @function(name="own:same")
    def same(x: bool) -> bool:
        return x

    yield
    unregister("own:same")


def rows(plan: Plan, given: list[SourceRow], names: list[str]) -> list[dict[str, object]]:
    run = Compiled(plan, outputs=names, jit=False).start()
    return [row for stream, time, values in given for row in
            run.push_row(stream, time, values).dicts()]  # fmt: skip


@pytest.mark.parametrize("how", ["every Tick[{}]", "Tick[{}]", "Tick[{} and ask > bid]"])
def test_events_are_those_of_the_condition_itself(how: str) -> None:
    ticks = [("Tick", time, dict(zip(("symbol", "bid", "ask"), row, strict=True)))
             for time, *row in TICKS]  # fmt: skip
    found = []
    for condition in ("ask - bid > 0.00015", "own:same(ask - bid > 0.00015)"):
        plan = compile_rules(EVENTS.format(how.format(condition)))
        found.append(rows(plan, ticks, ["Wide", "Up", "Both"]))
    assert found[0] == found[1] != []


def test_what_stands_to_its_left_is_asked_first() -> None:
    asked = []

    @function(name="own:asked")
    def asked_(x: float) -> bool:
        asked.append(x)
        return True

    try:
        text = EVENTS.format("every Tick[bid > 2.0 and own:asked(bid)]")
        ticks = [("Tick", time, {"symbol": "A", "bid": float(time), "ask": None})
                 for time in (1, 2, 3)]  # fmt: skip
        assert len(rows(compile_rules(text), ticks, ["Wide"])) == 1
        assert asked == [3.0]
    finally:
        unregister("own:asked")


def calling(plan: Plan) -> Plan:
    """The plan with the first event's condition told by a function of the user's."""
    own = user_function("own:same")
    assert own is not None

    def called(condition: Expression) -> Expression:
        return Call("own:same", (condition,), Type.BOOL, own.signature.digest)

    first = plan.events[0]
    operators = tuple(
        replace(one, condition=called(one.condition)) if one is first else one
        for one in plan.operators
    )
    return with_queries(replace(plan, operators=operators))


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_of_any_rules_nothing_else_changes(case: tuple[Plan, list[SourceRow]]) -> None:
    """Rules that are compiled as one stage keep the order of the file, as the interpreter does.

    Rows are in order of time, and queues have no bounds, which engines of all keys have for all.
    """
    plan, given_rows = case
    engines = tuple(replace(engine, events_max=1_000) for engine in plan.engines)
    plan = replace(plan, engines=engines)
    times = [time for _, time, _ in given_rows]
    assume(times == sorted(times) and plan.events and len(Stages.of(plan).used()) == 1)
    names = [one.name for one in plan.operators]
    streams = sorted(plan.derived)
    other = calling(plan)
    assert any(isinstance(one, Event) and one.source.endswith("#condition") for one in other.events)
    assert sorted(other.derived) == streams and set(names) <= {one.name for one in other.operators}
    expected = rows(plan, given_rows, streams)
    found = rows(other, given_rows, streams)
    for stream in streams:
        assert [one for one in found if one["stream"] == stream] == [
            one for one in expected if one["stream"] == stream
        ]
