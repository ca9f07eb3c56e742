"""What of a plan is compiled, what is interpreted, and why."""

from __future__ import annotations

from collections.abc import Iterator

from cep.engine.codegen.join_keys import SIDES, band, equality
from cep.engine.compiled import Compiled
from cep.engine.placement import PlacementError
from cep.engine.stages import BEHIND, INTERPRETED, KEYED, Stages, interpreted_queries
from cep.plan.expressions import Expression
from cep.plan.nodes import Aggregation, NamedWindow, Plan, Table, Trigger
from cep.plan.query import Join
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.text import expression_text

KINDS = {
    Table: "a table",
    NamedWindow: "a named window",
    Trigger: "a trigger",
    Aggregation: "an aggregation",
}
"""Definitions that only the interpreter holds."""
IN_ORDER = "its rows wait for their order, so that all records come here first"


def how_it_runs(plan: Plan) -> str:
    """A section of `explain`: operators by stage, and the reasons of interpreted queries."""
    try:
        stages = Stages.of(plan)
    except PlacementError as why:
        return f"how it runs\n  interpreted as a whole: {why}\n{_as_program(plan)}"
    titles = {
        (KEYED, True): f"compiled, per {stages.by.key}",
        (KEYED, False): "compiled, on one clock",
        (BEHIND, False): "compiled, behind the interpreter",
    }
    lines = ["how it runs"]
    for place, title in titles.items():
        names = [
            op.name
            for op in plan.operators
            if (stages.operator(op), stages.by.is_keyed(op)) == place
        ]
        if names:
            lines.append(f"  {title}: {', '.join(names)}")
    lines += _lookups(plan, stages)
    if INTERPRETED in stages.used():
        lines.append("  interpreted:")
        lines += [f"    {name}: {why}" for name, why in stages.placement.reasons.items()]
        lines += [f"    {one.name}: {KINDS[type(one)]}" for one in _held(plan)]
        lines += [f"    {one.name}: {IN_ORDER}" for one in plan.sources if one.reorder is not None]
        lines.append(_as_program(plan))
    return "\n".join([*lines, *_of_lived(plan, stages)])


def _as_program(plan: Plan) -> str:
    """Whether nothing is interpreted in a replay or backtest, of records sorted or lived."""
    rules = Compiled(plan, jit=False, machine="always")
    whole = None if rules.whole is None else rules.whole.program
    if whole is not None:
        calls = dict.fromkeys(one.node.function for one in whole.hosted if not one.only_fails)
        python = f"; Python computes {', '.join(calls)}" if calls else ""
        return f"  a replay or backtest runs as one program, with nothing interpreted{python}"
    return f"  a replay or backtest does not run as one program: {rules.why_not_whole}"


def _of_lived(plan: Plan, stages: Stages) -> Iterator[str]:
    """What else is interpreted of records as they were lived, where each key has a clock."""
    try:
        lived = Stages.of(plan, lived=True).placement.reasons
    except PlacementError as problem:
        yield f"  interpreted as a whole where records were lived: {problem}"
        return
    if more := {name: why for name, why in lived.items() if name not in stages.placement.reasons}:
        yield "  interpreted, too, where records were lived:"
        yield from (f"    {name}: {why}" for name, why in more.items())


def _lookups(plan: Plan, stages: Stages) -> Iterator[str]:
    """By what compiled joins find the rows that their windows hold."""
    for query in plan.queries:
        if isinstance(query.input, Join) and stages.operator(query) != INTERPRETED:
            yield f"  join {query.name} {_way(query.input.on)}"


def _way(on: Expression | None) -> str:
    """How the condition of a join leads to the rows on which it is true."""
    conditions = [] if on is None else conjuncts(on)
    equal = equality(conditions)
    if equal is not None:
        keys = " and ".join(_side_text(key) for key in equal.keys if key is not None)
        return f"looks rows up by {keys}"
    bands = [_side_text(found.key) for slot in SIDES if (found := band(conditions, slot))]
    if bands:
        return f"looks for bands of {' and '.join(bands)}"
    return "looks at every row of its windows"


def _side_text(key: Expression) -> str:
    return expression_text(key, slots=("left", "right"))


def interpreted(plan: Plan) -> frozenset[str]:
    """The names of all that is not compiled."""
    return interpreted_queries(plan) | {one.name for one in _held(plan)}


def _held(plan: Plan) -> list[Table | NamedWindow | Trigger | Aggregation]:
    return [*plan.tables, *plan.windows, *plan.triggers, *plan.aggregations]
