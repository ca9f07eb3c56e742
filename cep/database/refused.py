"""What a plan may hold that no database runs, whatever its dialect: by name, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cep.database.errors import Refusal
from cep.database.order import Arrivals
from cep.database.windows import is_timed
from cep.plan.nodes import Operator, Origin, Plan
from cep.plan.query import Join, Query, StreamInput
from cep.plan.steps import Holder, Insert, Return, StreamFunction
from cep.plan.windows import kind_of

BINDING = "events are bound in a queue that repetition and opposites change one by one"


def refusal(
    operator: Operator, plan: Plan, reached: Arrivals, takes_late: bool = False
) -> Refusal | None:
    """Why an operator is refused before it is looked at closely, if it is."""
    if not isinstance(operator, Query):
        return Refusal("never", BINDING)
    if plan.compat == "siddhi":
        return Refusal("notimpl", "Siddhi's own ways, where they differ from ours")
    found = next(_reasons(operator, plan, reached), None)
    if found is None and takes_late:
        found = next(_late_reasons(operator), None)
    return None if found is None else Refusal("notimpl", found)


def _reasons(query: Query, plan: Plan, reached: Arrivals) -> Iterator[str]:
    yield from _of_output(query, plan)
    if query.partition is not None:
        yield "partitions"
    if query.rate is not None:
        yield "`output .. every`: rates"
    if query.cuts_chunks:
        yield "`order by`, `limit` and `offset`, which cut the rows that come together"
    for one in query.inputs:
        yield from _of_input(one, plan)
    summarises = bool(query.aggregates or query.group_by)
    source = query.input
    if summarises and isinstance(source, StreamInput) and _come_together(source.stream, plan):
        yield f"{source.stream}, whose rows come together, so that only the last is told of"
    if query.name in reached.tangled:
        yield "the rows that one event brings about reach its inputs in turns"


def _late_reasons(query: Query) -> Iterator[str]:
    """What is written for rows in the order of time alone."""
    for one in query.inputs:
        window = one.window
        if window is not None and is_timed(window) and kind_of(window).jumps:
            yield f"#window.{window.name} where rows may come late"


def _of_output(query: Query, plan: Plan) -> Iterator[str]:
    output = query.output
    if not isinstance(output, Insert | Return) or getattr(output, "holder", None) in (
        Holder.TABLE, Holder.WINDOW,
    ):  # fmt: skip
        yield "tables and named windows"
    elif output.events != "current":
        yield f"`{output.events} events`: rows that leave a window"
    writers = Counter(one.target for one in plan.queries)
    if query.target is not None and writers[query.target] > 1:
        yield f"{query.target}, which several queries write"
    if any(one.name == query.target and one.origin is Origin.SOURCE for one in plan.streams):
        yield f"{query.target}, which gets events from outside, too"


def _of_input(source: StreamInput, plan: Plan) -> Iterator[str]:
    if source.holder is not Holder.STREAM:
        yield "tables, named windows and aggregations"
        return
    for one in (*source.before, *source.after):
        if isinstance(one, StreamFunction):
            yield f"#{one.name}(): stream functions"
    if plan.stream(source.stream).origin is Origin.TRIGGER:
        yield f"{source.stream}, a trigger, which fires as time passes"
    if plan.stream(source.stream).origin is Origin.FAULT:
        yield f"{source.stream}, which gets what failed elsewhere"
    if plan.stream(source.stream).reorder is not None:
        yield f"{source.stream}, whose rows wait until they are in order"


def _come_together(stream: str, plan: Plan) -> bool:
    """Whether several rows of a stream may come at once, as those of a join in SiddhiQL."""
    maker = next((one for one in plan.queries if one.target == stream), None)
    if maker is None:
        return False
    if isinstance(maker.input, Join):
        return not maker.input.singly and (not maker.aggregates or bool(maker.group_by))
    if isinstance(maker.input, StreamInput) and not maker.aggregates:
        return _come_together(maker.input.stream, plan)
    return False
