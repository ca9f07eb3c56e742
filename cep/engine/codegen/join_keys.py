"""What a join can look up: a condition that equals a value of one side with one of the other.

`l.a - r.b == c` is such a condition, too: sums of whole numbers wrap around, so `l.a == r.b + c`
says exactly the same. Constants go to the side that asks, so that all members of a family share
one index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cep.engine.codegen.match_scope import slots
from cep.engine.layout import is_float
from cep.plan.expressions import Arithmetic, Column, Comparison, Constant, Expression
from cep.plan.families import PARAMETER, is_parameter
from cep.plan.types import Type

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
Term = tuple[int, Expression]
"""A sign, and what is added or subtracted."""
SIDES = (0, 1)


@dataclass(frozen=True, slots=True)
class Equality:
    """`keys[slot] == probes[slot]`: a value of the slot's held rows, and what the other side asks.

    A key is None where it is another one for each member. With `as_float` both are floats.
    """

    condition: Expression
    keys: tuple[Expression | None, Expression | None]
    probes: tuple[Expression, Expression]
    as_float: bool


def equality(conditions: Iterable[Expression]) -> Equality | None:
    """The first of the conditions by which rows can be looked up."""
    return next((found for one in conditions if (found := _separated(one)) is not None), None)


@dataclass(frozen=True, slots=True)
class Band:
    """`least <= key <= most` holds on rows that can meet; None is without a bound."""

    key: Expression
    least: Expression | None
    most: Expression | None


def band(conditions: Iterable[Expression], slot: int) -> Band | None:
    """Between what a value of a slot's held rows must lie, by the first value that is compared."""
    found: Band | None = None
    for condition in conditions:
        for key, op, probe in _comparisons(condition, slot):
            known = found or Band(key, None, None)
            if key == known.key and op in ("<", "<="):
                found = replace(known, most=known.most or probe)
            elif key == known.key:
                found = replace(known, least=known.least or probe)
    return found


def _comparisons(condition: Expression, slot: int) -> Iterator[tuple[Expression, str, Expression]]:
    """The condition with the slot's value on the left, if it is such a comparison."""
    if isinstance(condition, Comparison) and condition.op in MIRRORED:
        left, right = condition.left, condition.right
        for key, op, probe in ((left, condition.op, right), (right, MIRRORED[condition.op], left)):
            if slots(key) == {slot} and slot not in slots(probe):
                yield key, op, probe


def offsets(
    equality: Equality, slot: int, constants: Sequence[Sequence[object]]
) -> tuple[int, ...] | None:
    """By how much each member adds to what all ask of a slot's rows; None where they do not."""
    if equality.as_float:
        return None
    probe = equality.probes[slot]
    found = [0] * len(constants)
    type_ = probe.type if isinstance(probe, Arithmetic) else Type.INT
    for sign, term in _terms(probe, 1, type_):
        if not is_parameter(term) and PARAMETER in slots(term):
            return None
        if is_parameter(term):
            assert isinstance(term, Column)
            values = [one for row in constants if isinstance(one := row[term.position], int)]
            if len(values) < len(constants):
                return None
            found = [one + sign * value for one, value in zip(found, values, strict=True)]
    return tuple(found)


def _separated(condition: Expression) -> Equality | None:
    if not isinstance(condition, Comparison) or condition.op != "==":
        return None
    left, right = condition.left, condition.right
    as_float = is_float(left.type) or is_float(right.type)
    if left.type.is_numeric and not as_float:
        return _of_terms(condition)
    own = [_sides(side) for side in (left, right)]
    if own not in ([{0}, {1}], [{1}, {0}]):
        return None
    keys = (left, right) if own[0] == {0} else (right, left)
    return _equality(condition, keys, (keys[1], keys[0]), as_float)


def _of_terms(condition: Comparison) -> Equality | None:
    """An equality of sums of whole numbers, each term of which is of one side at most."""
    left, right = condition.left, condition.right
    type_ = Type.LONG if Type.LONG in (left.type, right.type) else Type.INT
    terms = [*_terms(left, 1, type_), *_terms(right, -1, type_)]
    own = [[term for term in terms if _sides(term[1]) == {slot}] for slot in SIDES]
    if not all(own) or any(len(_sides(term[1])) > 1 for term in terms):
        return None
    keys, probes = [], []
    for slot in SIDES:
        sign = own[slot][0][0]
        others = [(-s, one) for s, one in terms if _sides(one) != {slot}]
        keys.append(_total(own[slot], sign, type_))
        probes.append(_total(others, sign, type_))
    return _equality(condition, (keys[0], keys[1]), (probes[0], probes[1]), False)


def _equality(
    condition: Expression,
    keys: tuple[Expression, Expression],
    probes: tuple[Expression, Expression],
    as_float: bool,
) -> Equality | None:
    left, right = (None if PARAMETER in slots(key) else key for key in keys)
    if left is None and right is None:
        return None
    return Equality(condition, (left, right), probes, as_float)


def _sides(expression: Expression) -> set[int]:
    return slots(expression) - {PARAMETER}


def _terms(expression: Expression, sign: int, type_: Type) -> Iterator[Term]:
    """The terms of a sum that wraps as the comparison's type does."""
    is_sum = isinstance(expression, Arithmetic) and expression.op in ("+", "-")
    if not is_sum or expression.type is not type_:
        yield sign, expression
        return
    assert isinstance(expression, Arithmetic)
    yield from _terms(expression.left, sign, type_)
    yield from _terms(expression.right, sign if expression.op == "+" else -sign, type_)


def _total(terms: list[Term], sign: int, type_: Type) -> Expression:
    """The sum of the terms, each times `sign`; terms that are added stand in front."""
    ordered = sorted(terms, key=lambda term: term[0] * sign < 0)
    total: Expression = Constant(0, type_)
    for place, (own, term) in enumerate(ordered):
        added = own * sign > 0
        if place == 0 and added:
            total = term
        else:
            total = Arithmetic("+" if added else "-", total, term, type_)
    return total
