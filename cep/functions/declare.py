"""`@function`: a Python function made known to rules."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from cep.functions.annotations import annotated, giver, hints_of, parameters_of, result
from cep.plan.functions import UserFunction, add
from cep.plan.signatures import Signature

F = TypeVar("F", bound=Callable[..., Any])


@typing.overload
def function(call: F) -> F: ...


@typing.overload
def function(*, name: str | None = None) -> Callable[[F], F]: ...


def function(call: F | None = None, *, name: str | None = None) -> F | Callable[[F], F]:
    """Make a function known to rules compiled from now on, under its own name or `name`.

    Arguments and result are annotated with float, int, str, bool or object; `float | None` means
    the same as `float`. Null arrives as None, and None is null. Arguments with a default may be
    left out. A name may have a namespace: `trader:spread`. FunctionError (a ValueError) for an
    annotation that is missing or means nothing in rules, and a name that cannot be or is taken.
    """
    if call is None:
        return lambda later: _made_known(later, name)
    return _made_known(call, name)


def _made_known(call: F, name: str | None) -> F:
    own = name or str(getattr(call, "__name__", ""))
    parameters, takes = parameters_of(own, call)
    gives = annotated(own, hints_of(own, call).get("return"), "result")

    give = giver(takes)

    def called(*values: Any) -> Any:
        return result(own, call(*give(values)), gives)

    signature = Signature(own, parameters, inspect.getdoc(call) or "", gives.meaning.gives)
    add(UserFunction(signature, called), call)
    return call
