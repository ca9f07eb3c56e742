"""Functions of ours inside a database that runs in this process (SQLite, DuckDB).

Lowerings ask for a function here and write its name in SQL; drivers give it to the database before
the first statement that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cep.plan.types import Type

PREFIX = "mt5cep_"


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """`call` gets a row's values (null is None) and gives one, always the same for the same.

    `columns`, if it is there, does so for many rows without null: NumPy arrays become an array of
    values, and one that says which are null.
    """

    name: str
    call: Callable[..., Any]
    arguments: tuple[Type, ...]
    result: Type
    columns: Callable[..., tuple[Any, Any]] | None = None


_functions: list[OwnFunction] = []
_by_key: dict[object, OwnFunction] = {}


def own_function(
    key: object,
    hint: str,
    make: Callable[[], Callable[..., Any]],
    arguments: Sequence[Type],
    result: Type,
    columns: Callable[..., tuple[Any, Any]] | None = None,
) -> str:
    """The name under which SQL calls a function; made when `key` is asked for the first time."""
    if key not in _by_key:
        letters = "".join(letter if letter.isalnum() else "_" for letter in hint.lower())
        name = f"{PREFIX}{letters}_{len(_functions)}"
        _by_key[key] = OwnFunction(name, make(), tuple(arguments), result, columns)
        _functions.append(_by_key[key])
    return _by_key[key].name


def own_functions(start: int = 0) -> Sequence[OwnFunction]:
    """All from number `start` on, in the order in which they were asked for."""
    return _functions[start:]
