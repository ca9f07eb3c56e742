"""Scalar functions in SQL, as every database has them.

Only functions whose value is the same everywhere, to the last bit. What is not here is called
inside the database where that is in our process (`calls`), or refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from cep.database.conversions import converted, real, whole
from cep.database.dialects.base import COLUMN_TYPES, Dialect, Element, Lower, LowerCall
from cep.database.errors import Gap
from cep.plan.expressions import Call
from cep.plan.types import Type

_LARGEST = 1.7976931348623157e308
_LONG_END = 2.0**63
_INT_END = 2.0**31


def _plain(lower: Lower) -> LowerCall:
    """A function that does not look at the types of its arguments."""
    return lambda node, values: lower(*values)


def _if_then_else(condition: Element, yes: Element, no: Element) -> Element:
    return sa.case((condition.is_(True), yes), else_=no)


def _extreme(sign: int) -> Lower:
    """The largest (`sign` 1) or smallest: nulls do not count."""

    def lower(*values: Element) -> Element:
        found = values[0]
        for value in values[1:]:
            better = value > found if sign > 0 else value < found
            found = sa.case((found.is_(None), value), (better, value), else_=found)
        return found

    return lower


def _chosen(sign: int) -> LowerCall:
    """The larger (`sign` 1) or smaller of two as their wider type; null when one is."""

    def lower(node: Call, values: Sequence[Element]) -> Element:
        left, right = (
            converted(value, argument.type, node.type)
            for value, argument in zip(values, node.arguments, strict=True)
        )
        better = right > left if sign > 0 else right < left
        missing = sa.or_(left.is_(None), right.is_(None))
        return sa.case((missing, sa.null()), (better, right), else_=left)

    return lower


def _signum(value: Element) -> Element:
    one, minus, zero = map(whole, (1, -1, 0))
    return sa.case((value > 0, one), (value < 0, minus), (value == 0, zero))


def _rounded(node: Call, values: Sequence[Element]) -> Element:
    """Halves upward; stops at the ends of the type."""
    value, type_ = values[0], node.arguments[0].type
    if type_.is_integer:
        return value
    end, last = (_INT_END, 2**31 - 1) if type_ is Type.FLOAT else (_LONG_END, 2**63 - 1)
    number = real(value)
    inside = sa.case((sa.func.abs(number) < end, number))
    floor: Element = sa.func.floor(inside, type_=sa.Double())
    more = sa.case((inside - floor >= 0.5, whole(1)), else_=whole(0))
    nearest = sa.cast(floor, sa.BigInteger()) + more
    first = whole(-(last + 1)) if type_ is Type.FLOAT else sa.null()
    return sa.case((number >= end, whole(last)), (number <= -end, first), else_=nearest)


def _root(value: Element) -> Element:
    number = real(value)
    # some databases fail on what is negative, even where it is not asked for
    return sa.func.sqrt(sa.case((number >= 0, number)), type_=sa.Double())


def _is_nan(value: Element) -> Element:
    return sa.case((value.is_not(None), sa.false()))


def _is_infinite(node: Call, values: Sequence[Element]) -> Element:
    if node.arguments[0].type.is_integer:
        return _is_nan(values[0])
    return sa.func.abs(real(values[0]), type_=sa.Double()) > _LARGEST


def _instance_of(type_: Type) -> LowerCall:
    """A value has its attribute's type; null has none."""

    def lower(node: Call, values: Sequence[Element]) -> Element:
        return values[0].is_not(None) if node.arguments[0].type is type_ else sa.false()

    return lower


def _concatenated(node: Call, values: Sequence[Element]) -> Element:
    texts = [
        sa.func.coalesce(converted(value, argument.type, Type.STRING), "")
        for value, argument in zip(values, node.arguments, strict=True)
    ]
    found: Element = sa.cast(texts[0], sa.Text())
    for text in texts[1:]:
        found = found.concat(text)
    return found


def _convert(node: Call, values: Sequence[Element]) -> Element:
    return converted(values[0], node.arguments[0].type, node.type)


def _as_double(name: str) -> LowerCall:
    return lambda node, values: getattr(sa.func, name)(real(values[0]), type_=sa.Double())


def _constant(value: float) -> LowerCall:
    return lambda node, values: sa.cast(sa.literal(value, sa.Double()), sa.Double())


def _first_known(node: Call, values: Sequence[Element]) -> Element:
    return sa.func.coalesce(*values, type_=COLUMN_TYPES[node.type])


FUNCTIONS: Mapping[str, LowerCall] = {
    "cast": lambda node, values: values[0],
    "convert": _convert,
    "ifThenElse": _plain(_if_then_else),
    "coalesce": _first_known,
    "default": _first_known,
    "maximum": _plain(_extreme(1)),
    "minimum": _plain(_extreme(-1)),
    "instanceOfString": _instance_of(Type.STRING),
    "instanceOfInteger": _instance_of(Type.INT),
    "instanceOfLong": _instance_of(Type.LONG),
    "instanceOfFloat": _instance_of(Type.FLOAT),
    "instanceOfDouble": _instance_of(Type.DOUBLE),
    "instanceOfBoolean": _instance_of(Type.BOOL),
    "math:abs": _as_double("abs"),
    "math:ceil": _as_double("ceil"),
    "math:floor": _as_double("floor"),
    "math:max": _chosen(1),
    "math:min": _chosen(-1),
    "math:round": _rounded,
    "math:sqrt": _plain(_root),
    "math:signum": _plain(_signum),
    "math:isNan": _plain(_is_nan),
    "math:isInfinite": _is_infinite,
    "math:pi": _constant(math.pi),
    "math:e": _constant(math.e),
    "str:concat": _concatenated,
}
"""By name, as in `cep.plan.functions`."""

NEVER: Mapping[str, str] = {
    "createSet": "sets are not values of a database",
    "sizeOfSet": "sets are not values of a database",
    "UUID": "it counts the calls of each record, as no database does",
    "currentTimeMillis": "rows have times, databases no clock of ours",
}
"""What no database does, with the reason."""


def gaps(dialect: Dialect) -> dict[str, tuple[Gap, str]]:
    """What of the scalar functions and operators a database does not have: the gap, and why."""
    found: dict[str, tuple[Gap, str]] = {name: ("never", why) for name, why in NEVER.items()}
    found |= {name: ("never", why) for name, why in dialect.never.items()}
    if not dialect.in_process:
        found["functions of the user"] = ("never", "a server does not call functions of ours")
        found["convert"] = ("notimpl", "to float; of texts to numbers; of doubles to texts")
    return found
