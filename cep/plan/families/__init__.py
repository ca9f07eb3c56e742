"""Queries of one shape, which back ends run as one."""

from __future__ import annotations

from cep.plan.families.parameters import PARAMETER, Value, parametrised
from cep.plan.families.shapes import ANY_TARGET, Family, family_of, is_parameter, shape_of

__all__ = [
    "ANY_TARGET", "PARAMETER", "Family", "Value", "family_of", "is_parameter", "parametrised",
    "shape_of",
]  # fmt: skip
