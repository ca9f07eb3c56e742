"""Expressions of the syntax tree to typed expressions of the plan."""

from __future__ import annotations

import struct

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.lang.unsupported import FUNCTIONS as NOT_BUILT
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
from cep.plan.functions import AGGREGATES, ARITIES, FUNCTIONS, accepted, aggregate_type, canonical
from cep.plan.nodes import Aggregate, Stream
from cep.plan.problems import Problems
from cep.plan.types import Schema, Type, widest

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LIST_HINT = "select the list as it is; expressions take single values"


class Checker:
    """Types the expressions of one statement over its source stream.

    `aggregates` collects the aggregates met; None where none may stand. `outputs` are the
    selected attributes, which `having` sees before those of the stream.
    """

    def __init__(
        self,
        problems: Problems,
        stream: Stream,
        aggregates: list[Aggregate] | None = None,
        outputs: Schema | None = None,
    ) -> None:
        self.problems = problems
        self.stream = stream
        self.aggregates = aggregates
        self.outputs = outputs
        self._inside_aggregate = False

    def condition(self, node: ast.Expression) -> Expression:
        """A bool expression."""
        expression = self.check(node)
        if expression.type is not Type.BOOL:
            message = f"a condition must be a bool, {self._is(node, expression)}"
            raise self.problems.error(node.span, message, "compare it with something")
        return expression

    def selected(self, node: ast.Expression) -> Expression:
        """A selected expression; only here may a list be named."""
        return self.reference(node) if isinstance(node, ast.Reference) else self.check(node)

    def check(self, node: ast.Expression) -> Expression:
        """The typed expression; raises at the innermost place that is wrong."""
        match node:
            case ast.Literal():
                return _constant(node)
            case ast.Duration():
                return Constant(node.ms, Type.LONG)
            case ast.Reference():
                return self._value(node)
            case ast.Unary():
                return self._unary(node)
            case ast.Binary():
                return self._binary(node)
            case ast.IsNull():
                return IsNull(self.check(node.operand))
            case ast.Call():
                return self._call(node)

    def reference(self, node: ast.Reference) -> Column | Output:
        """The attribute a reference names."""
        name = node.name.text
        if node.stream is not None and node.stream.text != self.stream.name:
            message = f"`{node.stream.text}` is not read here"
            hint = f"the source is `{self.stream.name}`"
            raise self.problems.error(node.stream.span, message, hint)
        if self.outputs is not None and node.stream is None:
            position = self.outputs.position(name)
            if position >= 0:
                return Output(position, name, self.outputs.attributes[position].type)
        position = self.stream.schema.position(name)
        if position < 0:
            raise self._unknown(node)
        return Column(position, name, self.stream.schema.attributes[position].type)

    def _unknown(self, node: ast.Reference) -> Exception:
        name = node.name.text
        known = self.stream.schema.names + (self.outputs.names if self.outputs else ())
        hint = suggestion(name, known)
        if name.lower() == "null":
            hint = "test for null with `x is null`"
        message = f"stream `{self.stream.name}` has no attribute `{name}`"
        return self.problems.error(node.name.span, message, hint)

    def _value(self, node: ast.Reference) -> Expression:
        column = self.reference(node)
        if column.type is Type.LIST:
            message = f"`{column.name}` is a list and cannot be computed with"
            raise self.problems.error(node.span, message, LIST_HINT)
        return column

    def _unary(self, node: ast.Unary) -> Expression:
        operand = self.check(node.operand)
        if node.op == "-":
            self._need_number(node.operand, operand, "-")
            return Arithmetic("*", Constant(-1, Type.INT), operand, operand.type)
        if operand.type is not Type.BOOL:
            message = f"`not` needs a bool, {self._is(node.operand, operand)}"
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
            message = f"`{op}` needs bools, {self._is(node, value)}"
            raise self.problems.error(node.span, message, "compare it with something")

    def _need_number(self, node: ast.Expression, value: Expression, op: str) -> None:
        if not value.type.is_numeric:
            message = f"`{op}` needs numbers, {self._is(node, value)}"
            hint = "strings have only `==` and `!=`" if value.type is Type.STRING else ""
            raise self.problems.error(node.span, message, hint)

    def _need_comparable(self, node: ast.Binary, left: Expression, right: Expression) -> None:
        if left.type.is_numeric and right.type.is_numeric:
            return
        if left.type is not right.type:
            message = (
                f"cannot compare {self._described(node.left, left)}"
                f" with {self._described(node.right, right)}"
            )
            raise self.problems.error(node.span, message, "both sides must be of one kind")
        if node.op not in ("==", "!="):
            message = f"`{node.op}` needs numbers, {self._is(node.left, left)}"
            hint = f"{_a(left.type)} has only `==` and `!=`"
            raise self.problems.error(node.span, message, hint)

    def _call(self, node: ast.Call) -> Expression:
        function = canonical(node.function.text)
        if function is None:
            raise self._unknown_function(node)
        self._need_arity(node, function)
        if function in AGGREGATES:
            return self._aggregate(node, function)
        if function == "eventTimestamp":
            return EventTime()
        arguments = self._arguments(node, function)
        return Call(function, arguments, arguments[-1].type)

    def _unknown_function(self, node: ast.Call) -> Exception:
        name = node.function.text
        if name.lower() in (known.lower() for known in NOT_BUILT):
            hint = "built are: " + ", ".join(FUNCTIONS + AGGREGATES)
            return self.problems.error(
                node.function.span, f"function `{name}` is not supported yet", hint
            )
        hint = suggestion(name, FUNCTIONS + AGGREGATES)
        return self.problems.error(node.function.span, f"unknown function `{name}`", hint)

    def _need_arity(self, node: ast.Call, function: str) -> None:
        least, most = ARITIES[function]
        if least <= len(node.arguments) <= most:
            return
        wanted = str(least) if least == most else f"{least} or more" if most > 9 else "0 or 1"
        noun = "argument" if wanted in ("1", "0 or 1") else "arguments"
        message = f"`{function}` takes {wanted} {noun}, {len(node.arguments)} given"
        raise self.problems.error(node.span, message)

    def _arguments(self, node: ast.Call, function: str) -> tuple[Expression, ...]:
        arguments: list[Expression] = []
        shared: Type | None = None
        for position, argument in enumerate(node.arguments):
            value = self.check(argument)
            types = accepted(function, position, shared)
            if value.type not in types:
                wanted = _a(types[0]) if len(types) == 1 else "a number"
                message = f"`{function}` needs {wanted} here, {self._is(argument, value)}"
                hint = "all its values must have one type" if shared is not None else ""
                raise self.problems.error(argument.span, message, hint)
            if (function, position) != ("ifThenElse", 0):
                shared = value.type
            arguments.append(value)
        return tuple(arguments)

    def _aggregate(self, node: ast.Call, function: str) -> Expression:
        self._need_aggregate_allowed(node, function)
        self._inside_aggregate = True
        arguments = self._arguments(node, function)
        self._inside_aggregate = False
        type_ = aggregate_type(function, arguments[0].type if arguments else None)
        # count counts rows, nulls too, so its argument changes nothing
        argument = arguments[0] if arguments and function != "count" else None
        assert self.aggregates is not None
        aggregate = Aggregate(function, argument, type_)
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        return Aggregated(self.aggregates.index(aggregate), type_)

    def _need_aggregate_allowed(self, node: ast.Call, function: str) -> None:
        if self._inside_aggregate:
            message = f"aggregate `{function}` inside an aggregate"
            hint = "insert the inner one into a stream first"
            raise self.problems.error(node.span, message, hint)
        if self.aggregates is None:
            message = f"aggregate `{function}` can stand only in `select`"
            hint = "select it with a name, then use that name"
            raise self.problems.error(node.span, message, hint)

    def _is(self, node: ast.Expression, value: Expression) -> str:
        return f"{self.problems.text(node.span)} is {_a(value.type)}"

    def _described(self, node: ast.Expression, value: Expression) -> str:
        return f"{self.problems.text(node.span)} ({value.type})"


def _a(type_: Type) -> str:
    return f"an {type_}" if type_ is Type.INT else f"a {type_}"


def _constant(node: ast.Literal) -> Constant:
    type_ = Type(node.type)
    if type_ is Type.FLOAT:
        (single,) = struct.unpack("f", struct.pack("f", node.value))
        return Constant(single, type_)
    return Constant(node.value, type_)


def need_string_attribute(problems: Problems, stream: Stream, name: ast.Name) -> Column:
    """The string attribute a `for each` names."""
    reference = ast.Reference(name, span=name.span)
    column = Checker(problems, stream).reference(reference)
    if column.type is not Type.STRING or not isinstance(column, Column):
        strings = [a.name for a in stream.schema.attributes if a.type is Type.STRING]
        hint = suggestion(name.text, strings) or f"`{stream.name}` has no string attribute"
        message = f"`for each` needs a string attribute, `{name.text}` is {_a(column.type)}"
        raise problems.error(name.span, message, hint)
    return column
