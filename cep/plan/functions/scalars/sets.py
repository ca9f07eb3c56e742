"""Sets, as values that only the interpreter holds."""

from __future__ import annotations

from typing import Any

from cep.plan.expressions import Call
from cep.plan.functions.base import Evaluate, Scalar, Setting
from cep.plan.functions.sql import Never
from cep.plan.signatures import VALUES, Parameter, Signature
from cep.plan.types import Type


def _create_set(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    value = arguments[0]
    return lambda row: {value(row)}


def _size_of_set(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    argument = arguments[0]

    def size(row: Any) -> int:
        found = argument(row)
        if found is None:
            return 0
        if not isinstance(found, set | frozenset):
            raise TypeError(f"sizeOfSet() needs a set, not a {type(found).__name__}")
        return len(found)

    return size


NO_SETS = Never("sets are not values of a database")

CREATE_SET = Scalar(
    Signature("createSet", (Parameter("x", VALUES),), "a set of one value", Type.OBJECT),
    _create_set,
    sql=NO_SETS,
)
SIZE_OF_SET = Scalar(
    Signature("sizeOfSet", (Parameter("set", (Type.OBJECT,)),), "how many it holds", Type.INT),
    _size_of_set,
    sql=NO_SETS,
)
