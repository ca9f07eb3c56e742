"""Typed expressions of the plan. Null follows Siddhi: see `docs/rule-language.md`, section Null."""

from __future__ import annotations

from dataclasses import dataclass

from cep.plan.types import Type

TABLE_SLOT = -1
"""The slot of a table's row in a condition on rows of the table."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; `value` None is null."""

    value: str | int | float | bool | None
    type: Type


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the row in `slot` (0 where there is one source; see `cep.plan.query`).

    In a slot that collects several rows `index` counts from the first (0, 1, ..) or from the last
    (-1, -2, ..).
    """

    position: int
    name: str
    type: Type
    slot: int = 0
    index: int = 0


@dataclass(frozen=True, slots=True)
class Collected:
    """The list of an attribute's values over all rows a slot has collected."""

    position: int
    name: str
    slot: int
    type: Type = Type.OBJECT


@dataclass(frozen=True, slots=True)
class Missing:
    """`e1 is null`, `e1[2] is null`: whether a slot holds no such row."""

    slot: int
    index: int = 0
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class InTable:
    """`condition in table`: whether the condition is true on any of the table's rows."""

    table: str
    condition: Expression
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Aggregated:
    """The value of the query's aggregate number `position` after the arriving row."""

    position: int
    type: Type


@dataclass(frozen=True, slots=True)
class Output:
    """An attribute of the row being selected; only in `having`."""

    position: int
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class EventTime:
    """`eventTimestamp()`: the row's time in ms UTC; `eventTimestamp(e1)`: that of a slot."""

    slot: int | None = None
    type: Type = Type.LONG


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`op` is one of + - * / %; division or modulo by zero is null; ints wrap."""

    op: str
    left: Expression
    right: Expression
    type: Type


@dataclass(frozen=True, slots=True)
class Comparison:
    """`op` is one of == != < <= > >=; with a null operand only != is true."""

    op: str
    left: Expression
    right: Expression
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Logical:
    """`op` is `and` or `or`; null counts as false."""

    op: str
    left: Expression
    right: Expression
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Not:
    """Negation; `not` of null is true."""

    operand: Expression
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class IsNull:
    """True when the operand is null."""

    operand: Expression
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function of `cep.plan.functions`; `digest` says which, where it is the user's."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type
    digest: str = ""


Expression = (
    Constant
    | Column
    | Collected
    | Missing
    | InTable
    | Aggregated
    | Output
    | EventTime
    | Arithmetic
    | Comparison
    | Logical
    | Not
    | IsNull
    | Call
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregator of `cep.plan.functions` over the window's rows; count() has no argument.

    `digest` says which indicator it is, where it is the user's.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: Type
    digest: str = ""

    @property
    def argument(self) -> Expression | None:
        """The first argument."""
        return self.arguments[0] if self.arguments else None


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression, left to right."""
    match expression:
        case Arithmetic() | Comparison() | Logical():
            return (expression.left, expression.right)
        case Not() | IsNull():
            return (expression.operand,)
        case InTable():
            return (expression.condition,)
        case Call():
            return expression.arguments
        case _:
            return ()


def walk(expression: Expression) -> list[Expression]:
    """The expression and everything below it, operands before operators."""
    return [node for child in children(expression) for node in walk(child)] + [expression]
