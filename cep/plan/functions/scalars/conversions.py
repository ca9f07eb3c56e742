"""Values as another type, and what type they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from cep.plan.expressions import Call, Constant, Expression
from cep.plan.functions.base import Evaluate, Make, Scalar, Setting
from cep.plan.functions.convert import converter
from cep.plan.functions.native import NULL, Source, Written
from cep.plan.functions.sql import Element, Sql
from cep.plan.numbers import INT_END, to_float
from cep.plan.problems import with_article
from cep.plan.signatures import ANY, TEXT, Parameter, Signature
from cep.plan.types import Type

ENDS = {Type.INT: repr(2.0**31), Type.LONG: repr(2.0**63)}
"""The ends of whole numbers, as source."""


def _cast(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    return arguments[0]


def _convert(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    value, target = arguments[0], node.arguments[1]
    assert isinstance(target, Constant)
    convert = converter(node.arguments[0].type, Type(str(target.value).lower()))

    def converted(row: Any) -> Any:
        found = value(row)
        return None if found is None else convert(found)

    return converted


def _instance_of(type_: Type) -> Make:
    """A value is of its attribute's type, unless another was sent: types are not checked there."""

    def make(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
        value, declared = arguments[0], node.arguments[0].type
        return lambda row: type_ in _types_of(value(row), declared)

    return make


NUMPY_TYPES = {
    "bool": Type.BOOL,
    "int32": Type.INT,
    "int64": Type.LONG,
    "float32": Type.FLOAT,
    "float64": Type.DOUBLE,
}


def _types_of(value: Any, declared: Type) -> tuple[Type, ...]:
    """What a value is. Numbers of Python have one kind each, so that of the attribute decides.

    A small whole number in an object is both an int and a long; NumPy's numbers say what they are.
    """
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return (NUMPY_TYPES.get(dtype.name, Type.OBJECT),)
    match value:
        case bool():
            return (Type.BOOL,)
        case int() if declared.is_numeric:
            return (declared,)
        case int():
            return (Type.INT, Type.LONG) if -INT_END <= value < INT_END else (Type.LONG,)
        case float() if declared is Type.FLOAT and (value != value or to_float(value) == value):
            return (declared,)
        case float():
            return (Type.DOUBLE,)
        case str():
            return (Type.STRING,)
        case _:
            return ()


def float_to_whole(value: float, end: float) -> int:
    """Truncated toward zero, stopping at the ends of the type, as Java converts."""
    if math.isnan(value):
        return NULL
    if value >= end:
        return int(end - 1.0) if end < 4294967296.0 else 9223372036854775807
    if value <= -end:
        return int(-end) if end < 4294967296.0 else NULL
    return int(value)


def whole_to_bool(value: int) -> int:
    """Only 1 is true."""
    if value == NULL:
        return NULL
    return int(value == 1)


def float_to_bool(value: float) -> int:
    if math.isnan(value):
        return NULL
    return int(value == 1.0)


def _write_convert(written: Written) -> str:
    source, target, value = written.call.arguments[0].type, written.call.type, written.value(0)
    if target is Type.BOOL:
        kind = "float" if source.is_real else "whole"
        return value if source is Type.BOOL else f"{kind}_to_bool({value})"
    if source.is_real:
        if target in ENDS:
            return f"float_to_whole({value}, {ENDS[target]})"
        return f"to_float32({value})" if target is Type.FLOAT else value
    if target is Type.INT:
        return f"wrap_int({value})" if source is Type.LONG else value
    if target is Type.LONG or source is target:
        return value
    return f"int_to_float32({value})" if target is Type.FLOAT else f"to_float({value})"


def _why_not_cast(call: Call) -> str | None:
    source = call.arguments[0].type
    return None if source is call.type else f"`cast` of {source} to {call.type} is not compiled"


def _why_not_convert(call: Call) -> str | None:
    is_text = Type.STRING in (call.arguments[0].type, call.type)
    return "`convert` of texts is not compiled" if is_text else None


def _write_instance(type_: Type) -> Callable[[Written], str]:
    def write(written: Written) -> str:
        if written.call.arguments[0].type is not type_:
            return "0"
        value = written.value(0)
        return f"int(not isnan({value}))" if type_.is_real else f"int({value} != NULL)"

    return write


def _sql_instance(type_: Type) -> Callable[[Sql, Call, Sequence[Element]], Element]:
    """A value has its attribute's type; null has none."""

    def lower(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
        return values[0].is_not(None) if node.arguments[0].type is type_ else sql.false()

    return lower


def _sql_convert(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    return sql.converted(values[0], node.arguments[0].type, node.type)


def named(arguments: Sequence[Expression]) -> Type:
    """The type that the last argument names."""
    name = arguments[-1]
    assert isinstance(name, Constant)
    return Type(str(name.value).lower())


VALUE = Parameter("x", ANY)
NAMED = Parameter(
    "type", TEXT, "constant", choices=("int", "long", "float", "double", "string", "bool")
)


def _instance(name: str, type_: Type) -> Scalar:
    doc = f"whether the value is {with_article(name.lower())}"
    return Scalar(
        Signature(f"instanceOf{name}", (VALUE,), doc, Type.BOOL),
        _instance_of(type_),
        Source(_write_instance(type_)),
        _sql_instance(type_),
    )


CAST = Scalar(
    Signature(
        "cast",
        (VALUE, NAMED),
        "the value, which is of that type already; selected alone it stays what it is",
        named,
    ),
    _cast,
    Source(lambda call: call.value(0), why_not=_why_not_cast),
    lambda sql, node, values: values[0],
)
CONVERT = Scalar(
    Signature("convert", (VALUE, NAMED), "the value as that type; null when it cannot be", named),
    _convert,
    Source(_write_convert, (float_to_whole, whole_to_bool, float_to_bool), _why_not_convert),
    _sql_convert,
)
STRING = _instance("String", Type.STRING)
INTEGER = _instance("Integer", Type.INT)
LONG = _instance("Long", Type.LONG)
FLOAT = _instance("Float", Type.FLOAT)
DOUBLE = _instance("Double", Type.DOUBLE)
BOOLEAN = _instance("Boolean", Type.BOOL)
