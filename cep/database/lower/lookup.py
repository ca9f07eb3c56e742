"""Constants in which queries of one shape differ, as keys by which a row finds the queries.

A comparison of a constant with what a row holds is an index range over the table of constants: a
row meets the queries whose results it is in, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cep.plan.expressions import Column, Comparison, Expression, children
from cep.plan.families import Family, Value, is_parameter
from cep.plan.numbers import to_float
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.types import Type, widest

REALS = (Type.FLOAT, Type.DOUBLE)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The parts of a family's conditions, and the columns of constants that an index is good for.

    Constants of the family are of the types as which they are compared, for a conversion in the
    statement would hide them from the index.
    """

    family: Family
    conditions: tuple[Expression, ...]
    columns: tuple[str, ...]


def lookup(family: Family, conditions: Iterable[Expression]) -> Lookup:
    """Looks for constants that are compared with what has none: first ==, then one range."""
    parts = [part for whole in conditions for part in conjuncts(whole)]
    keys: list[str] = []
    ranges: list[str] = []
    for place, part in enumerate(parts):
        if not isinstance(part, Comparison) or part.op == "!=":
            continue
        constant = _constant(part)
        if constant is not None:
            family, parts[place] = _as_compared(family, part, constant)
            (keys if part.op == "==" else ranges).append(f"c_{constant.position}")
    return Lookup(family, tuple(parts), (*keys, *ranges[:1]))


def _constant(part: Comparison) -> Column | None:
    """The constant that is compared, if the other side has none."""
    for one, other in ((part.left, part.right), (part.right, part.left)):
        if isinstance(one, Column) and is_parameter(one) and not _has_parameter(other):
            return one
    return None


def _has_parameter(expression: Expression) -> bool:
    return is_parameter(expression) or any(map(_has_parameter, children(expression)))


def _as_compared(family: Family, part: Comparison, constant: Column) -> tuple[Family, Comparison]:
    """The constant as a number of the type to which both sides are widened."""
    if not (part.left.type.is_numeric and part.right.type.is_numeric):
        return family, part
    type_ = widest(part.left.type, part.right.type)
    if type_ not in REALS or type_ is constant.type:
        return family, part
    number, wide = constant.position, replace(constant, type=type_)
    sides = (wide if one is constant else one for one in (part.left, part.right))
    left, right = sides
    types = tuple(type_ if at == number else one for at, one in enumerate(family.types))
    constants = tuple(
        tuple(_real(one, type_) if at == number else one for at, one in enumerate(row))
        for row in family.constants
    )
    changed = replace(family, types=types, constants=constants)
    return changed, replace(part, left=left, right=right)


def _real(value: Value, type_: Type) -> float:
    assert not isinstance(value, str), "a constant of a comparison with numbers"
    return to_float(value) if type_ is Type.FLOAT else float(value)
