"""Functions of numbers that give the same bits everywhere: in the namespace `math`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cep.plan.expressions import Call, Expression
from cep.plan.functions.base import Evaluate, Make, Scalar, Setting, strict
from cep.plan.functions.convert import converter
from cep.plan.functions.ieee import ieee
from cep.plan.functions.native import NULL, Kernel, Source, Written
from cep.plan.functions.parameters import X
from cep.plan.functions.scalars.conversions import ENDS, float_to_whole
from cep.plan.functions.sql import Element, Sql
from cep.plan.numbers import INT_END, LONG_END
from cep.plan.signatures import NUMBER, Parameter, Signature
from cep.plan.types import Type, widest

LARGEST = 1.7976931348623157e308


def _rounded(value: float, end: int) -> int:
    """Halves upward, as Java has it; stops at the ends of the type."""
    if math.isnan(value):
        return 0
    if abs(value) >= end:
        return -end if value < 0 else end - 1
    floor = math.floor(value)
    return floor + (value - floor >= 0.5)


def _rounding(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    """`math:round`: an int of a float, else a long."""
    argument = arguments[0]
    end = INT_END if node.arguments[0].type is Type.FLOAT else LONG_END

    def rounded(row: Any) -> int | None:
        value = argument(row)
        return None if value is None else _rounded(value, end)

    return rounded


def _chosen(pick: Callable[[Any, Any], Any]) -> Make:
    """`math:max` or `math:min`: one of two numbers, as their wider type; null when one is."""

    def make(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
        left, right = arguments
        as_left, as_right = (converter(one.type, node.type) for one in node.arguments)

        def choose(row: Any) -> Any:
            a, b = left(row), right(row)
            return None if a is None or b is None else pick(as_left(a), as_right(b))

        return choose

    return make


def rounded(value: float, end: float) -> int:
    """The nearest whole number, halves upward."""
    if math.isnan(value) or abs(value) >= end:
        return float_to_whole(value, end)
    floor = math.floor(value)
    return int(floor) + int(value - floor >= 0.5)


def absolute(value: float) -> float:
    return abs(value)


def ceiling(value: float) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return math.copysign(float(math.ceil(value)), value)


def floored(value: float) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return math.copysign(float(math.floor(value)), value)


def root(value: float) -> float:
    """The square root; null of a negative number."""
    if math.isnan(value) or value < 0.0:
        return math.nan
    return math.sqrt(value)


def sign_of(value: float) -> int:
    if math.isnan(value):
        return NULL
    return int(value > 0.0) - int(value < 0.0)


def is_infinite(value: float) -> int:
    if math.isnan(value):
        return NULL
    return int(math.isinf(value))


def is_nan(value: float) -> int:
    """No number that is not null is NaN."""
    return NULL if math.isnan(value) else 0


def greater_of(left: int, right: int) -> int:
    """The larger; null when one is."""
    return NULL if left == NULL or right == NULL else max(left, right)


def lesser_of(left: int, right: int) -> int:
    return NULL if left == NULL or right == NULL else min(left, right)


def greater_of_floats(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return max(left, right)


def lesser_of_floats(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return min(left, right)


def _of_double(kernel: Kernel) -> Source:
    return Source(lambda call: f"{kernel.__name__}({call.double(0)})", (kernel,))


def _of_two(whole: Kernel, real: Kernel) -> Source:
    def write(written: Written) -> str:
        if written.call.type is Type.FLOAT:  # whatever was sent
            left, right = (f"to_float32({written.alike(place)})" for place in range(2))
            return f"{real.__name__}({left}, {right})"
        if written.call.type.is_real:
            return f"{real.__name__}({written.double(0)}, {written.double(1)})"
        return f"{whole.__name__}({written.value(0)}, {written.value(1)})"

    return Source(write, (whole, real))


def _as_double(name: str) -> Callable[[Sql, Call, Sequence[Element]], Element]:
    def lower(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
        return getattr(sql.func, name)(sql.real(values[0]), type_=sql.Double())

    return lower


def _sql_chosen(sign: int) -> Callable[[Sql, Call, Sequence[Element]], Element]:
    """The larger (`sign` 1) or smaller of two as their wider type; null when one is."""

    def lower(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
        left, right = (
            sql.converted(value, argument.type, node.type)
            for value, argument in zip(values, node.arguments, strict=True)
        )
        better = right > left if sign > 0 else right < left
        missing = sql.or_(left.is_(None), right.is_(None))
        return sql.case((missing, sql.null()), (better, right), else_=left)

    return lower


def _sql_signum(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    value = values[0]
    one, minus, zero = map(sql.whole, (1, -1, 0))
    return sql.case((value > 0, one), (value < 0, minus), (value == 0, zero))


def _sql_rounded(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    """Halves upward; stops at the ends of the type."""
    value, type_ = values[0], node.arguments[0].type
    if type_.is_integer:
        return value
    last = (INT_END if type_ is Type.FLOAT else LONG_END) - 1
    end = float(last + 1)
    number = sql.real(value)
    inside = sql.case((sql.func.abs(number) < end, number))
    floor = sql.func.floor(inside, type_=sql.Double())
    more = sql.case((inside - floor >= 0.5, sql.whole(1)), else_=sql.whole(0))
    nearest = sql.cast(floor, sql.BigInteger()) + more
    first = sql.whole(-(last + 1)) if type_ is Type.FLOAT else sql.null()
    return sql.case((number >= end, sql.whole(last)), (number <= -end, first), else_=nearest)


def _sql_root(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    number = sql.real(values[0])
    # some databases fail on what is negative, even where it is not asked for
    return sql.func.sqrt(sql.case((number >= 0, number)), type_=sql.Double())


def _sql_nan(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    return sql.case((values[0].is_not(None), sql.false()))


def _sql_infinite(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    if node.arguments[0].type.is_integer:
        return _sql_nan(sql, node, values)
    return sql.func.abs(sql.real(values[0]), type_=sql.Double()) > LARGEST


def _wider(arguments: Sequence[Expression]) -> Type:
    """The wider type of two numbers."""
    return widest(arguments[0].type, arguments[1].type)


def _constant(name: str, value: float, doc: str) -> Scalar:
    return Scalar(
        Signature(f"math:{name}", (), doc, Type.DOUBLE),
        strict(lambda: value),
        Source(lambda call: repr(value)),
        lambda sql, node, values: sql.cast(sql.literal(value, sql.Double()), sql.Double()),
    )


Y = Parameter("y", NUMBER)

ABS = Scalar(
    Signature("math:abs", (X,), "the distance from 0", Type.DOUBLE),
    ieee(lambda np: np.fabs),
    _of_double(absolute),
    _as_double("abs"),
)
CEIL = Scalar(
    Signature("math:ceil", (X,), "the next whole number above", Type.DOUBLE),
    ieee(lambda np: np.ceil),
    _of_double(ceiling),
    _as_double("ceil"),
)
FLOOR = Scalar(
    Signature("math:floor", (X,), "the next whole number below", Type.DOUBLE),
    ieee(lambda np: np.floor),
    _of_double(floored),
    _as_double("floor"),
)
ROUND = Scalar(
    Signature(
        "math:round",
        (X,),
        "the nearest whole number, halves upward; int for a float, else long",
        lambda arguments: Type.INT if arguments[0].type is Type.FLOAT else Type.LONG,
    ),
    _rounding,
    Source(lambda call: f"rounded({call.double(0)}, {ENDS[call.call.type]})", (rounded,)),
    _sql_rounded,
)
SQRT = Scalar(
    Signature("math:sqrt", (X,), "the square root", Type.DOUBLE),
    ieee(lambda np: np.sqrt),
    _of_double(root),
    _sql_root,
)
MAX = Scalar(
    Signature("math:max", (X, Y), "the larger of two", _wider),
    _chosen(max),
    _of_two(greater_of, greater_of_floats),
    _sql_chosen(1),
)
MIN = Scalar(
    Signature("math:min", (X, Y), "the smaller of two", _wider),
    _chosen(min),
    _of_two(lesser_of, lesser_of_floats),
    _sql_chosen(-1),
)
SIGNUM = Scalar(
    Signature("math:signum", (X,), "-1, 0 or 1", Type.INT),
    strict(lambda value: (value > 0) - (value < 0)),
    _of_double(sign_of),
    _sql_signum,
)
IS_NAN = Scalar(
    Signature("math:isNan", (X,), "whether it is no number", Type.BOOL),
    strict(lambda value: value != value),
    _of_double(is_nan),
    _sql_nan,
)
IS_INFINITE = Scalar(
    Signature("math:isInfinite", (X,), "whether it is infinite", Type.BOOL),
    strict(math.isinf),
    _of_double(is_infinite),
    _sql_infinite,
)
PI = _constant("pi", math.pi, "3.14159..")
E = _constant("e", math.e, "2.71828..")
