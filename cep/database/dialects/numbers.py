"""Numbers as more than one database must be told to hold them."""

from __future__ import annotations

import operator
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Element, Lower

_LONG_END = 2**63


def wrapped_long(value: Element, wide: sa.types.TypeEngine[Any]) -> Element:
    """A whole number of a wider type in two's complement of 64 bits; null for -2 ** 63."""
    end, span = (sa.cast(sa.literal_column(str(one)), wide) for one in (_LONG_END, 2 * _LONG_END))
    # a remainder has the sign of what was divided: twice, and it is not negative
    moved = ((value + end) % span + span) % span
    return sa.cast(sa.func.nullif(moved, 0, type_=wide) - end, sa.BigInteger())


def guarded(op: str, wrap: Lower) -> Lower:
    """`wrap` only where an operation on longs may go beyond 64 bits: it takes twenty times as long.

    Operands that are operations themselves would be written four times over: they always wrap.
    """
    end = 2**31 if op == "*" else 2**62

    def lower(left: Element, right: Element) -> Element:
        if not (_is_simple(left) and _is_simple(right)):
            return wrap(left, right)
        inside = sa.and_(left.between(1 - end, end - 1), right.between(1 - end, end - 1))
        return sa.case((inside, _PLAIN[op](left, right)), else_=wrap(left, right))

    return lower


_PLAIN: dict[str, Lower] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _is_simple(value: Element) -> bool:
    """A column or a constant."""
    inner = value.clause if isinstance(value, sa.Cast) else value
    return isinstance(inner, sa.ColumnClause | sa.BindParameter)


def no_nan(value: Element) -> Element:
    """NaN is null."""
    nan = sa.cast(sa.literal_column("'NaN'"), value.type)
    return sa.func.nullif(value, nan, type_=value.type)
