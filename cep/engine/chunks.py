"""Where rows that go on together, as one chunk, may go on one by one.

A reader finishes a chunk before the next reader starts (meaning.md 4). What is compiled hands each
row to all readers before the next row comes. Nobody can tell as long as every reader looks at rows
one by one, and no two readers lead to the same place: a stream, an engine, a table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from cep.engine.linear import completes_many, may_follow
from cep.engine.windows import is_sliding
from cep.plan.expressions import InTable, walk
from cep.plan.nodes import Aggregation, Event, Plan
from cep.plan.outlets import outlets, streams_read
from cep.plan.query import Join, Match, Query, StreamInput
from cep.plan.separable import expressions
from cep.plan.steps import Delete, Holder, Insert, Update

Reader = Query | Event | Aggregation
ASKED = " is asked"
"""Behind the name of a table, which two may ask; only who fills it can be told from that."""


class Chunks:
    """What becomes of chunks in a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._readers: defaultdict[str, list[Reader]] = defaultdict(list)
        for aggregation in plan.aggregations:
            self._readers[aggregation.input.stream].append(aggregation)
        self._engines: defaultdict[str, list[str]] = defaultdict(list)
        for chained in plan.chained:
            self._engines[chained.complex].append(chained.engine)
        for operator in plan.operators:
            if isinstance(operator, Query | Event):
                for stream in dict.fromkeys(streams_read(operator)):
                    self._readers[stream].append(operator)
        self._known: dict[str, frozenset[str]] = {}

    def why_together(self, query: Query) -> str | None:
        """Why the rows that a query makes at once must go on together; None when they need not.

        Asked of queries that can make several at once.
        """
        target = query.output.target if isinstance(query.output, Insert) else None
        return None if target is None else next(self._reasons(target), None)

    def makes_many(self, query: Query) -> bool:
        """Whether one row that comes alone can make several rows that go on together."""
        if isinstance(query.input, Join):
            return not query.input.singly
        return isinstance(query.input, Match) and completes_many(query)

    def _reasons(self, target: str) -> Iterator[str]:
        for stream in self._passed_on(target):
            readers = self._readers[stream]
            for reader in readers:
                if isinstance(reader, Query) and not _looks_at_each(reader):
                    yield f"{reader.name} looks at what it puts out as a whole"
            led: dict[str, str] = {}
            for reader in readers:
                effects = self._effects(reader)
                for place in _met(led.keys(), effects):
                    first = led.get(place) or led[place + ASKED]
                    yield (
                        f"{first} and {reader.name} read {stream}, to which it puts many rows at "
                        f"once, and both lead to {place}"
                    )
                led |= dict.fromkeys(effects, reader.name)

    def _passed_on(self, stream: str) -> list[str]:
        """The stream, and those to which queries pass on what comes on it."""
        found = [stream]
        for one in found:
            for reader in self._readers[one]:
                for target in _targets(reader) if isinstance(reader, Query) else ():
                    if target not in found:
                        found.append(target)
        return found

    def meeting(self, engine: str, other: str) -> str | None:
        """Where what an engine finds and what another finds of that meet; None: nowhere.

        Engines hand over first in, first out, whichever they are; so what the other finds waits
        until the first one has handed over the rest.
        """
        beyond = self._reached(self._of_engine(other))
        direct = self._reached(self._of_engine(engine), without=f"engine {other}")
        is_led_to = f"engine {other}" in self._reached(self._of_engine(engine))
        return min(_met(beyond, direct), default=None) if is_led_to else None

    def _effects(self, reader: Reader) -> frozenset[str]:
        """Where what a reader gets leads to: streams, engines, tables, also those it asks."""
        if reader.name not in self._known:
            self._known[reader.name] = self._reached(self._next(reader))
        return self._known[reader.name]

    def _reached(
        self, steps: Iterable[tuple[str, str]], without: str | None = None
    ) -> frozenset[str]:
        """The places that these steps lead to; not those to which only one place leads."""
        found: set[str] = set()
        pending = [iter(steps)]
        while pending:
            for place, stream in pending.pop():
                if place == without:
                    break
                if place not in found:
                    found.add(place)
                    pending += map(self._next, self._readers[stream])
                    pending += map(self._of_engine, self._engines[stream])
        return frozenset(found)

    def _next(self, reader: Reader) -> Iterator[tuple[str, str]]:
        """Places to which a reader leads at once, each with the stream that is read behind it."""
        match reader:
            case Event():
                yield from self._of_engine(reader.engine)
            case Aggregation():
                yield reader.name, ""
            case Query():
                yield reader.name, ""
                yield from ((table, "") for table in _tables(reader))
                yield from ((target, target) for target in _targets(reader))

    def _of_engine(self, engine: str) -> Iterator[tuple[str, str]]:
        """An engine and what it makes; what is chained to it takes that as a reader does."""
        plan = self.plan
        yield f"engine {engine}", ""
        complexes = {found.name for found in plan.complexes if found.engine == engine}
        made = [event.name for event in plan.events if event.engine == engine]
        yield from ((stream, stream) for stream in (*made, *complexes))


def makes_one(query: Query) -> bool:
    """Whether a row that comes alone makes chunks of one row."""
    if isinstance(query.input, Join) and query.input.singly:
        return True
    if not isinstance(query.input, StreamInput) or query.rate is not None:
        return False
    window = query.input.window
    passes = window is None or is_sliding(window)
    return passes and isinstance(query.output, Insert) and query.output.events == "current"


def _looks_at_each(query: Query) -> bool:
    """Whether rows of a chunk are to a query what they would be one by one."""
    cut = query.rate is not None or query.cuts_chunks
    kinds = getattr(query.output, "events", "current")
    return may_follow(query) and not cut and kinds == "current"


def _targets(query: Query) -> list[str]:
    return [one.name for one in outlets(query)]


def _tables(query: Query) -> Iterator[str]:
    """The tables that a query writes, and those that it asks."""
    output = query.output
    if isinstance(output, Delete | Update):
        yield output.target
    for one in query.inputs:
        if one.holder is not Holder.STREAM:
            yield one.stream + ASKED
    for whole in expressions(query):
        yield from (node.table + ASKED for node in walk(whole) if isinstance(node, InTable))


def _met(some: Set[str], others: Set[str]) -> list[str]:
    """Places that both lead to, unless both only ask there."""
    places = {place for place in some | others if not place.endswith(ASKED)}
    return sorted(
        place
        for place in places
        if (place in some and (place in others or place + ASKED in others))
        or (place in others and place + ASKED in some)
    )
