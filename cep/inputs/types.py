"""Attribute types as Arrow types, and the slow way to read one value, used to explain errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bool": pa.bool_(),
}
INT_BITS = {"int": 32, "long": 64}
TRUE, FALSE = ["true", "True", "TRUE", "1"], ["false", "False", "FALSE", "0"]


REMEDIES = {
    "string": "write text",
    "int": "write a whole number of 32 bits in digits 0 to 9, as 1000",
    "long": "write a whole number of 64 bits in digits 0 to 9, as 1000",
    "float": "write the number as 1000.5: digits 0 to 9, a point, and nothing between thousands",
    "double": "write the number as 1000.5: digits 0 to 9, a point, and nothing between thousands",
    "bool": "write true or false",
}
"""What to do about a value that cannot be read as a type."""


def _whole(type_: str) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        if isinstance(value, bool | float):
            raise ValueError(value)
        number = int(value)
        if not -(1 << INT_BITS[type_] - 1) <= number < 1 << INT_BITS[type_] - 1:
            raise ValueError(f"does not fit in {INT_BITS[type_]} bits")
        return number

    return convert


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError(value)
    return float(value)


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in TRUE + FALSE:
        return value in TRUE
    raise ValueError(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return value


CONVERT: dict[str, Callable[[Any], Any]] = {
    "string": _text,
    "int": _whole("int"),
    "long": _whole("long"),
    "float": _number,
    "double": _number,
    "bool": _truth,
}


def is_valid(value: Any, type_: str) -> bool:
    """Whether `value`, a text of a CSV file or a JSON value, can be read as `type_`."""
    if value is None:
        return True
    try:
        CONVERT[type_](value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
