"""Functions that choose one of their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cep.plan.expressions import Call
from cep.plan.functions.base import Evaluate, Make, Scalar, Setting
from cep.plan.functions.native import NULL, Kernel, Source, Written
from cep.plan.functions.parameters import last
from cep.plan.functions.sql import Element, Sql
from cep.plan.numbers import to_float
from cep.plan.signatures import NUMBER, TRUTH, VALUES, Parameter, Signature
from cep.plan.types import Type

SMALLEST_DOUBLE = 5e-324
"""Java's `Double.MIN_VALUE`: what Siddhi's `maximum` starts from."""


def _if_then_else(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    condition, yes, no = arguments
    return lambda row: yes(row) if condition(row) is True else no(row)


def _coalesce(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    def first(row: Any) -> Any:
        for argument in arguments:
            value = argument(row)
            if value is not None and value == value:
                return value
        return None

    return first


def _extreme(pick: Callable[..., Any]) -> Make:
    """`maximum` or `minimum`: nulls do not count."""

    def make(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
        def extreme(row: Any) -> Any:
            known = [value for argument in arguments if (value := argument(row)) is not None]
            return pick(known, default=None)

        found = _narrowed(extreme) if node.type is Type.FLOAT else extreme
        if pick is max and setting.compat and len(arguments) > 1:
            return _from_smallest(found, node.type)
        return found

    return make


def _narrowed(extreme: Evaluate) -> Evaluate:
    """The extreme as a 32-bit number, whatever was sent."""

    def narrowed(row: Any) -> float | None:
        found = extreme(row)
        return None if found is None else to_float(found)

    return narrowed


def _from_smallest(extreme: Evaluate, type_: Type) -> Evaluate:
    """The maximum as Siddhi has it: of negative numbers alone it is the smallest above zero."""
    least = 0 if type_ is not Type.DOUBLE else SMALLEST_DOUBLE

    def positive(row: Any) -> Any:
        found = extreme(row)
        return least if found is None or found < least else found

    return positive


def coalesce(left: int, right: int) -> int:
    return right if left == NULL else left


def coalesce_float(left: float, right: float) -> float:
    return right if math.isnan(left) else left


def larger(left: int, right: int) -> int:
    """The larger of two values; null loses (NULL is the smallest int64)."""
    return max(left, right)


def smaller(left: int, right: int) -> int:
    if left == NULL:
        return right
    if right == NULL:
        return left
    return min(left, right)


def larger_float(left: float, right: float) -> float:
    if math.isnan(left):
        return right
    if math.isnan(right):
        return left
    return max(left, right)


def smaller_float(left: float, right: float) -> float:
    if math.isnan(left):
        return right
    if math.isnan(right):
        return left
    return min(left, right)


def _folded(whole: Kernel, real: Kernel) -> Source:
    """A kernel of two values, for as many as there are."""

    def write(written: Written) -> str:
        name = (real if written.call.type.is_real else whole).__name__
        source = written.alike(0)
        for place in range(1, len(written.call.arguments)):
            source = f"{name}({source}, {written.alike(place)})"
        return source

    return Source(write, (whole, real))


def _sql_extreme(sign: int) -> Callable[[Sql, Call, Sequence[Element]], Element]:
    """The largest (`sign` 1) or smallest: nulls do not count."""

    def lower(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
        found = values[0]
        for value in values[1:]:
            better = value > found if sign > 0 else value < found
            found = sql.case((found.is_(None), value), (better, value), else_=found)
        return found

    return lower


def _sql_first(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    return sql.func.coalesce(*values, type_=sql.COLUMN_TYPES[node.type])


ALIKE = Parameter("x", (*VALUES, Type.OBJECT), alike=True)
NUMBERS = Parameter("x", NUMBER, alike=True, repeated=True)
ONE_OR_MORE = (("x",),)
"""The only form of a function whose one parameter `x` is repeated but cannot be left out."""

IF_THEN_ELSE = Scalar(
    Signature(
        "ifThenElse",
        (Parameter("condition", TRUTH), ALIKE, Parameter("otherwise", ALIKE.types, alike=True)),
        "the second when the first is true, else the third",
        last,
    ),
    _if_then_else,
    Source(lambda call: f"({call.alike(1)} if {call.truth(0)} else {call.alike(2)})"),
    lambda sql, node, values: sql.case((values[0].is_(True), values[1]), else_=values[2]),
)
COALESCE = Scalar(
    Signature(
        "coalesce",
        (Parameter("x", ALIKE.types, alike=True, repeated=True),),
        "the first that is not null",
        last,
        ONE_OR_MORE,
    ),
    _coalesce,
    _folded(coalesce, coalesce_float),
    _sql_first,
)
DEFAULT = Scalar(
    Signature(
        "default",
        (ALIKE, Parameter("instead", VALUES, "constant", alike=True)),
        "the first, or the constant where that is null",
        last,
    ),
    _coalesce,
    _folded(coalesce, coalesce_float),
    _sql_first,
)
MAXIMUM = Scalar(
    Signature("maximum", (NUMBERS,), "the largest; nulls do not count", last, ONE_OR_MORE),
    _extreme(max),
    _folded(larger, larger_float),
    _sql_extreme(1),
)
MINIMUM = Scalar(
    Signature("minimum", (NUMBERS,), "the smallest; nulls do not count", last, ONE_OR_MORE),
    _extreme(min),
    _folded(smaller, smaller_float),
    _sql_extreme(-1),
)
