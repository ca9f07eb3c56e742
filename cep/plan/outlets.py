"""Where operators read rows and put them: what is selected, and partial matches out of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cep.plan.nodes import Event, Operator
from cep.plan.query import Match, Query
from cep.plan.steps import Holder, Insert


@dataclass(frozen=True, slots=True)
class Outlet:
    """A stream, table or named window gets what is selected, or (`is_expired`) what is left of
    partial matches that run out of time.
    """

    name: str
    holder: Holder
    is_expired: bool = False


def outlets(query: Query) -> tuple[Outlet, ...]:
    """Everything that a query inserts into."""
    return tuple(_outlets(query))


def streams_filled(query: Query) -> tuple[str, ...]:
    """The streams that a query puts rows on."""
    return tuple(one.name for one in outlets(query) if one.holder is Holder.STREAM)


def _outlets(query: Query) -> Iterator[Outlet]:
    if isinstance(query.output, Insert):
        yield Outlet(query.output.target, query.output.holder)
    if isinstance(query.input, Match) and query.input.expired is not None:
        yield Outlet(query.input.expired.stream, Holder.STREAM, is_expired=True)


def streams_written(operator: Operator) -> tuple[str, ...]:
    """The streams that an operator puts rows on."""
    return streams_filled(operator) if isinstance(operator, Query) else (operator.name,)


def streams_read(operator: Operator) -> tuple[str, ...]:
    """The streams that an operator reads rows from, by slot."""
    match operator:
        case Query():
            return tuple(one.stream for one in operator.inputs)
        case Event():
            return (operator.source,)
        case _:
            return ()
