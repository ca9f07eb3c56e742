"""Indicators of the user: how one is made, what it is given, and its state as plain data."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cep.plan.expressions import Constant, Expression

CONTAINERS: dict[type, str] = {
    list: "list",
    tuple: "tuple",
    dict: "dict",
    set: "set",
    frozenset: "frozenset",
    deque: "deque",
}
INT64 = range(-(2**63), 2**63)


class StateError(TypeError):
    """State of an indicator that cannot be saved; the text says what and how to help."""


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes indicators of one class and deals with them.

    `update` takes an instance and the values of a row, and gives what is added to it. Of these
    values the ones whose place is in `needed` must be known: other rows do not reach the class.
    """

    name: str
    class_name: str
    make: Callable[..., Any]
    update: Callable[..., list[Any]]
    values: int
    needed: tuple[int, ...]
    outputs: int

    def state(self, made: Any) -> Any:
        """What an instance remembers, in MessagePack's types. StateError when that cannot be."""
        return self.plain(made.state() if self.has_state(made) else vars(made))

    def plain(self, value: Any) -> Any:
        """Data in MessagePack's types; StateError when that cannot be."""
        hint = f"let {self.class_name} have `state()` and `restore(state)` with plain data"
        return _plain(value, f"indicator `{self.name}`", hint, set())

    @staticmethod
    def as_it_was(saved: Any) -> Any:
        """What `plain` was given."""
        return _as_it_was(saved)

    def restored(self, constants: Sequence[Any], state: Any) -> Any:
        """An instance that goes on from what `state` gave."""
        made, own = self.make(*constants), _as_it_was(state)
        if self.has_state(made):
            made.restore(own)
        else:
            vars(made).clear()
            vars(made).update(own)
        return made

    def constants(self, arguments: Sequence[Expression]) -> list[Any]:
        """Those among the arguments of a call that `make` takes."""
        given = arguments[self.values :]
        return [one.value for one in given if isinstance(one, Constant)]

    @staticmethod
    def has_state(made: Any) -> bool:
        """Whether the class says itself what it remembers; else its attributes are that."""
        return hasattr(made, "state")


def _plain(value: Any, place: str, hint: str, seen: set[int]) -> Any:
    """Exactly what `_as_it_was` makes of it again: a tuple stays one, a deque keeps its length."""
    kind = type(value)
    if value is None or kind in (bool, float, str, bytes):
        return value
    if kind is int:
        return value if value in INT64 else ["int", str(value)]
    if kind not in CONTAINERS:
        raise StateError(f"{place} holds a {kind.__name__}, which cannot be saved; {hint}")
    if id(value) in seen:
        raise StateError(f"{place} holds the same {kind.__name__} twice, as two places of it; {hint}")
    if kind not in (tuple, frozenset):
        seen.add(id(value))

    def inner(items: Any, where: str) -> list[Any]:
        return [_plain(item, where, hint, seen) for item in items]

    if kind is dict:
        pairs = [
            [_plain(key, place, hint, seen), _plain(item, f"{place}, {key!r}", hint, seen)]
            for key, item in value.items()
        ]
        return ["dict", pairs]
    if kind is deque:
        return ["deque", inner(value, place), value.maxlen]
    if kind in (set, frozenset):
        return [CONTAINERS[kind], sorted(inner(value, place), key=repr)]
    return [CONTAINERS[kind], inner(value, place)]


def _as_it_was(saved: Any) -> Any:
    if not isinstance(saved, list):
        return saved
    kind, body, *rest = saved
    match kind:
        case "int":
            return int(body)
        case "dict":
            return {_as_it_was(key): _as_it_was(item) for key, item in body}
        case "deque":
            return deque(map(_as_it_was, body), rest[0])
    made: dict[str, Callable[..., Any]] = {
        "list": list, "tuple": tuple, "set": set, "frozenset": frozenset,
    }  # fmt: skip
    return made[kind](map(_as_it_was, body))
