"""Typed expressions of the plan. Null follows Siddhi: see `docs/rule-language.md`, section Null."""

from __future__ import annotations

from dataclasses import dataclass

from cep.plan.types import Type


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; `value` None is null."""

    value: str | int | float | bool | None
    type: Type


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the row that arrives on the statement's source stream."""

    position: int
    name: str
    type: Type


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
    """`eventTimestamp()`: the row's time in ms UTC."""

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
    """A scalar function: coalesce, ifThenElse, maximum or minimum."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type


Expression = (
    Constant
    | Column
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


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression, left to right."""
    match expression:
        case Arithmetic() | Comparison() | Logical():
            return (expression.left, expression.right)
        case Not() | IsNull():
            return (expression.operand,)
        case Call():
            return expression.arguments
        case _:
            return ()


def walk(expression: Expression) -> list[Expression]:
    """The expression and everything below it, operands before operators."""
    return [node for child in children(expression) for node in walk(child)] + [expression]
