"""`convert`: values as another type, with Java's rules for numbers and texts."""

from __future__ import annotations

import math
import re
from typing import Any

from cep.plan.numbers import INT_END, LONG_END, Unary, to_float, wrap_int
from cep.plan.types import Type

WHOLE = re.compile(r"[+-]?[0-9]+")
REAL = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
PLAIN_LEAST, PLAIN_END = 1e-3, 1e7
"""Java writes numbers between these without an exponent."""


def converter(source: Type, target: Type) -> Unary:
    """How values of one type become another; the result is null where that cannot be."""
    if source is Type.OBJECT:
        return _object_text if target is Type.STRING else lambda value: None
    match target:
        case Type.STRING:
            return lambda value: as_text(value, source)
        case Type.BOOL:
            return _truth
        case Type.INT | Type.LONG:
            end = INT_END if target is Type.INT else LONG_END
            return lambda value: _whole(value, end)
        case _:
            return lambda value: _real(value, target)


def as_text(value: Any, type_: Type) -> str:
    """A value as Java writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value, type_)
        case _:
            return str(value)


def _object_text(value: Any) -> str:
    """A list as Java writes an array, anything else as text."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_object_text(item) for item in value) + "]"
    return "null" if value is None else as_text(value, Type.DOUBLE)


def _float_text(value: float, type_: Type) -> str:
    """The shortest digits that tell the number from its neighbours of that type."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    import numpy as np  # only what is evaluated needs it, and it takes long

    number = np.float32(value) if type_ is Type.FLOAT else np.float64(value)
    if value == 0 or PLAIN_LEAST <= abs(value) < PLAIN_END:
        return np.format_float_positional(number, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(number, unique=True, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"


def _truth(value: Any) -> bool:
    return value.lower() == "true" if isinstance(value, str) else bool(value == 1)


def _whole(value: Any, end: int) -> int | None:
    """Longs wrap, floats stop at the ends, texts that are too large are null."""
    match value:
        case str():
            found = int(value) if WHOLE.fullmatch(value) else end
            return found if -end <= found < end else None
        case float():
            return 0 if math.isnan(value) else int(min(max(value, -end), end - 1))
        case _:
            return wrap_int(int(value)) if end == INT_END else int(value)


def _real(value: Any, target: Type) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        if not REAL.fullmatch(text):
            return None
        value = float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD"))
    return to_float(value) if target is Type.FLOAT else float(value)
