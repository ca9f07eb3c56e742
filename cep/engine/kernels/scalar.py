"""Scalar operations with SiddhiQL's null: NaN for floats, `NULL` for everything kept as int64.

NaN compares exactly as Siddhi's null does (false, and true for !=), so floats need no helper there.
"""

from __future__ import annotations

import math

import numpy as np

from cep.engine.jit import inline
from cep.plan.functions.native import NULL as NULL


@inline
def wrap_int(value: int) -> int:
    """A 64-bit result as a wrapped 32-bit int; null stays null."""
    if value == NULL:
        return value
    return ((value + 2147483648) & 4294967295) - 2147483648


@inline
def add(left: int, right: int) -> int:
    if left == NULL or right == NULL:
        return NULL
    return int(np.int64(left) + np.int64(right))


@inline
def subtract(left: int, right: int) -> int:
    if left == NULL or right == NULL:
        return NULL
    return int(np.int64(left) - np.int64(right))


@inline
def multiply(left: int, right: int) -> int:
    if left == NULL or right == NULL:
        return NULL
    return int(np.int64(left) * np.int64(right))


@inline
def divide(left: int, right: int) -> int:
    """Truncates toward zero; by zero is null."""
    if left == NULL or right == NULL or right == 0:
        return NULL
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


@inline
def modulo(left: int, right: int) -> int:
    """Keeps the dividend's sign; by zero is null."""
    if left == NULL or right == NULL or right == 0:
        return NULL
    rest = abs(left) % abs(right)
    return rest if left >= 0 else -rest


@inline
def divide_float(left: float, right: float) -> float:
    if right == 0.0:
        return math.nan
    return left / right


@inline
def modulo_float(left: float, right: float) -> float:
    if right == 0.0 or math.isinf(left):
        return math.nan
    return float(np.fmod(left, right))


@inline
def to_float(value: int) -> float:
    if value == NULL:
        return math.nan
    return float(value)


@inline
def int_to_float32(value: int) -> float:
    """A whole number as the nearest float, rounded once."""
    if value == NULL:
        return math.nan
    return float(np.float32(value))


@inline
def to_float32(value: float) -> float:
    """A double rounded to the nearest float."""
    return float(np.float32(value))


@inline
def equal(left: int, right: int) -> bool:
    return left == right and left != NULL


@inline
def not_equal(left: int, right: int) -> bool:
    return left != right or left == NULL


@inline
def less(left: int, right: int) -> bool:
    return left < right and left != NULL


@inline
def less_equal(left: int, right: int) -> bool:
    return left <= right and left != NULL


@inline
def bits_of(value: float) -> int:
    """The bits of a float."""
    return int(np.float64(value).view(np.int64))
