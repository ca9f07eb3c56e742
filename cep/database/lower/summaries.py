"""Aggregates of rows that stand together, as functions that SQL has: for `group by`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from cep.database import vocabulary
from cep.database.dialects.base import Dialect, Element
from cep.database.errors import Refusal
from cep.database.exact import exact
from cep.database.expressions import Lowering
from cep.database.lower.exactly import held
from cep.database.tables import Tables
from cep.plan.expressions import Aggregate, Column
from cep.plan.functions import aggregator_of
from cep.plan.functions.sql import ExactSums, Looked, Sums
from cep.plan.query import Query
from cep.plan.types import Type

REALS = (Type.FLOAT, Type.DOUBLE)


@dataclass(frozen=True, slots=True)
class Summary:
    """`terms` are taken over the rows of a group; `result` makes the aggregate of them."""

    terms: tuple[Element, ...]
    result: Callable[[Sequence[Element]], Element]


def summary(aggregate: Aggregate, lowering: Lowering, dialect: Dialect) -> Summary:
    """How an aggregate is taken; Refusal for one that is not known here."""
    definition, argument = aggregator_of(aggregate.function), aggregate.argument
    if definition.of_rows or argument is None:
        return Summary((sa.func.count(),), _first)
    value, how = lowering.value(argument), definition.sql
    match how:
        case Looked():
            return Summary((how.over(vocabulary, value, lambda found: found),), _first)
        case Sums():
            terms = (_summed(term(vocabulary, value)) for term in how.terms.values())
            return Summary(tuple(terms), partial(how.result, vocabulary))
        case ExactSums():
            taken = exact(dialect, how.share, argument.type)
            return Summary(tuple(map(_summed, taken.terms(value))), taken.result)
    raise Refusal("notimpl", f"{aggregate.function}()")


def need_exact(query: Query, streams: Sequence[str], tables: Tables) -> None:
    """Has batches ended by name that have a number which cannot be summed up without error."""
    for one in query.aggregates:
        argument = one.argument
        is_exact = isinstance(aggregator_of(one.function).sql, ExactSums)
        if not is_exact or argument is None or argument.type not in REALS:
            continue
        if not isinstance(argument, Column):
            raise Refusal("notimpl", f"{one.function}() of an operation on reals, of combinations")
        held(streams[argument.slot], argument, tables)


def _first(terms: Sequence[Element]) -> Element:
    return terms[0]


def _summed(term: Element) -> Element:
    return sa.cast(sa.func.sum(term), sa.BigInteger())
