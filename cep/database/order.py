"""In which order the rows that one event brings about reach the inputs of queries.

Rows go depth first, as in our engine: what a query makes goes to all readers before the next
reader of its input is told (`cep.interpreter.graph`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from cep.database.descent import Descent
from cep.plan.nodes import Event, Plan
from cep.plan.outlets import streams_read
from cep.plan.query import Query
from cep.plan.steps import Holder, Insert

VISITS_MAX = 100_000
"""Plans in which one event takes more ways than this are not followed to the end."""


@dataclass(slots=True)
class Arrivals:
    """`streams`: the place of each stream's rows (or simple event) among those of one event.

    `slots`: the same for the inputs of a query, by query and slot. `tangled`: queries whose inputs
    one event reaches in turns, so that there is no such order. `alone`: queries to whose inputs one
    event brings one row at most, in all.
    """

    streams: dict[str, int] = field(default_factory=dict)
    slots: dict[tuple[str, int], int] = field(default_factory=dict)
    tangled: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)


def arrivals(plan: Plan) -> Arrivals:
    """Follows one event of each source through the plan."""
    readers: defaultdict[str, list[Query | Event]] = defaultdict(list)
    for operator in plan.operators:
        if isinstance(operator, Query | Event):
            for name in dict.fromkeys(streams_read(operator)):
                readers[name].append(operator)
    made = {query.target for query in plan.queries}
    found = Arrivals()
    for stream in plan.streams:
        if stream.name not in made:
            way = _Way(readers, found)
            way.follow(stream.name)
            way.finish()
    descent = Descent(plan)
    found.tangled.update(query.name for query in plan.queries if descent.takes_turns(query))
    found.alone.update(query.name for query in plan.queries if descent.is_alone(query))
    return found


class _Way:
    """One event's way through the plan."""

    def __init__(self, readers: Mapping[str, list[Query | Event]], found: Arrivals) -> None:
        self._readers = readers
        self._found = found
        self._reached: defaultdict[str, list[int]] = defaultdict(list)
        self._visits = 0

    def follow(self, stream: str) -> None:
        """A row of a stream goes to its readers, one after the other."""
        self._visits += 1
        self._found.streams.setdefault(stream, len(self._found.streams))
        for reader in self._readers.get(stream, ()):
            made = reader.name if isinstance(reader, Event) else _filled(reader)
            for slot, name in enumerate(streams_read(reader)):
                if name == stream and self._visits < VISITS_MAX:
                    self._reached[reader.name].append(slot)
                    if made is not None:
                        self.follow(made)

    def finish(self) -> None:
        """Notes the order of the inputs of each query that was reached."""
        for name, slots in self._reached.items():
            runs = [slot for slot, _ in groupby(slots)]
            if len(runs) > len(set(runs)):
                self._found.tangled.add(name)
            for place, slot in enumerate(dict.fromkeys(slots)):
                known = self._found.slots.setdefault((name, slot), place)
                if known != place and len(runs) > 1:
                    self._found.slots[name, slot] = place


def _filled(query: Query) -> str | None:
    """The stream or window that a query fills; a table hands nothing on."""
    output = query.output
    return output.target if isinstance(output, Insert) and output.holder != Holder.TABLE else None
