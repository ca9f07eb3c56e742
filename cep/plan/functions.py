"""The core functions and aggregates: their names, arguments and result types."""

from __future__ import annotations

from cep.plan.types import NUMERIC, Type

AGGREGATES = ("avg", "sum", "count", "min", "max", "stdDev")
FUNCTIONS = ("coalesce", "ifThenElse", "maximum", "minimum", "eventTimestamp")

_BY_LOWER = {name.lower(): name for name in AGGREGATES + FUNCTIONS}

ARITIES = {
    "avg": (1, 1),
    "sum": (1, 1),
    "count": (0, 1),
    "min": (1, 1),
    "max": (1, 1),
    "stdDev": (1, 1),
    "coalesce": (1, 99),
    "ifThenElse": (3, 3),
    "maximum": (1, 99),
    "minimum": (1, 99),
    "eventTimestamp": (0, 0),
}
"""Least and largest number of arguments."""


def canonical(name: str) -> str | None:
    """The function's proper spelling; None for an unknown one. Case does not matter."""
    return _BY_LOWER.get(name.lower())


def aggregate_type(function: str, argument: Type | None) -> Type:
    """The result type of an aggregate over a numeric argument."""
    match function:
        case "count":
            return Type.LONG
        case "avg" | "stdDev":
            return Type.DOUBLE
        case "sum":
            return Type.LONG if argument in (Type.INT, Type.LONG) else Type.DOUBLE
        case _:
            return argument or Type.DOUBLE


def accepted(function: str, position: int, first: Type | None) -> tuple[Type, ...]:
    """Types that may stand at an argument, given the type all like ones must share."""
    if function == "ifThenElse" and position == 0:
        return (Type.BOOL,)
    if first is not None and function not in AGGREGATES:
        return (first,)
    if function in ("coalesce", "ifThenElse", "count"):
        return (*NUMERIC, Type.STRING, Type.BOOL)
    return NUMERIC
