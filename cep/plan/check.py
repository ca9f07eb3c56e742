"""Expressions of the syntax tree to typed expressions of the plan."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan.calls import Calls
from cep.plan.expressions import (
    Aggregate,
    Arithmetic,
    Collected,
    Column,
    Comparison,
    Constant,
    Expression,
    InTable,
    IsNull,
    Logical,
    Missing,
    Not,
)
from cep.plan.kinds import unknown
from cep.plan.nodes import Table
from cep.plan.problems import Problems, Skip, with_article
from cep.plan.scope import Scope, is_list, one_row
from cep.plan.types import Schema, Type, widest

NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LIST_HINT = "select the list as it is; expressions take single values"


class Checker:
    """Types the expressions of one clause.

    `aggregates` collects the aggregates met; None where none may stand. `tables` are those that
    `in` may ask; None where it may ask none.
    """

    def __init__(
        self,
        scope: Scope,
        aggregates: list[Aggregate] | None = None,
        tables: Mapping[str, Table] | None = None,
    ) -> None:
        self.scope = scope
        self.problems: Problems = scope.problems
        self.aggregates = aggregates
        self.tables = tables
        self.calls = Calls(self)

    def condition(self, node: ast.Expression) -> Expression:
        """A bool expression."""
        expression = self.check(node)
        if expression.type is not Type.BOOL:
            message = f"a condition must be a bool, {self.described_as(node, expression)}"
            raise self.problems.error(node.span, message, "compare it with something")
        return expression

    def selected(self, node: ast.Expression) -> Expression:
        """A selected expression; only here may a list be named."""
        return self.reference(node) if isinstance(node, ast.Reference) else self.check(node)

    def check(self, node: ast.Expression) -> Expression:
        """The typed expression; raises at the innermost place that is wrong."""
        match node:
            case ast.Literal():
                return constant(node)
            case ast.Duration():
                return Constant(node.ms, Type.LONG)
            case ast.Reference():
                return self._value(node)
            case ast.EventReference():
                raise self._event_as_value(node)
            case ast.Unary():
                return self._unary(node)
            case ast.Binary():
                return self._binary(node)
            case ast.IsNull():
                return self._is_null(node)
            case ast.In():
                return self._in_table(node)
            case ast.Call():
                return self.calls.call(node)

    def reference(self, node: ast.Reference) -> Expression:
        """The attribute a reference names."""
        return self.scope.attribute(node)

    def _value(self, node: ast.Reference) -> Expression:
        value = self.reference(node)
        if is_list(value):
            message = f"`{node.name.text}` is a list and cannot be computed with"
            raise self.problems.error(node.span, message, LIST_HINT)
        return value

    def _event_as_value(self, node: ast.EventReference) -> Exception:
        hint = f"name one of its attributes: `{node.stream.text}.ATTRIBUTE`"
        return self.problems.error(node.span, "an event is no value", hint)

    def _is_null(self, node: ast.IsNull) -> Expression:
        """`e1 is null` asks for the event; an attribute of that name comes first."""
        operand = node.operand
        if not isinstance(operand, ast.EventReference):
            return IsNull(self.check(operand))
        if operand.index is None and not self.scope.is_event(operand.marker + operand.stream.text):
            return IsNull(self.check(ast.Reference(operand.stream, span=operand.span)))
        place = self.scope.event(operand.stream, operand.marker)
        index = self.scope.index(place, operand.index)
        return Constant(True, Type.BOOL) if index is None else Missing(place.slot, index)

    def _in_table(self, node: ast.In) -> Expression:
        """`condition in T`, or `value in T`: the value is the primary key, or the first column."""
        table = self._table(node.table)
        inside = Checker(self.scope.with_table(table.name, table.schema), None, self.tables)
        operand = inside.check(node.operand)
        if operand.type is Type.BOOL:
            return InTable(table.name, operand)
        return InTable(table.name, self._is_key(node, table, operand))

    def _table(self, name: ast.Name) -> Table:
        tables = self.tables or {}
        if name.text in tables:
            return tables[name.text]
        kind = self.problems.kinds.get(name.text)
        if kind is None or kind.noun != "table":
            hint = suggestion(name.text, tables) or "tables come from `define table`"
            raise unknown(self.problems, name, "table", hint)
        if self.tables is None:
            message = f"`{name.text}` is a table, and no table can be asked here"
            hint = f"ask it in a query: `from S[x in {name.text}] select .. insert into ..`"
            raise self.problems.error(name.span, message, hint)
        if kind.start < name.span.start:
            raise Skip  # its definition is in error
        hint = "move its definition above this statement"
        message = f"table `{name.text}` is used before it exists"
        raise self.problems.error(name.span, message, hint)

    def _is_key(self, node: ast.In, table: Table, operand: Expression) -> Expression:
        positions = table.primary_key or (0,)
        attribute = table.schema.attributes[positions[0]]
        if len(positions) > 1 or attribute.type is not operand.type:
            message = f"`in {table.name}` needs a condition on its rows"
            hint = f"for example `(x == {table.name}.{attribute.name}) in {table.name}`"
            raise self.problems.error(node.span, message, hint)
        key = Column(positions[0], attribute.name, attribute.type, -1)
        return Comparison("==", operand, key)

    def _unary(self, node: ast.Unary) -> Expression:
        operand = self.check(node.operand)
        if node.op == "-":
            self._need_number(node.operand, operand, "-")
            return Arithmetic("*", Constant(-1, Type.INT), operand, operand.type)
        if operand.type is not Type.BOOL:
            message = f"`not` needs a bool, {self.described_as(node.operand, operand)}"
            hint = "`not` binds tighter than every other operator: write `not (...)`"
            raise self.problems.error(node.operand.span, message, hint)
        return Not(operand)

    def _binary(self, node: ast.Binary) -> Expression:
        left, right = self.check(node.left), self.check(node.right)
        if node.op in ("and", "or"):
            self._need_bool(node.left, left, node.op)
            self._need_bool(node.right, right, node.op)
            return Logical(node.op, left, right)
        if node.op in COMPARISONS:
            self._need_comparable(node, left, right)
            return Comparison(node.op, left, right)
        self._need_number(node.left, left, node.op)
        self._need_number(node.right, right, node.op)
        return Arithmetic(node.op, left, right, widest(left.type, right.type))

    def _need_bool(self, node: ast.Expression, value: Expression, op: str) -> None:
        if value.type is not Type.BOOL:
            message = f"`{op}` needs bools, {self.described_as(node, value)}"
            raise self.problems.error(node.span, message, "compare it with something")

    def _need_number(self, node: ast.Expression, value: Expression, op: str) -> None:
        if not value.type.is_numeric:
            message = f"`{op}` needs numbers, {self.described_as(node, value)}"
            hint = "strings have only `==` and `!=`" if value.type is Type.STRING else ""
            if op == "+" and hint:
                hint = "strings are joined by `str:concat(a, b)`"
            if isinstance(value, Collected):
                hint = "say which event: `e1[0].a`, `e1[last].a`"
            raise self.problems.error(node.span, message, hint)

    def _need_comparable(self, node: ast.Binary, left: Expression, right: Expression) -> None:
        if left.type.is_numeric and right.type.is_numeric:
            return
        if left.type is not right.type:
            message = (
                f"cannot compare {self._described(node.left, left)}"
                f" with {self._described(node.right, right)}"
            )
            raise self.problems.error(node.span, message, _comparable_hint(node, left, right))
        if node.op not in ("==", "!="):
            message = f"`{node.op}` needs numbers, {self.described_as(node.left, left)}"
            hint = f"{with_article(left.type)} has only `==` and `!=`"
            raise self.problems.error(node.span, message, hint)

    def described_as(self, node: ast.Expression, value: Expression) -> str:
        """`x` is a string."""
        return f"{self.problems.text(node.span)} is {with_article(value.type)}"

    def _described(self, node: ast.Expression, value: Expression) -> str:
        return f"{self.problems.text(node.span)} ({value.type})"


def _comparable_hint(node: ast.Binary, left: Expression, right: Expression) -> str:
    """How to compare what are two kinds of values."""
    for one, other in ((left, right), (right, left)):
        value = other.value if isinstance(other, Constant) else None
        if one.type is Type.STRING and other.type.is_numeric and value is not None:
            return f"a string stands in quotes: `'{value}'`"
        if one.type.is_numeric and isinstance(value, str) and _is_number(value):
            return f"a number stands without quotes: `{value}`"
        if one.type is Type.BOOL and other.type.is_numeric:
            return _bool_hint(node)
    return "both sides must be of one kind; `convert(x, 'double')` makes one of another"


def _bool_hint(node: ast.Binary) -> str:
    compared = isinstance(node.left, ast.Binary) and node.left.op in COMPARISONS
    if compared and node.op in COMPARISONS:
        return "join comparisons with `and`: `1 < x and x < 2`"
    return "a bool is a condition by itself: `x`, `not x` or `x == true`"


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def constant(node: ast.Literal) -> Constant:
    """The constant a literal is; floats have single precision."""
    type_ = Type(node.type)
    if type_ is Type.FLOAT:
        (single,) = struct.unpack("f", struct.pack("f", node.value))
        return Constant(single, type_)
    return Constant(node.value, type_)


def need_string_attribute(
    problems: Problems, name_of_stream: str, schema: Schema, name: ast.Name
) -> Column:
    """The string attribute a `for each` names."""
    reference = ast.Reference(name, span=name.span)
    column = one_row(problems, name_of_stream, schema).attribute(reference)
    if column.type is not Type.STRING or not isinstance(column, Column):
        strings = [one.name for one in schema.attributes if one.type is Type.STRING]
        hint = suggestion(name.text, strings) or f"`{name_of_stream}` has no string attribute"
        message = (
            f"`for each` needs a string attribute, `{name.text}` is {with_article(column.type)}"
        )
        raise problems.error(name.span, message, hint)
    return column
