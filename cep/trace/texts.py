"""Times, values and rows as the trace writes them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cep.interpreter.rows import Row
from cep.plan.text import duration_text

NamedRow = tuple[str, Row]
"""A row and the stream it is on."""


def moment(time_msc: int) -> str:
    """A time in ms UTC, in ISO 8601 with milliseconds."""
    time = datetime.fromtimestamp(time_msc // 1000, UTC)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time_msc % 1000:03}Z"


def value_text(value: Any) -> str:
    """A value as in rules: `null`, `true`, `'text'`, the shortest decimal of a number."""
    if value is None or value != value:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def pairs_text(names: Iterable[str], values: Iterable[Any]) -> str:
    """`name=value name=value`."""
    pairs = zip(names, values, strict=True)
    return " ".join(f"{name}={value_text(value)}" for name, value in pairs)


def row_text(held: Row | list[Row], names: Iterable[str]) -> str:
    """The row in a slot, or the rows that a counted state has collected."""
    if isinstance(held, list):
        names = tuple(names)
        return "[" + ", ".join(row_text(row, names) for row in held) + "]"
    return f"({pairs_text(names, held.values)} at {moment(held.time)})"


def beyond_text(age_ms: int, most_ms: int) -> str:
    """By how much something is too old."""
    return f"too old by {duration_text(age_ms - most_ms)}"
