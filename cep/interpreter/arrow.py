"""Python values as Arrow's, the same for every engine."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cep.plan.types import Type

BEYOND = "a value beyond 64 bits; give a smaller one"
"""What is said of a number that Arrow has no place for."""


def inferred(type_: Type, column: Any) -> pa.Array:
    """A column as Arrow sees it; whole numbers of any size where doubles are wanted.

    OverflowError for a number that does not fit.
    """
    try:
        return pa.array(column)
    except OverflowError:
        if type_ not in (Type.FLOAT, Type.DOUBLE):
            raise
        return pa.array([None if value is None else float(value) for value in column])
