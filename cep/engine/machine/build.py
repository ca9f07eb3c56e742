"""A whole plan as a program, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection

from cep.engine.layout import StreamIds
from cep.engine.machine.partitions import PartitionNode
from cep.engine.machine.program import Builder, Program, Unsupported
from cep.engine.machine.queries import Place, lower_query
from cep.engine.machine.tables import lower_table
from cep.plan.keys import key_position
from cep.plan.nodes import Origin, Plan
from cep.plan.query import Query


def build(
    plan: Plan,
    ids: StreamIds,
    widths: tuple[int, int],
    outputs: Collection[str],
    code_of: Callable[[str], int],
) -> Program:
    """The program of a plan. Unsupported when there is something that it cannot do yet."""
    _need_support(plan)
    builder = Builder(plan, widths, code_of)
    for stream in plan.streams:
        is_out = stream.name in outputs and stream.origin is not Origin.SOURCE
        key = key_position(stream) if stream.origin is Origin.SOURCE else None
        builder.stream(stream.name, ids.of(stream.name), stream.schema, key, is_out=is_out)
    for table in plan.tables:
        lower_table(builder, table)
    partitions = {one.name: PartitionNode(builder, one) for one in plan.partitions}
    for operator in plan.operators:
        if not isinstance(operator, Query):
            raise Unsupported(f"a {type(operator).__name__}")
        partition = None if operator.partition is None else partitions[operator.partition]
        place = Place(builder, builder.ranks["query", operator.name], partition)
        try:
            lower_query(place, operator)
        except Unsupported as why:
            raise Unsupported(f"{operator.name}: {why}") from None
    for partition in partitions.values():
        partition.finish()
    return builder.finish({ids.of(source.name): source.name for source in plan.sources})


def _need_support(plan: Plan) -> None:
    """Unsupported for what concerns the plan as a whole."""
    if plan.compat:
        raise Unsupported("the defects of the reference")
    for what, held in (
        ("a named window", plan.windows),
        ("a trigger", plan.triggers),
        ("an aggregation", plan.aggregations),
        ("an engine", plan.engines),
    ):
        if held:
            raise Unsupported(what)
    if plan.playback is not None:
        raise Unsupported("`@app:playback`")
    if any(stream.reorder is not None for stream in plan.streams):
        raise Unsupported("`@reorder`")
    if any(stream.origin is Origin.FAULT for stream in plan.streams):
        raise Unsupported("a fault stream")
