"""A whole plan as a program, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection

from cep.engine.layout import StreamIds
from cep.engine.machine.aggregations import lower_aggregation
from cep.engine.machine.events import EventNodes
from cep.engine.machine.expressions import Unsupported
from cep.engine.machine.homes import NOTHING, Before
from cep.engine.machine.named_windows import lower_named_window
from cep.engine.machine.partitions import PartitionNode
from cep.engine.machine.program import Builder, Program
from cep.engine.machine.queries import Place, lower_query
from cep.engine.machine.tables import lower_table
from cep.engine.machine.triggers import lower_trigger
from cep.plan.change import operator_part
from cep.plan.keys import key_position
from cep.plan.nodes import Event, Origin, Plan
from cep.plan.query import Query


def build(
    plan: Plan,
    ids: StreamIds,
    widths: tuple[int, int],
    outputs: Collection[str],
    code_of: Callable[[str], int],
    *,
    lived: bool = False,
    before: Before = NOTHING,
    told: Collection[str] = (),
) -> Program:
    """The program of a plan, whose records are `lived` ones or stand in order of time. It goes on
    from what was `before`; Python is `told` of the chunks of some queries. Unsupported when there
    is something that it cannot do yet; UnlikeError for parts that cannot go on.
    """
    _need_support(plan)
    builder = Builder(plan, widths, code_of, lived=lived, before=before, told=told)
    for stream in plan.streams:
        is_out = stream.name in outputs
        key = key_position(stream) if stream.origin is Origin.SOURCE else None
        builder.stream(stream.name, ids.of(stream.name), stream.schema, key, is_out=is_out)
    for table in plan.tables:
        with builder.writing(("table", table.name)):
            lower_table(builder, table)
    for window in plan.windows:
        with builder.writing(("window", window.name)):
            lower_named_window(builder, window)
    for aggregation in plan.aggregations:
        with builder.writing(("aggregation", aggregation.name)):
            lower_aggregation(builder, aggregation)
    partitions = {one.name: PartitionNode(builder, one) for one in plan.partitions}
    events = EventNodes(builder)
    for operator in plan.operators:
        if not isinstance(operator, Event | Query):
            continue  # of complex events engines know
        try:
            part = operator_part(operator)
            with builder.writing(part):
                if isinstance(operator, Event):
                    events.watch(operator)
                    continue
                partition = None if operator.partition is None else partitions[operator.partition]
                lower_query(Place(builder, builder.ranks[part], partition, part), operator)
        except Unsupported as why:
            raise Unsupported(f"{operator.name}: {why}") from None
    events.connect()
    for partition in partitions.values():
        partition.finish()
    for trigger in plan.triggers:
        with builder.writing(("trigger", trigger.name)):
            lower_trigger(builder, trigger)
    late = (s.reorder.late_stream for s in plan.streams if s.reorder is not None)
    return builder.finish(
        {ids.of(source.name): source.name for source in plan.sources},
        {ids.of(name): name for name in late if name is not None},
    )


def _need_support(plan: Plan) -> None:
    """Unsupported for what concerns the plan as a whole."""
    if plan.compat:
        raise Unsupported("the defects of the reference")
    if plan.playback is not None and plan.playback.idle_ms is not None:
        raise Unsupported("idle time of `@app:playback`")
    waits = any(stream.reorder is not None for stream in plan.streams)
    if waits and any(stream.elsewhere is not None for stream in plan.streams):
        raise Unsupported("`@reorder` beside rows that a database has made")
    names = {stream.name for stream in plan.streams}
    for stream in plan.streams:
        late = None if stream.reorder is None else stream.reorder.late_stream
        if late is not None and late not in names:
            raise Unsupported(f"late records go to {late}, which is no stream")
    if any(stream.origin is Origin.FAULT for stream in plan.streams):
        raise Unsupported("a fault stream")
