"""What Python's annotations mean in rules, and values on their way from one to the other."""

from __future__ import annotations

import inspect
import operator
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cep.plan.expressions import Constant
from cep.plan.functions import FunctionError
from cep.plan.signatures import ANY, NUMBER, TEXT, TRUTH, WHOLE, ArgumentKind, Parameter
from cep.plan.types import Type

INT64 = range(-(2**63), 2**63)
Take = Callable[[Any], Any]


def _float(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, str | bytes | bool):
        raise TypeError
    return float(value)


def _int(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    number = operator.index(value)
    if number not in INT64:
        raise OverflowError
    return number


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value if type(value) is str else str(value)


def _bool(value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):  # NumPy's, too
        raise TypeError
    return bool(value)


@dataclass(frozen=True, slots=True)
class Meaning:
    """An annotation in rules: the types it takes, the one it gives, and how a value becomes it."""

    python: type
    takes: tuple[Type, ...]
    gives: Type
    take: Take


MEANINGS = (
    Meaning(float, NUMBER, Type.DOUBLE, _float),
    Meaning(int, WHOLE, Type.LONG, _int),
    Meaning(str, TEXT, Type.STRING, _str),
    Meaning(bool, TRUTH, Type.BOOL, _bool),
    Meaning(object, ANY, Type.OBJECT, lambda value: value),
)
_BY_PYTHON = {meaning.python: meaning for meaning in MEANINGS}


@dataclass(frozen=True, slots=True)
class Annotated:
    """An annotation; `nullable`: None may come."""

    meaning: Meaning
    nullable: bool


def hints_of(name: str, call: Any) -> dict[str, Any]:
    """The annotations of a callable; FunctionError when one names nothing."""
    try:
        return typing.get_type_hints(call)
    except (NameError, AttributeError, TypeError, SyntaxError) as problem:
        raise FunctionError(f"function `{name}`: its annotations: {problem}") from None


def annotated(name: str, hint: Any, what: str) -> Annotated:
    """What an annotation means (None: there is none); FunctionError when that is nothing."""
    plain, nullable = without_none(hint)
    try:
        meaning = _BY_PYTHON.get(plain)
    except TypeError:  # no type at all, and none that can be looked up
        meaning = None
    if meaning is None:
        known = ", ".join(known.python.__name__ for known in MEANINGS)
        raise FunctionError(f"function `{name}`: annotate its {what} with one of {known}")
    return Annotated(meaning, nullable or plain is object)


def without_none(hint: Any) -> tuple[Any, bool]:
    """`float` and true for `float | None`."""
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint, False
    plain = [one for one in typing.get_args(hint) if one is not type(None)]
    return (plain[0] if len(plain) == 1 else None), len(plain) < len(typing.get_args(hint))


def parameters_of(
    name: str, call: Any, kind: ArgumentKind = "value", skip: int = 0
) -> tuple[tuple[Parameter, ...], tuple[Annotated, ...]]:
    """The parameters of a callable from the one at `skip` on, as rules see them."""
    hints = hints_of(name, call)
    parameters, found = [], []
    for parameter in list(inspect.signature(call).parameters.values())[skip:]:
        own = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise FunctionError(
                f"function `{name}`: rules cannot give `{parameter}`",
                "take each argument by itself",
            )
        what = annotated(name, hints.get(own), f"argument `{own}`")
        default = None if parameter.default is parameter.empty else _default(name, parameter, what)
        parameters.append(Parameter(own, what.meaning.takes, kind, default))
        found.append(what)
    return tuple(parameters), tuple(found)


def _default(name: str, parameter: inspect.Parameter, what: Annotated) -> Constant:
    value = parameter.default
    if value is None:
        return Constant(None, what.meaning.gives)
    try:
        if what.meaning.gives is Type.OBJECT:
            raise TypeError
        return Constant(what.meaning.take(value), what.meaning.gives)
    except (TypeError, ValueError, OverflowError):
        raise FunctionError(
            f"function `{name}`: rules have no value like {value!r}, the default of "
            f"`{parameter.name}`",
            f"let it be a {what.meaning.python.__name__}",
        ) from None


def giver(whats: Sequence[Annotated]) -> Callable[[Sequence[Any]], list[Any]]:
    """Makes values of the rules what a function gets: whole numbers become floats for a `float`."""
    takes = [what.meaning.take for what in whats]

    def give(values: Sequence[Any]) -> list[Any]:
        return [
            value if value is None else take(value)
            for take, value in zip(takes, values, strict=True)
        ]

    return give


def result(name: str, value: Any, what: Annotated) -> Any:
    """What a function gave as a value of the rules; TypeError when it is none of its type."""
    if value is None:
        return None
    try:
        return what.meaning.take(value)
    except OverflowError:
        text = f"function `{name}` gave {value!r}, more than 64 bits hold"
        raise TypeError(text) from None
    except (TypeError, ValueError):
        said = what.meaning.python.__name__
        text = f"function `{name}` gave {value!r}; by its annotation it gives {said} or None"
        raise TypeError(text) from None
