"""The points of angles and radii."""

from __future__ import annotations

from collections.abc import Sequence

from cep.plan.expressions import Expression
from cep.plan.signatures import NUMBER, Added, Parameter, Signature, null
from cep.plan.types import Type

NO_HEIGHT = null(Type.DOUBLE)
POINT = (("x", Type.DOUBLE), ("y", Type.DOUBLE), ("z", Type.DOUBLE))


def _point(arguments: Sequence[Expression]) -> Added:
    """Without a third dimension where none is given."""
    return POINT[:-1] if arguments[-1] == NO_HEIGHT else POINT


POL2CART = Signature(
    "pol2Cart",
    (
        Parameter("theta", NUMBER),
        Parameter("rho", NUMBER),
        Parameter("z", NUMBER, default=NO_HEIGHT),
    ),
    "the point of an angle in degrees and a radius",
    added=POINT,
    added_by=_point,
)
