"""How a database computes a function. The words that SQL is written in are the caller's.

`Sql` stands for `cep.database.vocabulary`, and `Element` for an expression of SQLAlchemy: a
definition needs neither unless a database asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Sql: TypeAlias = Any
Element: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Sums:
    """An aggregator made of whole numbers of each row that are summed up: the `terms`, by name.

    `result` gets their sums over the rows in the window, in that order.
    """

    terms: Mapping[str, Callable[[Sql, Element], Element]]
    result: Callable[[Sql, Sequence[Element]], Element]


@dataclass(frozen=True, slots=True)
class ExactSums:
    """It is a `share` of the exact sum of the values, and for a deviation of their squares."""

    share: Literal["sum", "avg", "stdDev"]


@dataclass(frozen=True, slots=True)
class Looked:
    """It is looked for among the rows in the window, for sums do not tell.

    `over(sql, value, frame)`: the aggregate of a column; each aggregate function of SQL in it is
    handed to `frame`. Where `further` is given, it is also the least or greatest of all rows so
    far, and this SQL function tells which.
    """

    over: Callable[[Sql, Element, Callable[[Element], Element]], Element]
    further: Literal["min", "max"] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The least or greatest of all rows there ever were, by this function of SQL."""

    further: Literal["min", "max"]


Summarise: TypeAlias = "Sums | ExactSums | Looked | Record"


@dataclass(frozen=True, slots=True)
class Never:
    """No such database does it, by its nature: why."""

    why: str


Write: TypeAlias = "Callable[[Sql, Any, Sequence[Element]], Element]"
"""A call with its arguments in SQL."""
