"""Expressions of a plan as SQL. Null is NULL; NaN is null in both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from cep.database import vocabulary
from cep.database.calls import called
from cep.database.conversions import wrapped_int
from cep.database.dialects.base import PRODUCT, Dialect, Element
from cep.database.errors import Refusal
from cep.plan.expressions import (
    Aggregated,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    IsNull,
    Logical,
    Not,
    Output,
)
from cep.plan.functions import scalar_of
from cep.plan.functions.sql import Never, Write
from cep.plan.types import Type, widest

Find = Callable[[Column | EventTime], Element]
"""The SQL of an attribute, or of a row's time."""

FindResult = Callable[[Aggregated | Output], Element]
"""The SQL of a query's aggregates and selected values, which `having` may name."""


class Lowering:
    """Writes the expressions of one query for one database; Refusal for what it cannot."""

    def __init__(self, dialect: Dialect, find: Find, find_result: FindResult | None = None) -> None:
        self._dialect = dialect
        self._find = find
        self._find_result = find_result

    def value(self, node: Expression) -> Element:
        """The value of an expression, NULL where it is null."""
        match node:
            case Constant():
                return self._constant(node)
            case Column() | EventTime():
                return self._find(node)
            case Aggregated() | Output() if self._find_result is not None:
                return self._find_result(node)
            case Arithmetic():
                return self._arithmetic(node)
            case Call():
                return self._call(node)
            case Comparison() | Logical() | Not() | IsNull():
                return self._known(node)
            case _:
                raise Refusal("never", f"{type(node).__name__} has no meaning in a statement")

    def truth(self, node: Expression) -> Element:
        """A condition that may be NULL where it is false: for `WHERE`, `and` and `or`."""
        match node:
            case Comparison():
                return self._comparison(node)
            case Logical(op="and"):
                return sa.and_(self.truth(node.left), self.truth(node.right))
            case Logical():
                return sa.or_(self.truth(node.left), self.truth(node.right))
            case Not():
                return sa.not_(self._known(node.operand))
            case IsNull():
                return self.value(node.operand).is_(None)
            case Constant(value=bool(value)):
                return sa.true() if value else sa.false()
            case _:
                return self.value(node).is_(True)

    def _known(self, node: Expression) -> Element:
        """A condition that is true or false."""
        if isinstance(node, IsNull):
            return self.truth(node)
        return sa.func.coalesce(self.truth(node), sa.false())

    def _constant(self, node: Constant) -> Element:
        type_ = self._column_type(node.type)
        if node.value is None:
            return sa.cast(sa.null(), type_)
        if isinstance(node.value, bool):
            return sa.true() if node.value else sa.false()
        value = float(np.float32(node.value)) if node.type is Type.FLOAT else node.value
        return sa.cast(sa.literal(value, type_), type_)

    def _column_type(self, type_: Type) -> sa.types.TypeEngine[Any]:
        if type_ not in self._dialect.column_types:
            reason = self._dialect.never.get(type_, "it cannot be stored")
            raise Refusal("never", f"{type_}: {reason}")
        return self._dialect.column_types[type_]

    def _arithmetic(self, node: Arithmetic) -> Element:
        left, right = (self._widened(side, node.type) for side in (node.left, node.right))
        operation = f"{node.op} {node.type}"
        if operation in self._dialect.never:
            raise Refusal("never", f"`{operation}`: {self._dialect.never[operation]}")
        own = self._dialect.arithmetic.get((node.op, node.type))
        found = own(left, right) if own is not None else _OPERATIONS[node.op](left, right)
        if node.type is Type.INT:
            return wrapped_int(found)
        narrow = self._dialect.narrow.get(node.type)
        return found if narrow is None else narrow(found)

    def _widened(self, node: Expression, type_: Type) -> Element:
        value = self.value(node)
        if type_ not in (Type.FLOAT, Type.DOUBLE) or node.type is type_:
            return value
        if type_ is Type.FLOAT and self._dialect.as_float is not None:
            return self._dialect.as_float(value)
        return sa.cast(value, self._column_type(type_))

    def _comparison(self, node: Comparison) -> Element:
        left, right = node.left, node.right
        if left.type.is_numeric and right.type.is_numeric:
            type_ = widest(left.type, right.type)
            sides = self._widened(left, type_), self._widened(right, type_)
        else:
            sides = self.value(left), self.value(right)
        if node.op == "!=":
            return sa.func.coalesce(sides[0] != sides[1], sa.true())
        return _COMPARISONS[node.op](*sides)

    def _call(self, node: Call) -> Element:
        name, dialect = node.function, self._dialect
        scalar = scalar_of(name)
        written = None if scalar is None else scalar.sql_on(dialect.forms)
        if isinstance(written, Never):
            raise Refusal("never", f"{name}: {written.why}")
        if name == "eventTimestamp":
            return self._find(EventTime())
        values = [self.value(argument) for argument in node.arguments]
        if dialect.in_process:
            return _written_or_called(written, node, values)
        if written is None:
            raise Refusal("never", f"{name}: a server does not call functions of ours")
        return written(vocabulary, node, values)  # type: ignore[no-any-return]


def _written_or_called(written: Write | None, node: Call, values: Sequence[Element]) -> Element:
    """A call in SQL, or where SQL has no exact way as the interpreter does it."""
    if written is None:
        return called(node, values)
    try:
        return written(vocabulary, node, values)  # type: ignore[no-any-return]
    except Refusal:
        return called(node, values)


def _divided(left: Element, right: Element) -> Element:
    # `left / right` of SQLAlchemy would make whole numbers real, and doubles decimal
    return left.op("/", PRODUCT, return_type=left.type)(sa.func.nullif(right, 0, type_=right.type))


_OPERATIONS: dict[str, Callable[[Element, Element], Element]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": lambda left, right: left % sa.func.nullif(right, 0, type_=right.type),
}
_COMPARISONS: dict[str, Callable[[Element, Element], Element]] = {
    "==": lambda left, right: left == right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
