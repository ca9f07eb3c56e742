"""Which clock each operator goes by: one per key, or one for all.

The key of a source is declared (`Stream.key`), and inherited by every stream that passes it on
unchanged. What works by the key (`group by`, `for each`, a partition by it) has a clock per key,
whatever else it does; all else has one clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from cep.plan.expressions import Column
from cep.plan.nodes import Event, Operator, Plan, ValueKey
from cep.plan.query import Query

Held = dict[str, frozenset[int]]
"""By stream: which of its attributes hold the key of the source row that a row follows from."""


def key_attributes(plan: Plan) -> Held:
    """Where each stream holds its key; streams without one are left out."""
    held = {
        stream.name: frozenset((stream.schema.position(stream.key),))
        for stream in plan.sources
        if stream.key is not None
    }
    for operator in plan.operators:
        for stream, positions in _passed_on(plan, operator, held):
            known = held.get(stream, positions) & positions
            held[stream] = known
    return {stream: positions for stream, positions in held.items() if positions}


def clocks(plan: Plan) -> dict[str, bool]:
    """By query and event: whether it has a clock per key."""
    held = key_attributes(plan)
    return {
        operator.name: _is_by_key(plan, operator, held)
        for operator in plan.operators
        if isinstance(operator, Query | Event)
    }


def _passed_on(plan: Plan, operator: Operator, held: Held) -> Iterator[tuple[str, frozenset[int]]]:
    """What an operator fills, and where it puts the key there."""
    match operator:
        case Query() if operator.target is not None:
            yield (
                operator.target,
                frozenset(
                    place
                    for place, (_, value) in enumerate(operator.projection)
                    if isinstance(value, Column) and _holds(operator, value, held)
                ),
            )
        case Event():
            by_key = operator.key is not None and _is_by_key(plan, operator, held)
            yield operator.name, frozenset((0,) if by_key else ())


def _holds(query: Query, column: Column, held: Held) -> bool:
    """Whether a column of a query is the key of the input whose row it is of."""
    if not 0 <= column.slot < len(query.inputs):
        return False
    source = query.inputs[column.slot]
    return column.position in held.get(source.stream, frozenset())


def _is_by_key(plan: Plan, operator: Query | Event, held: Held) -> bool:
    if isinstance(operator, Event):
        key = operator.key
        return key is not None and key.position in held.get(operator.source, frozenset())
    if any(_holds(operator, column, held) for column in operator.group_by):
        return True
    partition = next((one for one in plan.partitions if one.name == operator.partition), None)
    return partition is not None and any(
        isinstance(key, ValueKey)
        and isinstance(key.expression, Column)
        and key.expression.position in held.get(key.stream, frozenset())
        for key in partition.keys
    )
