"""Sums, means and deviations in SQL: the exact value of what is in a window, rounded once.

Rows are summed up by `limbs`, without error: the sum over a window is the difference of two
cumulative sums. The end is a division and one rounding: by a function of ours where the database is
in our process, else in decimal numbers long enough that nothing is rounded before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cep.database.conversions import whole
from cep.database.dialects.base import Dialect, Element
from cep.database.limbs import LIMBS, Limbs, right_shifted
from cep.database.own import own_function
from cep.database.rounding import rounded_columns
from cep.plan.functions.exact_sums import divided, root_over
from cep.plan.types import Type

_DECIMALS = 130
"""Of a quotient: all digits of a number half-way between two doubles, and more."""
_LEAST = "(-9223372036854775807 - 1)"


@dataclass(frozen=True, slots=True)
class Exact:
    """A share of exact sums, as an aggregate of one argument.

    The `terms` of rows are summed up, cumulatively or not; `result` takes as many sums, or
    differences of sums. A row on which `held` is false cannot be summed up: it must end the batch.
    """

    share: str
    dialect: Dialect
    limbs: Limbs

    @property
    def count(self) -> int:
        """How many terms there are; the first counts the values."""
        limbs = self.limbs
        return 1 + limbs.count + (limbs.squares.count if self.share == "stdDev" else 0)

    def terms(self, argument: Element) -> tuple[Element, ...]:
        """A row's whole numbers of 64 bits; zeros of null."""
        parts = self.limbs.of(argument)
        if self.share == "stdDev":
            parts += self.limbs.squared(parts)
        known = sa.case((argument.is_not(None), whole(1)), else_=whole(0))
        return (known, *(sa.func.coalesce(part, 0, type_=sa.BigInteger()) for part in parts))

    def held(self, argument: Element) -> Element:
        """Whether a row's argument is summed up exactly; null of null."""
        return self.limbs.hold(argument)

    def result(self, sums: Sequence[Element]) -> Element:
        """The aggregate of the rows whose terms have these sums; null of no values."""
        known, *rest = sums
        if self.share == "sum" and self.limbs.is_whole:
            return sa.case((known > 0, _wrapped(self.limbs, rest)))
        if self.dialect.in_process:
            return _called(self.share, self.limbs, sums)
        return _decimal(self.share, self.limbs, known, rest)


def exact(dialect: Dialect, share: str, type_: Type) -> Exact:
    """How an aggregate of numbers of that type is computed; `share` as in `sql.ExactSums`."""
    return Exact(share, dialect, LIMBS[type_])


def most_of(shares: Sequence[str]) -> str:
    """The share whose terms are those of all of them: squares are for deviations alone."""
    return "stdDev" if "stdDev" in shares else shares[0]


def _wrapped(limbs: Limbs, sums: Sequence[Element]) -> Element:
    """The whole number in two's complement of 64 bits, null for the least."""
    total, *below = sums
    if not below:
        return total
    carried = sums[-1]
    digits: list[Element] = []
    for one in reversed(sums[:-1]):
        digits.append(carried.bitwise_and(2**limbs.bits - 1))
        carried = one + right_shifted(carried, limbs.bits)
    top = 64 - limbs.bits * len(digits)
    found = (carried + 2 ** (top - 1)).bitwise_and(2**top - 1) - 2 ** (top - 1)
    for digit in reversed(digits):
        found = found * 2**limbs.bits + digit
    return sa.func.nullif(found, sa.literal_column(_LEAST), type_=sa.BigInteger())


# ------------------------------------------------------------------ in our process


def _called(function: str, limbs: Limbs, sums: Sequence[Element]) -> Element:
    call = _rounded(function, limbs)
    name = own_function(
        ("exact", function, limbs),
        function,
        lambda: call,
        (Type.LONG,) * len(sums),
        Type.DOUBLE,
        None if function == "stdDev" else rounded_columns(limbs, function == "avg", call),
    )
    found: Element = getattr(sa.func, name)(*sums, type_=sa.Double())
    return found


def _rounded(function: str, limbs: Limbs) -> Callable[..., float | None]:
    """From sums of terms to the double nearest to the aggregate."""
    unit = 1 << limbs.lowest

    def total(known: int, *sums: int) -> float | None:
        return divided(limbs.total(sums), unit) if known else None

    def mean(known: int, *sums: int) -> float | None:
        return divided(limbs.total(sums), known * unit) if known else None

    def deviation(known: int, *sums: int) -> float | None:
        if not known:
            return None
        first = limbs.total(sums[: limbs.count])
        second = limbs.squares.total(sums[limbs.count :])
        return root_over(known * second - first * first, known * unit)

    return {"sum": total, "avg": mean, "stdDev": deviation}[function]


# ------------------------------------------------------------------ on a server


def _decimal(function: str, limbs: Limbs, known: Element, sums: Sequence[Element]) -> Element:
    first = _total(limbs, sums[: limbs.count])
    unit = _number(1 << limbs.lowest)
    count = sa.func.nullif(sa.cast(known, sa.Numeric()), 0, type_=sa.Numeric())
    if function == "stdDev":
        second = _total(limbs.squares, sums[limbs.count :])
        scatter = (count * second - first * first) * _number(1, _DECIMALS // 2)
        first = sa.func.sqrt(scatter, type_=sa.Numeric())
    divisor = unit if function == "sum" else count * unit
    found = _quotient(first * _number(1, _DECIMALS), divisor)
    return sa.case((known > 0, sa.cast(found, sa.Double())))


def _total(limbs: Limbs, sums: Sequence[Element]) -> Element:
    found: Any = sa.cast(sums[0], sa.Numeric())
    for one in sums[1:]:
        found = found * _number(1 << limbs.bits) + sa.cast(one, sa.Numeric())
    return found  # type: ignore[no-any-return]


def _quotient(left: Element, right: Element) -> Element:
    return sa.cast(left, sa.Numeric()) / right


def _number(value: int, decimals: int = 0) -> Element:
    """A decimal number with so many zeros behind the point, which quotients keep."""
    zeros = "." + "0" * decimals if decimals else ""
    return sa.cast(sa.literal_column(f"{value}{zeros}"), sa.Numeric())
