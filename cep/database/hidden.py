"""Filters in front of windows as streams of their own, so that windows hold what they let pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha1

from cep.database.invisible_gaps import with_gaps_filtered
from cep.database.windows import is_written
from cep.plan.expressions import Column
from cep.plan.nodes import Operator, Origin, Plan, Stream
from cep.plan.query import Correlation, Input, Join, Match, Matching, Query, StreamInput
from cep.plan.steps import Filter, Insert, Window, selecting
from cep.plan.windows import kind_of

HIDDEN = "#"
"""What the names of such streams begin with."""


@dataclass(slots=True)
class _Hidden:
    """The filters made so far, by name: equal ones are one."""

    queries: dict[str, Query]

    def read(self, source: StreamInput) -> StreamInput:
        """The input without the filters in front of its window."""
        if not source.before:
            return source
        return self._stream(replace(source, window=None, after=()), repr(source.before), source)

    def whole(self, source: StreamInput) -> StreamInput:
        """The input as a stream: what its window never holds is left out."""
        if source.window is None:
            return self.read(source)
        bare = replace(source, window=None, after=())
        return self._stream(source, repr((source.window, source.after)), bare)

    def _stream(self, passing: StreamInput, text: str, reader: StreamInput) -> StreamInput:
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()[:10]
        name = f"{HIDDEN}{passing.stream}.{digest}"
        if name not in self.queries:
            self.queries[name] = _passing(name, passing)
        return replace(reader, stream=name, before=())


def with_hidden(plan: Plan) -> Plan:
    """The plan with hidden streams; each stands before the first query that reads it."""
    hidden = _Hidden({})
    operators: list[Operator] = []
    for operator in plan.operators:
        known = len(hidden.queries)
        if isinstance(operator, Query):
            changed = _changed(operator, hidden)
            operators += list(hidden.queries.values())[known:]
            operators.append(changed)
        else:
            operators.append(operator)
    streams = [Stream(name, one.schema, Origin.QUERY) for name, one in hidden.queries.items()]
    return replace(plan, streams=(*plan.streams, *streams), operators=tuple(operators))


def _passing(name: str, source: StreamInput) -> Query:
    """Everything of the rows that pass."""
    columns = tuple(
        (one.name, Column(place, one.name, one.type))
        for place, one in enumerate(source.schema.attributes)
    )
    return Query(name, source, selecting(columns), Insert(name, "current"))


def _changed(query: Query, hidden: _Hidden) -> Query:
    source = query.input
    if isinstance(source, StreamInput) and not query.aggregates and not query.group_by:
        return replace(query, input=_of_new_rows(source, hidden.read))
    if isinstance(source, Matching):
        source = with_gaps_filtered(source)
        rows = hidden.whole(_of_new_rows(source.input, hidden.read))
        return replace(query, input=replace(source, input=rows))
    return replace(query, input=_each(source, hidden.read))


def _of_new_rows(source: StreamInput, read: Callable[[StreamInput], StreamInput]) -> StreamInput:
    """A query that looks at new rows alone: all its conditions are one filter."""
    if source.window is not None and _every_row_enters(source.window):
        behind = tuple(one for one in source.after if isinstance(one, Filter))
        return replace(source, before=(*source.before, *behind), window=None, after=())
    return source if source.window is None else read(source)


def _each(source: Input, read: Callable[[StreamInput], StreamInput]) -> Input:
    match source:
        case StreamInput():
            return read(source)
        case Join(left, right):
            return replace(source, left=read(left), right=read(right))
        case Correlation(inputs):
            return replace(source, inputs=tuple(map(read, inputs)))
        case Match() | Matching():
            return source


def _every_row_enters(window: Window) -> bool:
    """Whether a query that looks at new rows alone needs no window.

    With a jump above its size it never has those that come and go within a jump.
    """
    if not is_written(window):
        return False
    return not kind_of(window).jumps or window.constant(0) >= window.constant(1)
