"""Expressions."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.nodes import Duration, Literal, Name, Node


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`[3]`, `[last]` (`from_last` 0), `[last - 1]` (`from_last` 1): one event of a collection."""

    number: int = 0
    from_last: int | None = None


@dataclass(frozen=True, slots=True)
class Reference(Node):
    """`name`, `stream.name`, `e1[0].name`; `marker` is `#` or `!` before the stream's name."""

    name: Name
    stream: Name | None = None
    index: Index | None = None
    marker: str = ""


@dataclass(frozen=True, slots=True)
class EventReference(Node):
    """`e1` or `e1[last]` in front of `is null`: whether the event is there.

    A bare name is one when the query has named a stream or an event so before; else `Reference`.
    """

    stream: Name
    index: Index | None = None
    marker: str = ""


@dataclass(frozen=True, slots=True)
class In(Node):
    """`operand in TABLE`: whether a row of the table makes the condition true."""

    operand: Expression
    table: Name


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`op` is `not` or `-`."""

    op: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`op` is an arithmetic, comparison or logical operator."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    """`operand is null`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`[namespace:]function(arguments)`; `arguments` is None for `function(*)`."""

    function: Name
    arguments: tuple[Expression, ...] | None
    namespace: Name | None = None


Expression = Literal | Duration | Reference | EventReference | Unary | Binary | IsNull | In | Call
