"""User functions: a Python function made known to rule texts by a decorator."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from cep.plan.functions import register
from cep.plan.types import Type

F = TypeVar("F", bound=Callable[..., Any])

PYTHON_TYPES: dict[Any, Type] = {
    float: Type.DOUBLE,
    int: Type.LONG,
    str: Type.STRING,
    bool: Type.BOOL,
    object: Type.OBJECT,
}
"""What annotations mean in rules; `float | None` means the same as `float`."""


@typing.overload
def function(call: F) -> F: ...


@typing.overload
def function(*, name: str | None = None) -> Callable[[F], F]: ...


def function(call: F | None = None, *, name: str | None = None) -> F | Callable[[F], F]:
    """Make a function known to rules compiled from now on, under its own name or `name`.

    Arguments and result are annotated with float, int, str, bool or object; null arrives as None,
    and None is null. A name may have a namespace: `trader:spread`. ValueError for an annotation
    that is missing or means nothing in rules, or a name that cannot be.
    """
    if call is None:
        return lambda later: _registered(later, name)
    return _registered(call, name)


def _registered(call: F, name: str | None) -> F:
    own = name or call.__name__
    hints = typing.get_type_hints(call)
    arguments = [_type(own, hints, each) for each in inspect.signature(call).parameters]
    register(own, arguments, _type(own, hints, "return"), call, inspect.getdoc(call) or "")
    return call


def _type(name: str, hints: dict[str, Any], argument: str) -> Type:
    hint = hints.get(argument)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        plain = [one for one in typing.get_args(hint) if one is not type(None)]
        hint = plain[0] if len(plain) == 1 else None
    found = PYTHON_TYPES.get(hint)
    if found is None:
        known = ", ".join(known.__name__ for known in PYTHON_TYPES)
        what = "result" if argument == "return" else f"argument `{argument}`"
        raise ValueError(f"function `{name}`: annotate its {what} with one of {known}")
    return found
