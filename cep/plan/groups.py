"""Values as keys of groups."""

from __future__ import annotations

from typing import Any

Group = tuple[Any, ...]
NOT_A_NUMBER = float("nan")
"""The one NaN of keys: a tuple that holds it equals another that holds it."""

COLLECTIONS = (list, set)  # a tuple: `list | set` would be made anew at each look


def group_of(values: list[Any]) -> Group:
    """The values as a key: NaN equals NaN, lists and sets count by what they hold."""
    return tuple([_as_key(value) for value in values])


def _as_key(value: Any) -> Any:
    if value != value:
        return NOT_A_NUMBER
    return str(value) if isinstance(value, COLLECTIONS) else value
