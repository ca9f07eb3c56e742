"""The functions of Siddhi's core."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from cep.interpreter.context import Context
from cep.interpreter.functions.convert import converter
from cep.interpreter.numbers import INT_END, to_float
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Call, Constant
from cep.plan.types import Type

Make = Callable[[Call, list[Evaluator], Context], Evaluator]
"""Makes the evaluator of a call from those of its arguments."""

SMALLEST_DOUBLE = 5e-324
"""Java's `Double.MIN_VALUE`: what Siddhi's `maximum` starts from."""


def _cast(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    return arguments[0]


def _convert(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    value, target = arguments[0], node.arguments[1]
    assert isinstance(target, Constant)
    convert = converter(node.arguments[0].type, Type(str(target.value).lower()))

    def converted(row: Row) -> Any:
        found = value(row)
        return None if found is None else convert(found)

    return converted


def _if_then_else(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    condition, yes, no = arguments
    return lambda row: yes(row) if condition(row) is True else no(row)


def _coalesce(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    def first(row: Row) -> Any:
        for argument in arguments:
            value = argument(row)
            if value is not None and value == value:
                return value
        return None

    return first


def _extreme(pick: Callable[..., Any]) -> Make:
    """`maximum` or `minimum`: nulls do not count."""

    def make(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
        def extreme(row: Row) -> Any:
            known = [value for argument in arguments if (value := argument(row)) is not None]
            return pick(known, default=None)

        found = _narrowed(extreme) if node.type is Type.FLOAT else extreme
        if pick is max and context.compat and len(arguments) > 1:
            return _from_smallest(found, node.type)
        return found

    return make


def _narrowed(extreme: Evaluator) -> Evaluator:
    """The extreme as a 32-bit number, whatever was sent."""

    def narrowed(row: Row) -> float | None:
        found = extreme(row)
        return None if found is None else to_float(found)

    return narrowed


def _from_smallest(extreme: Evaluator, type_: Type) -> Evaluator:
    """The maximum as Siddhi has it: of negative numbers alone it is the smallest above zero."""
    least = 0 if type_ is not Type.DOUBLE else SMALLEST_DOUBLE

    def positive(row: Row) -> Any:
        found = extreme(row)
        return least if found is None or found < least else found

    return positive


def _instance_of(type_: Type) -> Make:
    """A value is of its attribute's type, unless another was sent: types are not checked there."""

    def make(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
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
    match value:
        case np.generic():
            return (NUMPY_TYPES.get(value.dtype.name, Type.OBJECT),)
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


def _create_set(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    value = arguments[0]
    return lambda row: {value(row)}


def _size_of_set(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    argument = arguments[0]

    def size(row: Row) -> int:
        found = argument(row)
        if found is None:
            return 0
        if not isinstance(found, set | frozenset):
            raise TypeError(f"sizeOfSet() needs a set, not a {type(found).__name__}")
        return len(found)

    return size


def _uuid(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """Another for each call, and the same whenever the same records come again."""
    cause, place = context.shared.cause, f"{context.owner or context.place} {context.key}"

    def made(row: Row) -> str:
        call = cause.call(place)
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{cause.n} {cause.at_ms} {call} {place}"))

    return made


def _clock(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """The time of what is under way; in Siddhi's mode what the clock shows."""
    if context.compat:
        return lambda row: context.now_ms
    return lambda row: context.shared.cause.at_ms


def _event_time(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    return lambda row: row.time


CORE: dict[str, Make] = {
    "cast": _cast,
    "convert": _convert,
    "ifThenElse": _if_then_else,
    "coalesce": _coalesce,
    "default": _coalesce,
    "maximum": _extreme(max),
    "minimum": _extreme(min),
    "instanceOfString": _instance_of(Type.STRING),
    "instanceOfInteger": _instance_of(Type.INT),
    "instanceOfLong": _instance_of(Type.LONG),
    "instanceOfFloat": _instance_of(Type.FLOAT),
    "instanceOfDouble": _instance_of(Type.DOUBLE),
    "instanceOfBoolean": _instance_of(Type.BOOL),
    "createSet": _create_set,
    "sizeOfSet": _size_of_set,
    "UUID": _uuid,
    "currentTimeMillis": _clock,
    "eventTimestamp": _event_time,
}
