"""Which clock each operator goes by: whose records move it, and one per key or one for all.

What works by the key (`group by`, `for each`, a partition by it; see `cep.plan.keys`) has a clock
per key; all else has one clock. A clock follows the sources that the operator's rows come from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cep.plan.change import PartId, written_by
from cep.plan.keys import (
    NOWHERE,
    Held,
    divides_by_key,
    groups_by_key,
    is_key,
    key_attributes,
    looks_by_key,
)
from cep.plan.nodes import Event, Origin, Partition, Plan, Stream
from cep.plan.outlets import streams_filled
from cep.plan.query import Query, StreamInput
from cep.plan.steps import Holder
from cep.plan.windows import argument_of, clock_of

Sources = frozenset[str]
"""Names of source streams."""


@dataclass(frozen=True, slots=True)
class ClockOf:
    """The clock of an operator. `key_positions` are the attributes of what it reads that hold the
    key, where it has a clock per key; empty where it has one clock.
    """

    sources: Sources
    key_positions: frozenset[int] = frozenset()
    is_by_key: bool = False


def clocks(plan: Plan) -> dict[PartId, ClockOf]:
    """The clock of every part that may go by one, in the order in which they stand in the file;
    what `define` makes comes first.
    """
    held, followed = key_attributes(plan), followed_sources(plan)
    everything, feeding = _moving_all(plan), _feeding(plan)
    found: dict[PartId, ClockOf] = {
        ("trigger", one.name): ClockOf(everything) for one in plan.triggers
    }
    found |= {("window", one.name): ClockOf(followed[one.name]) for one in plan.windows}
    for aggregation in plan.aggregations:
        found["aggregation", aggregation.name] = ClockOf(followed[aggregation.input.stream])
    for engine in plan.engines:
        is_by_key = all(
            _keys_of_event(event, held) is not None for event in _events_of(plan, engine.name)
        )
        sources = _union(followed, feeding[engine.name])
        found["engine", engine.name] = ClockOf(sources, is_by_key=is_by_key)
    reached: dict[str, frozenset[str]] = {}
    for partition in plan.partitions:
        own = [query for query in plan.queries if query.partition == partition.name]
        reached[partition.name] = _reached_by_all(partition, own)
        sources = frozenset().union(*(_read_by(query, followed) for query in own))
        found["partition", partition.name] = ClockOf(
            sources, is_by_key=divides_by_key(partition, held)
        )
    for operator in plan.operators:
        match operator:
            case Query(partition=None):
                read = _read_by(operator, followed)
                found["query", operator.name] = _clock(read, _keys_of_query(operator, held))
            case Query(partition=str(name)):
                is_by_key = found["partition", name].is_by_key
                is_by_key &= not reached[name].intersection(_taken(operator))
                read = _read_by(operator, followed)
                found["query", operator.name] = _clock(read, NOWHERE if is_by_key else None)
            case Event():
                read = followed[operator.source]
                found["event", operator.name] = _clock(read, _keys_of_event(operator, held))
    return found


def _clock(sources: Sources, keys: frozenset[int] | None) -> ClockOf:
    return ClockOf(sources) if keys is None else ClockOf(sources, keys, is_by_key=True)


def followed_sources(plan: Plan) -> dict[str, Sources]:
    """By stream and named window: the sources that its rows come from."""
    names = [*(stream.name for stream in plan.streams), *(window.name for window in plan.windows)]
    found: dict[str, Sources] = {name: frozenset() for name in names}
    found |= {stream.name: _moving(stream) for stream in plan.sources}
    everything = _moving_all(plan)
    found |= {s.name: everything for s in plan.streams if s.origin is Origin.TRIGGER}
    feeding = _feeding(plan)
    before: dict[str, Sources] = {}
    while before != found:
        before = dict(found)
        for written, sources in _flow(plan, found, feeding):
            if written in found:
                found[written] |= sources
    return found


def _moving(source: Stream) -> Sources:
    """The sources whose records move the clocks of a source's rows."""
    return frozenset((source.name,)) if source.elsewhere is None else source.elsewhere.sources


def _moving_all(plan: Plan) -> Sources:
    """The sources that move any clock."""
    return frozenset().union(*map(_moving, plan.sources))


def _flow(
    plan: Plan, found: dict[str, Sources], feeding: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, Sources]]:
    """What is written, and the sources whose rows get there in one step; `feeding` is told by
    `_feeding`.
    """
    for stream in plan.streams:
        yield f"!{stream.name}", found[stream.name]
        if stream.reorder is not None and stream.reorder.late_stream is not None:
            yield stream.reorder.late_stream, found[stream.name]
    for operator in plan.operators:
        if isinstance(operator, Query):
            sources = _read_by(operator, found)
        elif isinstance(operator, Event):
            sources = found[operator.source]
        else:
            sources = _union(found, feeding[operator.engine])
        for kind, name in written_by(plan, operator):
            if kind in ("stream", "window"):
                yield name, sources


def _read_by(query: Query, found: dict[str, Sources]) -> Sources:
    """Where the rows come from that a query takes."""
    return _union(found, _taken(query))


def _union(found: dict[str, Sources], streams: Collection[str]) -> Sources:
    """The sources that any of these streams follows."""
    return frozenset().union(*(found[name] for name in streams))


def _taken(query: Query) -> frozenset[str]:
    """What a query takes rows from; tables and aggregations give none by themselves."""
    holders = (Holder.STREAM, Holder.WINDOW)
    return frozenset(one.stream for one in query.inputs if one.holder in holders)


def _reached_by_all(partition: Partition, own: Sequence[Query]) -> frozenset[str]:
    """What brings rows to every instance of a partition, whose queries are given: streams that it
    does not divide, and inner ones that follow from them.
    """
    inner = {
        name
        for query in own
        for name in streams_filled(query)
        if name.startswith(f"{partition.name}#")
    }
    divided = {key.stream for key in partition.keys}
    found = frozenset().union(*map(_taken, own)) - divided - inner
    while True:
        follow = (query for query in own if found.intersection(_taken(query)))
        more = {name for query in follow for name in streams_filled(query)} & inner
        if more <= found:
            return found
        found |= more


def _feeding(plan: Plan) -> dict[str, frozenset[str]]:
    """By engine: the streams that its events come from, also those that other engines hand it."""
    return {
        engine.name: frozenset(event.source for event in _events_of(plan, engine.name))
        for engine in plan.engines
    }


def _events_of(plan: Plan, engine: str) -> Iterator[Event]:
    """The simple events that get into an engine, also as parts of what other engines hand it."""
    yield from (event for event in plan.events if event.engine == engine)
    for above in plan.engine(engine).upstream:
        yield from _events_of(plan, above)


def _keys_of_event(event: Event, held: Held) -> frozenset[int] | None:
    """The attributes that hold the key by which an event is looked for; None: by no key."""
    return held[event.source] if looks_by_key(event, held) else None


def _keys_of_query(query: Query, held: Held) -> frozenset[int] | None:
    """The attributes that hold the key by which a query outside of partitions works; None: by no
    key.
    """
    if not isinstance(query.input, StreamInput):
        return None
    window, keys = query.input.window, held.get(query.input.stream, NOWHERE)
    clock = "none" if window is None else clock_of(window)
    if window is not None and clock == "key":
        return keys if is_key(argument_of(window, "key"), query, held) else None
    if query.cuts_chunks or clock == "one":
        return None
    return keys if groups_by_key(query, held) else None
