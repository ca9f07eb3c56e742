"""The functions of the namespace `math`; a result that is no number is null."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cep.interpreter.context import Context
from cep.interpreter.functions.convert import converter
from cep.interpreter.numbers import INT_END, LONG_END, Unary, real
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Call
from cep.plan.types import Type


def _real(apply: Callable[..., Any]) -> Unary:
    """A function of doubles as IEEE has it: infinities instead of errors, null instead of NaN."""

    def evaluate(*values: float) -> float | None:
        with np.errstate(all="ignore"):
            return real(float(apply(*[np.float64(value) for value in values])))

    return evaluate


def _logarithm(value: Any, base: Any) -> Any:
    return np.divide(np.log(value), np.log(base))


def _rounded(value: float, end: int) -> int:
    """Halves upward, as Java has it; stops at the ends of the type."""
    if math.isnan(value):
        return 0
    if abs(value) >= end:
        return -end if value < 0 else end - 1
    floor = math.floor(value)
    return floor + (value - floor >= 0.5)


def rounding(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """`math:round`: an int of a float, else a long."""
    argument = arguments[0]
    end = INT_END if node.arguments[0].type is Type.FLOAT else LONG_END

    def rounded(row: Row) -> int | None:
        value = argument(row)
        return None if value is None else _rounded(value, end)

    return rounded


def chosen(pick: Callable[[Any, Any], Any]) -> Callable[..., Evaluator]:
    """`math:max` or `math:min`: one of two numbers, as their wider type; null when one is."""

    def make(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
        left, right = arguments
        as_left, as_right = (converter(one.type, node.type) for one in node.arguments)

        def choose(row: Row) -> Any:
            a, b = left(row), right(row)
            return None if a is None or b is None else pick(as_left(a), as_right(b))

        return choose

    return make


MATHS: dict[str, Callable[..., Any]] = {
    "math:abs": _real(np.fabs),
    "math:ceil": _real(np.ceil),
    "math:floor": _real(np.floor),
    "math:sqrt": _real(np.sqrt),
    "math:cbrt": _real(np.cbrt),
    "math:exp": _real(np.exp),
    "math:ln": _real(np.log),
    "math:log": _real(_logarithm),
    "math:log2": _real(np.log2),
    "math:log10": _real(np.log10),
    "math:power": _real(np.power),
    "math:sin": _real(np.sin),
    "math:cos": _real(np.cos),
    "math:tan": _real(np.tan),
    "math:asin": _real(np.arcsin),
    "math:acos": _real(np.arccos),
    "math:atan": _real(np.arctan),
    "math:signum": lambda value: (value > 0) - (value < 0),
    "math:isNan": lambda value: value != value,
    "math:isInfinite": lambda value: math.isinf(value),
    "math:pi": lambda: math.pi,
    "math:e": lambda: math.e,
}
"""Functions that are null when an argument is."""
