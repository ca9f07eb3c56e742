"""Parameters and types of results that several functions have."""

from __future__ import annotations

from collections.abc import Sequence

from cep.plan.expressions import Expression
from cep.plan.signatures import NUMBER, TEXT, Parameter, rows
from cep.plan.types import Type

X = Parameter("x", NUMBER)
Y = Parameter("y", NUMBER)
S = Parameter("s", TEXT)
PERIOD = rows("n")


def first(arguments: Sequence[Expression]) -> Type:
    """The type of the first argument."""
    return arguments[0].type


def last(arguments: Sequence[Expression]) -> Type:
    """The type of the last argument, which the values share."""
    return arguments[-1].type


def wide(arguments: Sequence[Expression]) -> Type:
    """Sums of whole numbers are whole."""
    return Type.LONG if arguments[0].type.is_integer else Type.DOUBLE
