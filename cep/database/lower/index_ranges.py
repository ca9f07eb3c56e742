"""Where the rows lie that an equality can be true of: a range for an index.

`a - b == 5` does not say where `b` lies when `a` is known, as a database sees it: differences wrap.
It lies at `a - 5` where that is a number of the type. The range is this one, and everything where
it is not; the equality itself is always asked, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.conversions import whole
from cep.database.dialects.base import Element
from cep.plan.expressions import Arithmetic, Column, Comparison, Constant, Expression
from cep.plan.families import PARAMETER, Family, is_parameter
from cep.plan.types import Type, widest

_INT_HALF = 2**31
_LONG_HALF = 2**63
_SAFE = 2**58
"""So large longs can be added a few times before they wrap."""
_TERMS_MAX = 16

Terms = Counter[Column | None]
"""Columns times whole numbers, added up; None is 1."""


@dataclass(frozen=True, slots=True)
class IndexRange:
    """`column` is the sum of `terms` (parameters included) wherever that does not wrap."""

    column: Column
    terms: Terms
    type: Type

    @property
    def slots(self) -> set[int]:
        """Where the terms are."""
        return {one.slot for one in self.terms if one is not None}

    @property
    def value(self) -> Expression | None:
        """What the column equals, for an int: no more and no less than the equality says."""
        if self.type is not Type.INT or abs(self.terms[None]) >= _INT_HALF:
            return None
        terms = [(one, factor) for one, factor in self.terms.items() if one is not None]
        terms.sort(key=lambda term: term[1], reverse=True)
        signs = (
            (one, 1 if factor > 0 else -1) for one, factor in terms for _ in range(abs(factor))
        )
        signed: list[tuple[Expression, int]] = list(signs)
        constant = self.terms[None]
        if constant or not signed or signed[0][1] < 0:
            signed.insert(0, (Constant(constant, Type.INT), 1))
        total = signed[0][0]
        for one, sign in signed[1:]:
            total = Arithmetic("+" if sign > 0 else "-", total, one, Type.INT)
        return total

    def bounds(
        self, family: Family, find: Callable[[Column], Element]
    ) -> tuple[Element, Element] | None:
        """The least and the greatest value of the column for any member, given the other rows."""
        low, high = self.constants(family)
        if max(abs(low), abs(high)) > _SAFE:
            return None
        known = [
            (find(term), factor)
            for term, factor in self.terms.items()
            if term is not None and not is_parameter(term)
        ]
        sums = [whole(low), whole(high)]
        for value, factor in known:
            sums = [one + (value if factor == 1 else whole(factor) * value) for one in sums]
        if self.type is Type.INT:
            half = _INT_HALF
            safe = sa.and_(sums[0] >= -half, sums[1] < half)
        else:
            half = _LONG_HALF
            safe = sa.and_(*(value.between(-_SAFE, _SAFE) for value, _ in known), sa.true())
        return (
            sa.case((safe, sums[0]), else_=whole(1 - half) - 1),
            sa.case((safe, sums[1]), else_=whole(half - 1)),
        )

    def constants(self, family: Family) -> tuple[int, int]:
        """The least and the greatest that the constants of a query add up to."""
        low = high = self.terms[None]
        for term, factor in self.terms.items():
            if term is not None and is_parameter(term):
                values = [factor * int(row[term.position]) for row in family.constants]
                low, high = low + min(values), high + max(values)
        return low, high


def index_range(condition: Expression, slot: int) -> IndexRange | None:
    """What an equality of whole numbers says about a column of a slot, which is in it once."""
    if not isinstance(condition, Comparison) or condition.op != "==":
        return None
    left, right = condition.left.type, condition.right.type
    if not (left.is_integer and right.is_integer):
        return None
    type_ = widest(left, right)
    terms = _terms(condition, type_)
    own = [one for one in terms or () if one is not None and one.slot == slot]
    if terms is None or len(own) != 1 or abs(terms[own[0]]) != 1:
        return None
    sign = -terms.pop(own[0])
    return IndexRange(own[0], Counter({one: sign * factor for one, factor in terms.items()}), type_)


def moved(condition: Expression) -> Expression:
    """An equality of ints with its one parameter alone on the left, where it can be brought there.

    Sums of ints wrap, so that what is added can be taken away again.
    """
    found = index_range(condition, PARAMETER)
    value = None if found is None else found.value
    return condition if found is None or value is None else Comparison("==", found.column, value)


def _terms(condition: Comparison, type_: Type) -> Terms | None:
    """Left side less right side; None where a column falls out, which may be null."""
    left, right = (_sum(side, type_) for side in (condition.left, condition.right))
    if left is None or right is None:
        return None
    left.subtract(right)
    factors = [factor for one, factor in left.items() if one is not None]
    is_small = sum(map(abs, factors)) <= _TERMS_MAX and abs(left[None]) < _SAFE
    return left if is_small and 0 not in factors else None


def _sum(node: Expression, type_: Type) -> Terms | None:
    """Additions and subtractions of that type, in which whole numbers of others are as they are."""
    match node:
        case Constant(value=int(value)) if not isinstance(value, bool):
            return Counter({None: value})
        case Column() if node.type in (Type.INT, type_):
            return Counter({node: 1})
        case Arithmetic(op="+" | "-" as op) if node.type is type_:
            left, right = _sum(node.left, type_), _sum(node.right, type_)
            if left is None or right is None:
                return None
            if op == "+":
                left.update(right)
            else:
                left.subtract(right)
            return left
        case _:
            return None
