"""Typed expressions to Python source over locals. Null: NaN in floats, `NULL` elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from cep.engine.codegen.constants import Constants
from cep.engine.layout import is_float
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
from cep.plan.types import Type

INTEGER = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}


@dataclass(frozen=True, slots=True)
class Scope:
    """The locals an expression may use, and where constants lie."""

    columns: tuple[str, ...]
    time: str
    constants: Constants
    aggregates: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def condition(self, expression: Expression) -> str:
        """Source that is True or False; null is False."""
        match expression:
            case Comparison():
                return self._comparison(expression)
            case Logical():
                left, right = self.condition(expression.left), self.condition(expression.right)
                return f"({left} {expression.op} {right})"
            case Not():
                return f"(not {self.condition(expression.operand)})"
            case IsNull():
                operand = self.value(expression.operand)
                test = f"isnan({operand})" if is_float(expression.operand.type) else None
                return test or f"({operand} == NULL)"
            case Constant():
                return "True" if expression.value else "False"
            case _:
                return f"({self.value(expression)} == 1)"

    def value(self, expression: Expression) -> str:
        """Source of the value: float for float and double, int for all else."""
        match expression:
            case Constant():
                return self._constant(expression)
            case Column():
                return self.columns[expression.position]
            case Aggregated():
                return self.aggregates[expression.position]
            case Output():
                return self.outputs[expression.position]
            case EventTime():
                return self.time
            case Arithmetic():
                return self._arithmetic(expression)
            case Call():
                return self._call(expression)
            case _:
                return f"int({self.condition(expression)})"

    def as_type(self, expression: Expression, type_: Type) -> str:
        """The value widened to a numeric type."""
        source = self.value(expression)
        if is_float(type_) and not is_float(expression.type):
            name = "int_to_float32" if type_ is Type.FLOAT else "to_float"
            return f"{name}({source})"
        return source

    def _constant(self, constant: Constant) -> str:
        value = constant.value
        if value is None:
            return "nan" if is_float(constant.type) else "NULL"
        return self.constants.source(value, constant.type)

    def _arithmetic(self, node: Arithmetic) -> str:
        left, right = self.as_type(node.left, node.type), self.as_type(node.right, node.type)
        if not is_float(node.type):
            source = f"{INTEGER[node.op]}({left}, {right})"
            return f"wrap_int({source})" if node.type is Type.INT else source
        source = f"({left} {node.op} {right})"
        if node.op == "/" and not _is_nonzero(node.right):
            source = f"divide_float({left}, {right})"
        elif node.op == "%":
            source = f"modulo_float({left}, {right})"
        return f"to_float32({source})" if node.type is Type.FLOAT else source

    def _comparison(self, node: Comparison) -> str:
        op = node.op
        if is_float(node.left.type) or is_float(node.right.type):
            left, right = (self.as_type(side, Type.DOUBLE) for side in (node.left, node.right))
            return f"({left} {op} {right})"
        left, right = self.value(node.left), self.value(node.right)
        if op in (">", ">="):
            op, left, right = op.replace(">", "<"), right, left
        names = {"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal"}
        return f"{names[op]}({left}, {right})"

    def _call(self, node: Call) -> str:
        scalar = scalar_of(node.function)
        assert scalar is not None and scalar.native is not None
        return scalar.native.write(Written(node, self))


@dataclass(frozen=True, slots=True)
class Written:
    """A call whose arguments a scope writes; see `cep.plan.functions.native.Written`."""

    call: Call
    scope: Scope

    def value(self, place: int) -> str:
        return self.scope.value(self.call.arguments[place])

    def double(self, place: int) -> str:
        return self.scope.as_type(self.call.arguments[place], Type.DOUBLE)

    def alike(self, place: int) -> str:
        return self.scope.as_type(self.call.arguments[place], self.call.type)

    def truth(self, place: int) -> str:
        return self.scope.condition(self.call.arguments[place])


def _is_nonzero(expression: Expression) -> bool:
    return isinstance(expression, Constant) and bool(expression.value)
