"""When rows came that leave a window: a word that they carry, where somebody asks for it.

The time of an expired row is when it leaves, and `eventTimestamp()` is when it came; in Siddhi it
is when it leaves, too. Rows of named windows always carry it, whoever reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cep.engine.machine.dispatch import END, ROW
from cep.engine.machine.expressions import Names
from cep.engine.machine.kernels.words import TIME
from cep.plan.expressions import EventTime, Expression, walk
from cep.plan.query import Match, Matching, Query, StreamInput
from cep.plan.steps import Filter, Handler, Holder, StreamFunction

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting

EVERY_KIND = 3
"""Current rows and expired ones, as bits."""


def keeps_arrival(query: Query) -> bool:
    """Whether rows of a query carry when they came, as somebody asks it of those that leave."""
    source = query.input
    if isinstance(source, Match | Matching):
        return False
    if isinstance(source, StreamInput) and (
        not (source.window is not None or source.holder is Holder.WINDOW) or _makes_bars(source)
    ):
        return False
    asked = _of_what_leaves(query)
    return any(isinstance(node, EventTime) for value in asked for node in walk(value))


def _makes_bars(source: StreamInput) -> bool:
    """Whether rows of a named window become bars, none of which leaves."""
    functions = (one for one in source.before if isinstance(one, StreamFunction))
    return source.window is None and any(one.name.startswith("bars:") for one in functions)


def _of_what_leaves(query: Query) -> Iterator[Expression]:
    """What is evaluated on rows that leave what the query reads."""
    for aggregate in query.aggregates:
        yield from aggregate.arguments
    for one in query.inputs:
        yield from _of_handlers(one.after)
        if one.holder is Holder.WINDOW:
            yield from _of_handlers(one.before)
    is_put_out = query.output.events != "current"
    on = getattr(query.input, "on", None)
    if on is not None and (query.aggregates or is_put_out):
        yield on
    if is_put_out:
        yield from (value for _, value in query.projection)
        yield from [] if query.having is None else [query.having]


def _of_handlers(handlers: Sequence[Handler]) -> Iterator[Expression]:
    for one in handlers:
        yield from (one.condition,) if isinstance(one, Filter) else one.arguments


def with_arrival(names: Names, word: int) -> Names:
    """The names of rows that have the time at which they came in a word."""
    return replace(names, times=dict.fromkeys(names.times, word))


def as_they_come(selecting: Selecting, word: int = TIME) -> Selecting:
    """The same, where it stands in another word: it has not been written yet to its own."""
    return replace(selecting, names=with_arrival(selecting.names, word))


def stamp(place: Place, selecting: Selecting, following: int, word: int = TIME) -> int:
    """The node that writes the time at which each row came, from a word, into its own."""
    builder, width = place.builder, selecting.width
    code = builder.value([ROW, word, END])
    return builder.project(following, width, EVERY_KIND, selecting.words - 1, [code], resets=True)
