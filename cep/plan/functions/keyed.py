"""Indicators of the user: how one is made, what it is given, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cep.plan.expressions import Constant, Expression
from cep.plan.functions.plain import Plain, StateError, as_it_was


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes indicators of one class and deals with them.

    `update` takes an instance and the values of a row, of which there are `values`, and gives what
    is added to the row, `outputs` values. Of the former the ones whose place is in `needed` must
    be known: other rows do not reach the class.
    """

    name: str
    class_name: str
    make: Callable[..., Any]
    update: Callable[..., list[Any]]
    values: int
    needed: tuple[int, ...]
    outputs: int

    def constants(self, arguments: Sequence[Expression]) -> list[Any]:
        """Those among the arguments of a call that `make` takes."""
        given = arguments[self.values :]
        return [one.value for one in given if isinstance(one, Constant)]

    def state(self, made: Any) -> Any:
        """What an instance remembers, as plain data. StateError when that cannot be."""
        if not hasattr(made, "state"):
            return self.plain(vars(made))
        try:
            own = made.state()
        except Exception as problem:
            text = f"indicator `{self.name}`: its `state()`: {type(problem).__name__}: {problem}"
            raise StateError(text) from problem
        return self.plain(own)

    def plain(self, value: Any) -> Any:
        """A value as plain data. StateError when that cannot be."""
        remedy = f"let {self.class_name} have `state()` and `restore(state)` with plain data"
        return Plain(f"indicator `{self.name}`", remedy).of(value)

    def restored(self, constants: Sequence[Any], state: Any) -> Any:
        """An instance that goes on from what `state` gave; it raises what the class raises."""
        made, own = self.make(*constants), as_it_was(state)
        if hasattr(made, "restore"):
            made.restore(own)
        else:
            vars(made).clear()
            vars(made).update(own)
        return made
