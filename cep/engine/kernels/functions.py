"""Scalar functions of SiddhiQL and its `math` namespace that give the same bits everywhere.

Logarithms, powers and the like are not among them: libraries differ in their last digit.
"""

from __future__ import annotations

import math

from cep.engine.jit import inline
from cep.engine.kernels.scalar import NULL


@inline
def float_to_whole(value: float, end: float) -> int:
    """Truncated toward zero, stopping at the ends of the type, as Java converts."""
    if math.isnan(value):
        return NULL
    if value >= end:
        return int(end - 1.0) if end < 4294967296.0 else 9223372036854775807
    if value <= -end:
        return int(-end) if end < 4294967296.0 else NULL
    return int(value)


@inline
def whole_to_bool(value: int) -> int:
    """Only 1 is true."""
    if value == NULL:
        return NULL
    return int(value == 1)


@inline
def float_to_bool(value: float) -> int:
    if math.isnan(value):
        return NULL
    return int(value == 1.0)


@inline
def rounded(value: float, end: float) -> int:
    """The nearest whole number, halves upward."""
    if math.isnan(value) or abs(value) >= end:
        return float_to_whole(value, end)
    floor = math.floor(value)
    return int(floor) + int(value - floor >= 0.5)


@inline
def absolute(value: float) -> float:
    return abs(value)


@inline
def ceiling(value: float) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return math.copysign(float(math.ceil(value)), value)


@inline
def floored(value: float) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return math.copysign(float(math.floor(value)), value)


@inline
def root(value: float) -> float:
    """The square root; null of a negative number."""
    if math.isnan(value) or value < 0.0:
        return math.nan
    return math.sqrt(value)


@inline
def sign_of(value: float) -> int:
    if math.isnan(value):
        return NULL
    return int(value > 0.0) - int(value < 0.0)


@inline
def is_infinite(value: float) -> int:
    if math.isnan(value):
        return NULL
    return int(math.isinf(value))


@inline
def is_nan(value: float) -> int:
    """No number that is not null is NaN."""
    return NULL if math.isnan(value) else 0


@inline
def greater_of(left: int, right: int) -> int:
    """The larger; null when one is."""
    return NULL if left == NULL or right == NULL else max(left, right)


@inline
def lesser_of(left: int, right: int) -> int:
    return NULL if left == NULL or right == NULL else min(left, right)


@inline
def greater_of_floats(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return max(left, right)


@inline
def lesser_of_floats(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return min(left, right)
