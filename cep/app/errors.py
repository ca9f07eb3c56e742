"""Arguments of another kind than a method takes."""

from __future__ import annotations

from typing import Any


class ArgumentError(TypeError):
    """An argument of the wrong kind; the message names it and what to give instead."""


def need(name: str, value: Any, kinds: type | tuple[type, ...], wanted: str) -> None:
    """ArgumentError unless the argument `name` is one of `kinds`."""
    if not isinstance(value, kinds):
        raise ArgumentError(f"{name} is of type {type(value).__name__}; give {wanted}")


def need_callable(name: str, value: Any) -> None:
    """ArgumentError for what cannot be called."""
    if not callable(value):
        raise ArgumentError(f"{name} is of type {type(value).__name__}; give a function")
