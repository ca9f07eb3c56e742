"""Where rows hold their key: declared for a source, inherited by what passes it on unchanged.

What works by the key finds it there: `group by`, `for each`, a partition by it. It does not depend
on what queries group by, so that no query changes how another runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from cep.plan.expressions import Column, Expression
from cep.plan.nodes import (
    Complex,
    Event,
    Operator,
    Origin,
    Partition,
    Plan,
    Stream,
    ValueKey,
    leaves,
)
from cep.plan.outlets import outlets
from cep.plan.query import Query
from cep.plan.steps import Delete, Update

Positions = frozenset[int]
Held = Mapping[str, Positions]
"""By stream: which of its attributes hold the key of the source row that a row follows from."""
NOWHERE: Positions = frozenset()
IN_EVENTS: Positions = frozenset((0,))
"""Where events and complex events that are looked for by the key hold it."""


def declared_keys(plan: Plan) -> dict[str, str]:
    """By source: the attribute that is its key."""
    return {stream.name: stream.key for stream in plan.sources if stream.key is not None}


def has_keys(plan: Plan) -> bool:
    """Whether there can be several keys; else all events have the same one, which has no name."""
    return bool(declared_keys(plan) or plan.keys) or any(one.key is not None for one in plan.events)


def key_position(source: Stream) -> int | None:
    """Which attribute of a source is its key; None where it has none."""
    return None if source.key is None else source.schema.position(source.key)


def declared_at(source: Stream) -> Positions:
    """Where the rows of a source hold their key."""
    if source.elsewhere is not None:
        return source.elsewhere.key_positions
    position = key_position(source)
    return NOWHERE if position is None else frozenset((position,))


def key_attributes(plan: Plan) -> dict[str, Positions]:
    """Where each stream holds its key; streams without one are left out.

    What several fill holds it where all of them put it.
    """
    held = {stream.name: declared_at(stream) for stream in plan.sources if stream.key is not None}
    for operator in plan.operators:
        for stream, positions in _put(operator, held):
            held[stream] = held.get(stream, positions) & positions
    return {stream: positions for stream, positions in held.items() if positions}


def fed_from_outside(plan: Plan, names: Collection[str]) -> tuple[Stream, ...]:
    """The streams of a plan, those named as sources, under the key that they inherit."""
    held = key_attributes(plan)

    def source(stream: Stream) -> Stream:
        positions = held.get(stream.name)
        key = stream.schema.names[min(positions)] if positions else stream.key
        return replace(stream, origin=Origin.SOURCE, key=key)

    return tuple(source(one) if one.name in names else one for one in plan.streams)


def _put(operator: Operator, held: Held) -> list[tuple[str, Positions]]:
    """Where an operator puts the key of the rows that it reads: by what it fills."""
    match operator:
        case Query():
            filled = put_by_query(operator, held)
            if isinstance(operator.output, Delete | Update):
                filled.append((operator.output.target, passed_on(operator, held)))
            return filled
        case Event():
            return [(operator.name, IN_EVENTS if looks_by_key(operator, held) else NOWHERE)]
        case Complex():
            return [(operator.name, IN_EVENTS if binds_by_key(operator, held) else NOWHERE)]


def put_by_query(query: Query, held: Held) -> list[tuple[str, Positions]]:
    """Where a query puts the key, by what it inserts into. A partial match that runs out of time
    may lack the row that has it.
    """
    kept = passed_on(query, held)
    return [(one.name, NOWHERE if one.is_expired else kept) for one in outlets(query)]


def passed_on(query: Query, held: Held) -> Positions:
    """The columns of what a query selects that are the key of a row it reads, and nothing else."""
    return frozenset(
        place for place, (_, value) in enumerate(query.projection) if is_key(value, query, held)
    )


def is_key(value: Expression, query: Query, held: Held) -> bool:
    """Whether a value is the key of the input whose row it is of."""
    if not isinstance(value, Column) or not 0 <= value.slot < len(query.inputs):
        return False
    return value.position in held.get(query.inputs[value.slot].stream, NOWHERE)


def groups_by_key(query: Query, held: Held) -> bool:
    """Whether each group of a query is of one key."""
    return any(is_key(column, query, held) for column in query.group_by)


def divides_by_key(partition: Partition, held: Held) -> bool:
    """Whether a partition is by the key of all its streams."""
    return all(
        isinstance(key, ValueKey)
        and isinstance(key.expression, Column)
        and key.expression.position in held.get(key.stream, NOWHERE)
        for key in partition.keys
    )


def looks_by_key(event: Event, held: Held) -> bool:
    """Whether an event is looked for by the key of the rows it reads."""
    return event.key is not None and event.key.position in held.get(event.source, NOWHERE)


def binds_by_key(found: Complex, held: Held) -> bool:
    """Whether a complex event is of events of one key, which it has."""
    return found.key is not None and all(
        ref.key is None and held.get(ref.event) for ref in leaves(found.pattern)
    )
