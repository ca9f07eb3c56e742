"""Aggregates as exact real numbers, rounded to a double once, at the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from cep.plan.types import Type
from tests.reference.expressions import Value, as_int, cast


def aggregate(function: str, type_: Type, values: Sequence[Value]) -> Value:
    """One aggregate over the values of its argument on the window's rows, oldest first."""
    if function == "count":
        return len(values)
    known = [value for value in values if value is not None]
    if not known:
        return None
    match function:
        case "min":
            return min(known)
        case "max":
            return max(known)
        case "sum" if type_ is Type.LONG:
            return cast(sum(as_int(value) for value in known), Type.LONG)
    numbers = [value for value in known if isinstance(value, int | float)]
    return cast(_moment(function, numbers), Type.DOUBLE)


def _moment(function: str, values: list[float]) -> float:
    if any(math.isinf(value) for value in values):
        return math.nan if function == "stdDev" else sum(filter(math.isinf, values))
    whole, scale = _scaled(values)
    n, total = len(whole), sum(whole)
    match function:
        case "sum":
            return rounded(Fraction(total, scale))
        case "avg":
            return rounded(Fraction(total, n * scale))
        case "stdDev":
            squares = sum(x * x for x in whole)
            return square_root(Fraction(n * squares - total * total, (n * scale) ** 2))
        case other:
            raise NotImplementedError(f"aggregate {other}")


def _scaled(values: list[float]) -> tuple[list[int], int]:
    """The values as integers over one common denominator; those of doubles are powers of two."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def rounded(value: Fraction) -> float:
    """The double nearest to `value`; infinite when beyond the largest."""
    try:
        return value.numerator / value.denominator  # Python rounds int / int correctly
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def square_root(value: Fraction) -> float:
    """The double nearest to the root of a value >= 0."""
    shift = 128 + value.denominator.bit_length()  # more bits than a double has, or half of one
    scaled = (value.numerator << 2 * shift) // value.denominator
    root = math.isqrt(scaled)
    is_exact = root * root * value.denominator == value.numerator << 2 * shift
    return rounded(Fraction(2 * root + (not is_exact), 1 << shift + 1))  # the odd bit breaks ties
