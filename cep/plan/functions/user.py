"""Functions the user registers; rules call them by name, or as `namespace:name`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cep.plan.signatures import Parameter, Signature
from cep.plan.types import Type


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A registered function: `call` gets the arguments as Python values, None for null."""

    signature: Signature
    call: Callable[..., Any]


_registered: dict[str, UserFunction] = {}


def register(
    name: str,
    argument_types: Sequence[Type],
    return_type: Type,
    call: Callable[..., Any],
    doc: str = "",
) -> UserFunction:
    """Make a function known to every rule text compiled from now on; the latest of a name counts.

    ValueError when the name is not `name` or `namespace:name`.
    """
    parts = name.split(":")
    if len(parts) > 2 or not all(part.isidentifier() for part in parts):
        raise ValueError(f"a function is called `name` or `namespace:name`, not `{name}`")
    parameters = tuple(
        Parameter(f"argument{position}", (type_,))
        for position, type_ in enumerate(argument_types, start=1)
    )
    function = UserFunction(Signature(name, parameters, doc, return_type), call)
    _registered[name.lower()] = function
    return function


def unregister(name: str) -> None:
    """Forget a function; nothing happens when there is none."""
    _registered.pop(name.lower(), None)


def user_function(name: str) -> UserFunction | None:
    """The registered function of that name; case does not matter."""
    return _registered.get(name.lower())


def user_names() -> tuple[str, ...]:
    """The names registered, as given."""
    return tuple(function.signature.name for function in _registered.values())
