"""Typed expressions to Python source over locals. Null: NaN in floats, `NULL` elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cep.engine.codegen.functions import WRITERS
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
from cep.plan.types import Type

INTEGER = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
FUNCTIONS = {
    ("maximum", True): "larger_float",
    ("maximum", False): "larger",
    ("minimum", True): "smaller_float",
    ("minimum", False): "smaller",
    ("coalesce", True): "coalesce_float",
    ("coalesce", False): "coalesce",
    ("default", True): "coalesce_float",
    ("default", False): "coalesce",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The locals an expression may use, and where string literals get their codes."""

    columns: tuple[str, ...]
    time: str
    code_of: Callable[[str], int]
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
        if isinstance(value, str):
            return str(self.code_of(value))
        if is_float(constant.type):
            text = repr(float(value))
            return f"to_float32({text})" if constant.type is Type.FLOAT else text
        return str(int(value))

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
        if node.function == "ifThenElse":
            test, yes, no = node.arguments
            yes_source, no_source = self.as_type(yes, node.type), self.as_type(no, node.type)
            return f"({yes_source} if {self.condition(test)} else {no_source})"
        if node.function in WRITERS:
            return self._written(node)
        name = FUNCTIONS[node.function, is_float(node.type)]
        source = self.as_type(node.arguments[0], node.type)
        for argument in node.arguments[1:]:
            source = f"{name}({source}, {self.as_type(argument, node.type)})"
        return source

    def _written(self, node: Call) -> str:
        values = [self.value(argument) for argument in node.arguments]
        doubles = [
            self.as_type(argument, Type.DOUBLE) if argument.type.is_numeric else ""
            for argument in node.arguments
        ]
        return WRITERS[node.function](node, values, doubles)


def _is_nonzero(expression: Expression) -> bool:
    return isinstance(expression, Constant) and bool(expression.value)
