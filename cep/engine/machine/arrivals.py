"""When rows came that leave a window: a word that they carry, where somebody asks for it.

The time of an expired row is when it leaves, and `eventTimestamp()` is when it came; in Siddhi it
is when it leaves, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cep.engine.machine.expressions import Names, Unsupported
from cep.engine.machine.kernels.words import TIME
from cep.plan.expressions import EventTime, Expression, walk
from cep.plan.query import Correlation, Join, Match, Query, StreamInput
from cep.plan.steps import Holder

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting

EVERY_KIND = 3
"""Current rows and expired ones, as bits."""


def keeps_arrival(query: Query, *, compat: bool) -> bool:
    """Whether the rows of a query carry when they came. Unsupported: they can't, and are asked."""
    if compat or not _asks(query):
        return False
    source = query.input
    if isinstance(source, StreamInput) and source.holder is not Holder.WINDOW:
        return source.window is not None
    raise Unsupported("`eventTimestamp()` of rows that leave a join or a named window")


def _asks(query: Query) -> bool:
    """Whether rows that leave are asked when they came."""
    asked = _of_what_leaves(query)
    return any(isinstance(node, EventTime) for value in asked for node in walk(value))


def _of_what_leaves(query: Query) -> Iterator[Expression]:
    """What is evaluated on rows that leave what the query reads."""
    source = query.input
    if isinstance(source, Match):
        return
    for aggregate in query.aggregates:
        yield from aggregate.arguments
    for one in query.inputs:
        yield from one.window_filters
    is_put_out = query.output.events != "current"
    if (
        isinstance(source, Join | Correlation)
        and source.on is not None
        and (query.aggregates or is_put_out)
    ):
        yield source.on
    if is_put_out:
        yield from (value for _, value in query.projection)
        yield from [] if query.having is None else [query.having]


def with_arrival(names: Names, word: int) -> Names:
    """The names of rows that have the time at which they came in a word."""
    return replace(names, times=dict.fromkeys(names.times, word))


def as_they_come(selecting: Selecting) -> Selecting:
    """The same, where the word has not been written yet."""
    return replace(selecting, names=with_arrival(selecting.names, TIME))


def stamp(place: Place, selecting: Selecting, following: int) -> int:
    """The node that writes the time of each row into its word."""
    builder, width = place.builder, selecting.width
    code = builder.value(builder.writer(as_they_come(selecting).names).value(EventTime(None)))
    return builder.project(following, width, EVERY_KIND, selecting.words - 1, [code], resets=True)
