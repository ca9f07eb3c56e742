"""An output row as a line of JSON: the same bytes in every process."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

encode_plain = msgspec.json.Encoder().encode
"""The line of a row that holds no objects."""


def encode(row: Mapping[str, Any]) -> bytes:
    """The line of a row, without its end; sets are lists in order, not as Python has them."""
    return encode_plain({name: _ordered(value) for name, value in row.items()})


def _ordered(value: Any) -> Any:
    if isinstance(value, list):
        return [_ordered(one) for one in value]
    return _sorted(value) if isinstance(value, set | frozenset) else value


def _sorted(values: Collection[Any]) -> list[Any]:
    """By value; where some cannot be compared, by how they are written."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=repr)
