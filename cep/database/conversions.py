"""Values as another type, in SQL; what databases do in other ways than Java is left to `calls`."""

from __future__ import annotations

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.plan.types import Type

_INT_SPAN, _INT_END = 2**32, 2**31
_ENDS = {Type.INT: (2.0**31, 2**31 - 1), Type.LONG: (2.0**63, 2**63 - 1)}


def wrapped_int(value: Element) -> Element:
    """Two's complement of 32 bits."""
    moved = (value + _INT_END).bitwise_and(_INT_SPAN - 1)
    return moved - _INT_END


def real(value: Element) -> Element:
    """A number as a double."""
    return value if isinstance(value.type, sa.Double) else sa.cast(value, sa.Double())


def whole(value: int) -> Element:
    """A whole number of 64 bits, however small."""
    return sa.cast(sa.literal(value, sa.BigInteger()), sa.BigInteger())


def converted(value: Element, source: Type, target: Type) -> Element:
    """A value of one type as another; Refusal where SQL has no exact way."""
    if source is target:
        return value
    match target:
        case Type.BOOL if source is Type.STRING:
            return sa.func.lower(value, type_=sa.Text()) == "true"
        case Type.BOOL:
            return value == 1
        case Type.STRING if source is Type.BOOL:
            return sa.case((value.is_(True), "true"), (value.is_(False), "false"))
        case Type.STRING if source.is_integer:
            return sa.cast(value, sa.Text())
        case Type.DOUBLE if source.is_numeric:
            return real(value)
        case Type.INT | Type.LONG if source is not Type.STRING:
            return _whole(value, source, target)
        case Type.DOUBLE if source is Type.BOOL:
            return real(_digit(value))
    raise Refusal("notimpl", f"convert of {source} to {target} is not written in SQL")


def _digit(truth: Element) -> Element:
    return sa.case((truth.is_(True), whole(1)), (truth.is_(False), whole(0)))


def _whole(value: Element, source: Type, target: Type) -> Element:
    if source is Type.BOOL:
        return _digit(value)
    if source.is_integer:
        # the last 32 bits first: the ends of a long leave no room to add anything
        return wrapped_int(value.bitwise_and(_INT_SPAN - 1)) if target is Type.INT else value
    end, last = _ENDS[target]
    number = real(value)
    inside = sa.case((sa.func.abs(number) < end, number))
    nearest = sa.cast(sa.func.trunc(inside, type_=sa.Double()), sa.BigInteger())
    first = whole(-(last + 1)) if target is Type.INT else sa.null()
    return sa.case((number >= end, whole(last)), (number <= -end, first), else_=nearest)
