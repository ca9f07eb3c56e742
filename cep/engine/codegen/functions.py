"""Calls of scalar functions as source; which there are, by name and types."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from cep.engine.layout import is_float
from cep.plan.expressions import Call
from cep.plan.types import Type

Sources = Sequence[str]
"""The arguments as source: each value, and each number as a double."""
Write = Callable[[Call, Sources, Sources], str]

INSTANCES = {
    "instanceOfString": Type.STRING,
    "instanceOfInteger": Type.INT,
    "instanceOfLong": Type.LONG,
    "instanceOfFloat": Type.FLOAT,
    "instanceOfDouble": Type.DOUBLE,
    "instanceOfBoolean": Type.BOOL,
}
ENDS = {Type.INT: repr(2.0**31), Type.LONG: repr(2.0**63)}


def _convert(call: Call, values: Sources, doubles: Sources) -> str:
    source, target, value = call.arguments[0].type, call.type, values[0]
    if target is Type.BOOL:
        return value if source is Type.BOOL else f"{_kind(source)}_to_bool({value})"
    if is_float(source):
        if target in ENDS:
            return f"float_to_whole({value}, {ENDS[target]})"
        return f"to_float32({value})" if target is Type.FLOAT else value
    if target is Type.INT:
        return f"wrap_int({value})" if source is Type.LONG else value
    if target is Type.LONG or source is target:
        return value
    return f"int_to_float32({value})" if target is Type.FLOAT else f"to_float({value})"


def _kind(type_: Type) -> str:
    return "float" if is_float(type_) else "whole"


def _is_instance(call: Call, values: Sources, doubles: Sources) -> str:
    declared = call.arguments[0].type
    if declared is not INSTANCES[call.function]:
        return "0"
    return f"int(not isnan({values[0]}))" if is_float(declared) else f"int({values[0]} != NULL)"


def _round(call: Call, values: Sources, doubles: Sources) -> str:
    return f"rounded({doubles[0]}, {ENDS[call.type]})"


def _of_double(name: str) -> Write:
    return lambda call, values, doubles: f"{name}({doubles[0]})"


def _chosen(name: str) -> Write:
    def write(call: Call, values: Sources, doubles: Sources) -> str:
        if is_float(call.type):
            return f"{name}_floats({doubles[0]}, {doubles[1]})"
        return f"{name}({values[0]}, {values[1]})"

    return write


def _constant(value: float) -> Write:
    return lambda call, values, doubles: repr(value)


WRITERS: dict[str, Write] = {
    "cast": lambda call, values, doubles: values[0],
    "convert": _convert,
    **dict.fromkeys(INSTANCES, _is_instance),
    "math:abs": _of_double("absolute"),
    "math:ceil": _of_double("ceiling"),
    "math:floor": _of_double("floored"),
    "math:sqrt": _of_double("root"),
    "math:round": _round,
    "math:signum": _of_double("sign_of"),
    "math:isNan": _of_double("is_nan"),
    "math:isInfinite": _of_double("is_infinite"),
    "math:max": _chosen("greater_of"),
    "math:min": _chosen("lesser_of"),
    "math:pi": _constant(math.pi),
    "math:e": _constant(math.e),
}


def why_not(call: Call) -> str | None:
    """Why a call is not compiled though its function is known here; None when it is."""
    kinds = [argument.type for argument in call.arguments[:1]]
    if call.function == "cast" and kinds[0] is not call.type:
        return f"`cast` of {kinds[0]} to {call.type} is not compiled"
    if call.function == "convert" and Type.STRING in (*kinds, call.type):
        return "`convert` of texts is not compiled"
    if call.function in ("math:max", "math:min") and call.type is Type.FLOAT:
        return f"`{call.function}` of floats is not compiled"
    return None
