"""What the names that a query gives with `UUID()` follow from, beside the record.

It is what the query reads and fills, not its place in the file, so that nothing added elsewhere
changes them. A stream that a query fills with another as it is counts as that other.
"""

from __future__ import annotations

from collections import Counter

from cep.plan.expressions import Column
from cep.plan.nodes import Plan
from cep.plan.outlets import streams_filled
from cep.plan.query import Query, StreamInput
from cep.plan.steps import Insert, Project


def uuid_names(plan: Plan) -> dict[str, str]:
    """By name of query: the text that its names follow from."""
    same = _same(plan)
    found = {}
    for query in plan.queries:
        read = [same.get(one.stream, one.stream).rpartition("#")[2] for one in query.inputs]
        found[query.name] = f"{', '.join(read)} -> {query.target or query.name}"
    return found


def _same(plan: Plan) -> dict[str, str]:
    """Streams that nothing but one query fills, with another stream as it is: that other."""
    filled = Counter(name for query in plan.queries for name in streams_filled(query))
    given = {stream.name for stream in plan.sources} | {one.name for one in plan.operators}
    found: dict[str, str] = {}
    for query in plan.queries:
        target = query.target
        if target is None or filled[target] > 1 or target in given:
            continue
        if _passes_on(query):
            (read,) = query.inputs
            found[target] = found.get(read.stream, read.stream)
    return found


def _passes_on(query: Query) -> bool:
    """Whether a query gives out each row that it reads, and as it was."""
    read = query.input
    if not isinstance(read, StreamInput) or read.before or read.window or read.after:
        return False
    is_plain = len(query.steps) == 1 and isinstance(query.steps[0], Project)
    has_all = [value for _, value in query.projection] == [
        Column(place, one.name, one.type) for place, one in enumerate(read.schema.attributes)
    ]
    output = query.output
    to_stream = isinstance(output, Insert) and output.events == "current"
    return query.partition is None and is_plain and has_all and to_stream
