"""Numbers as SiddhiQL's types hold them: ints wrap, floats have 32 bits, NaN is null."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from ctypes import c_float
from typing import Any

from cep.plan.types import Type

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]
"""Takes two values that are not null; the result may be (None)."""

INT_END = 2**31
LONG_END = 2**63
EXACT_END = 2**53
"""Every whole number below it is a double."""
SINGLE_BITS = 24
"""Digits of a 32-bit number."""


def wrap_int(value: int) -> int:
    """Two's complement of 32 bits."""
    if -INT_END <= value < INT_END:
        return value
    return (value + INT_END) % (2 * INT_END) - INT_END


def wrap_long(value: int) -> int | None:
    """Two's complement of 64 bits; null for -2 ** 63, which engines store null as."""
    if -LONG_END < value < LONG_END:
        return value
    wrapped = (value + LONG_END) % (2 * LONG_END) - LONG_END
    return None if wrapped == -LONG_END else wrapped


def to_float(value: float) -> float:
    """The nearest 32-bit number; a long is not rounded to a double first."""
    if isinstance(value, int) and abs(value) > EXACT_END:
        return _rounded_once(value)
    return c_float(value).value


def _rounded_once(value: int) -> float:
    """A large whole number as the nearest 32-bit number; the even one of two."""
    beyond = abs(value).bit_length() - SINGLE_BITS
    kept, rest = divmod(abs(value), 1 << beyond)
    half = 1 << beyond - 1
    kept += rest > half or (rest == half and kept % 2 == 1)
    return math.copysign(float(kept << beyond), value)


def real(value: float) -> float | None:
    """Null for NaN."""
    return value if value == value else None


def real_float(value: float) -> float | None:
    """The nearest 32-bit number; null for NaN."""
    return c_float(value).value if value == value else None


NARROW: dict[Type, Unary] = {
    Type.INT: wrap_int,
    Type.LONG: wrap_long,
    Type.FLOAT: real_float,
    Type.DOUBLE: real,
}
"""The result of an operation as its type holds it."""


def widening(source: Type, target: Type) -> Unary | None:
    """How a value of one type becomes the wider one; None when nothing is to be done."""
    if target is Type.FLOAT and source.is_integer:
        return to_float
    if target is Type.DOUBLE and source.is_integer:
        return float
    return None


def quotient(left: int, right: int) -> int | None:
    """Truncated toward zero; null by zero."""
    if not right:
        return None
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


def remainder(left: int, right: int) -> int | None:
    """With the sign of `left`; null by zero."""
    if not right:
        return None
    found = abs(left) % abs(right)
    return found if left >= 0 else -found


def ratio(left: float, right: float) -> float | None:
    """Null by zero."""
    return left / right if right else None


def float_remainder(left: float, right: float) -> float | None:
    """With the sign of `left`; null by zero and of an infinite number."""
    return math.fmod(left, right) if right and not math.isinf(left) else None


_RING: dict[str, Binary] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_WHOLE: dict[str, Binary] = {"/": quotient, "%": remainder}
_REAL: dict[str, Binary] = {"/": ratio, "%": float_remainder}


def arithmetic(op: str, type_: Type) -> Binary:
    """An operation on two numbers of that type."""
    narrow = NARROW[type_]
    if op in _RING:
        ring = _RING[op]
        return lambda left, right: narrow(ring(left, right))
    divide = (_WHOLE if type_.is_integer else _REAL)[op]

    def divided(left: Any, right: Any) -> Any:
        found = divide(left, right)
        return None if found is None else narrow(found)

    return divided
