"""Aggregates of rows that stand together, as functions that SQL has: for `group by`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.conversions import whole
from cep.database.dialects.base import Dialect, Element
from cep.database.errors import Refusal
from cep.database.exact import exact
from cep.database.expressions import Lowering
from cep.database.lower.exactly import held
from cep.database.tables import Tables
from cep.plan.expressions import Aggregate, Column
from cep.plan.query import Query
from cep.plan.types import Type

EXACT = ("sum", "avg", "stdDev")
REALS = (Type.FLOAT, Type.DOUBLE)


@dataclass(frozen=True, slots=True)
class Summary:
    """`terms` are taken over the rows of a group; `result` makes the aggregate of them."""

    terms: tuple[Element, ...]
    result: Callable[[Sequence[Element]], Element]


def summary(aggregate: Aggregate, lowering: Lowering, dialect: Dialect) -> Summary:
    """How an aggregate is taken; Refusal for one that is not known here."""
    function, argument = aggregate.function, aggregate.argument
    if function == "count" or argument is None:
        return Summary((sa.func.count(),), _first)
    value = lowering.value(argument)
    match function:
        case "min" | "max":
            return Summary((getattr(sa.func, function)(value),), _first)
        case "distinctCount":
            return Summary((_distinct(value),), _first)
        case "and":
            return Summary((_how_many(value.is_(True)), _how_many(value.is_(False))), _all)
        case "or":
            return Summary((_how_many(value.is_(True)),), lambda terms: terms[0] > 0)
        case _ if function not in EXACT:
            raise Refusal("notimpl", f"{function}()")
    taken = exact(dialect, function, argument.type)
    sums = (sa.cast(sa.func.sum(term), sa.BigInteger()) for term in taken.terms(value))
    return Summary(tuple(sums), taken.result)


def need_exact(query: Query, streams: Sequence[str], tables: Tables) -> None:
    """Has batches ended by name that have a number which cannot be summed up without error."""
    for one in query.aggregates:
        argument = one.argument
        if one.function not in EXACT or argument is None or argument.type not in REALS:
            continue
        if not isinstance(argument, Column):
            raise Refusal("notimpl", f"{one.function}() of an operation on reals, of combinations")
        held(streams[argument.slot], argument, tables)


def _first(terms: Sequence[Element]) -> Element:
    return terms[0]


def _all(terms: Sequence[Element]) -> Element:
    return sa.and_(terms[0] > 0, terms[1] == 0)


def _how_many(truth: Element) -> Element:
    return sa.cast(sa.func.sum(sa.case((truth, whole(1)), else_=whole(0))), sa.BigInteger())


def _distinct(value: Element) -> Element:
    """Null is a value."""
    is_null = sa.func.max(sa.case((value.is_(None), 1), else_=0))
    found: Element = sa.func.count(value.distinct()) + is_null
    return found
