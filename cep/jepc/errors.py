"""What is wrong with a query, a stream or an event."""

from __future__ import annotations

from typing import Any


class QueryError(ValueError):
    """A query or stream that cannot be had; says which part, why, and what to do."""


def is_a(value: Any, *kinds: type) -> bool:
    """Whether a value is of the kind that its type promises: programs may give another."""
    return isinstance(value, kinds)
