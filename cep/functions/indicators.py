"""`@indicator`: a Python class with memory, one instance for each group of rows."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cep.functions.annotations import (
    Annotated,
    annotated,
    giver,
    hints_of,
    parameters_of,
    result,
    without_none,
)
from cep.plan.functions import FunctionError, Maker, UserIndicator, add
from cep.plan.signatures import Parameter, Signature
from cep.plan.types import Type

C = TypeVar("C", bound=type)


@typing.overload
def indicator(made: C) -> C: ...


@typing.overload
def indicator(*, name: str | None = None) -> Callable[[C], C]: ...


def indicator(made: C | None = None, *, name: str | None = None) -> C | Callable[[C], C]:
    """Make a class known to rules compiled from now on, under its own name or `name`.

    Each value of the query's `group by` has an instance. `update(self, ..)` gets the values of a
    row and gives one (float, int, str, bool, object; None is null) or, as a NamedTuple, several.
    The arguments of `__init__` are constants, which stand in rules behind those of `update`.
    `#name(..)` behind a stream adds what it gives to each row; one that gives a single value may
    also stand in `select`, like `ema(x, n)`. Rows in which an argument that is not annotated with
    `| None` is null do not reach `update`: the value stays. Neither do rows that leave a window.

    What it remembers is in its attributes, or what `state(self)` gives and `restore(self, state)`
    takes: None, bool, int, float, str, bytes, and lists, tuples, dicts, sets and deques of them.
    FunctionError (a ValueError) for a class that is no such thing.
    """
    if made is None:
        return lambda later: _made_known(later, name)
    return _made_known(made, name)


def _made_known(made: C, name: str | None) -> C:
    own = name or made.__name__
    update = _need_update(own, made)
    _need_memory(own, made)
    values, takes = parameters_of(own, update, skip=1)
    constants, settings = _settings(own, made)
    _need_order(own, values, constants)
    outputs = _outputs(own, hints_of(own, update).get("return"))

    give, give_constants = giver(takes), giver(settings)

    def make(*given: Any) -> Any:
        return made(*give_constants(given))

    def updated(instance: Any, *row: Any) -> list[Any]:
        return _results(own, instance.update(*give(row)), outputs)

    needed = tuple(place for place, one in enumerate(takes) if not one.nullable)
    maker = Maker(own, made.__name__, make, updated, len(values), needed, len(outputs))
    added = tuple((attribute, what.meaning.gives) for attribute, what in outputs)
    signature = Signature(
        own, (*values, *constants), inspect.getdoc(made) or "", _single(added),
        added=added, stateful=True,
    )  # fmt: skip
    add(UserIndicator(signature, maker), made)
    return made


def _need_update(name: str, made: Any) -> Any:
    update = getattr(made, "update", None)
    if not inspect.isclass(made) or not inspect.isfunction(update):
        raise FunctionError(
            f"indicator `{name}` has no method `update`",
            "write a class with `def update(self, x: float) -> float | None`",
        )
    return update


def _need_memory(name: str, made: type) -> None:
    """FunctionError when a snapshot could not hold it, whatever it remembers."""
    own = [hasattr(made, method) for method in ("state", "restore")]
    if any(own) != all(own):
        raise FunctionError(
            f"indicator `{name}` has only one of `state` and `restore`",
            "write `state(self)` and `restore(self, state)`, or neither",
        )
    if not any(own) and not made.__dictoffset__:
        raise FunctionError(
            f"indicator `{name}` has slots, no attributes that a snapshot could hold",
            "write `state(self)` and `restore(self, state)`, or leave `__slots__` out",
        )


def _settings(name: str, made: Any) -> tuple[Any, tuple[Annotated, ...]]:
    """The parameters of `__init__`, which rules give as constants."""
    if not inspect.isfunction(made.__init__):
        return (), ()
    return parameters_of(name, made.__init__, "constant", skip=1)


def _need_order(name: str, values: Sequence[Parameter], constants: Sequence[Parameter]) -> None:
    optional = [one.name for one in values if one.default is not None]
    needed = [one.name for one in constants if one.default is None]
    if optional and needed:
        raise FunctionError(
            f"indicator `{name}`: `{optional[0]}` of `update` may be left out, `{needed[0]}` of "
            "`__init__`, which stands behind it, not",
            "give both a default, or none",
        )


def _outputs(name: str, hint: Any) -> list[tuple[str, Annotated]]:
    """What `update` gives, by name: one value, or those of a NamedTuple."""
    plain, _ = without_none(hint)
    fields = getattr(plain, "_fields", None)
    if fields is None:
        return [(name.rpartition(":")[2], annotated(name, hint, "result of `update`"))]
    hints = hints_of(name, plain)
    return [(own, annotated(name, hints.get(own), f"result `{own}`")) for own in fields]


def _single(added: tuple[tuple[str, Type], ...]) -> Type:
    return added[0][1] if len(added) == 1 else Type.OBJECT


def _results(name: str, found: Any, outputs: list[tuple[str, Annotated]]) -> list[Any]:
    if found is None:
        return [None] * len(outputs)
    values = found if isinstance(found, tuple) and len(outputs) > 1 else (found,)
    if len(values) != len(outputs):
        named = ", ".join(own for own, _ in outputs)
        raise TypeError(f"indicator `{name}` gave {found!r}; by its annotation it gives {named}")
    return [result(name, value, what) for value, (_, what) in zip(values, outputs, strict=True)]
