"""Sums and means of limbs for many rows at once, by NumPy: the exact value, rounded once.

Two doubles hold a total so closely that nearly always it is certain what the nearest double is;
where it is not, whole numbers decide (Ziv, "Fast evaluation of elementary mathematical functions
with correctly rounded last bit", 1991). Steps of double-double arithmetic are as in the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cep.database.limbs import Limbs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rounded = Callable[..., tuple[Floats, npt.NDArray[np.bool_]]]
"""From columns of sums to values, and which of them are null."""

_EXACT_END = 2**53
_SLACK = 2.0**-50
"""Share of a small part that its own rounding errors are below."""
_SPLITTER = 134217729.0  # 2**27 + 1: halves a 53-bit significand


def rounded_columns(limbs: Limbs, is_mean: bool, exactly: Callable[..., float | None]) -> Rounded:
    """`exactly` gives the value of one row; it is called where two doubles do not tell."""

    def apply(known: Ints, *sums: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
        high, low, slack = _pair(limbs, sums)
        if is_mean:
            divisor = np.maximum(known, 1).astype(np.float64)
            high, low, slack = _quotient(high, low, slack, divisor)
        found: Floats = high + (low - slack)
        sure = found == high + (low + slack)
        for one in sums:
            sure &= np.abs(one) < _EXACT_END
        missing: npt.NDArray[np.bool_] = known <= 0
        for place in np.flatnonzero(~sure & ~missing).tolist():
            found[place] = exactly(int(known[place]), *(int(one[place]) for one in sums))
        return found, missing

    return apply


def _pair(limbs: Limbs, sums: Sequence[Ints]) -> tuple[Floats, Floats, Floats]:
    """The total as a large and a small part, and what the small one may be wrong by."""
    powers = [limbs.bits * (limbs.count - 1 - place) - limbs.lowest for place in range(limbs.count)]
    parts = [one.astype(np.float64) * 2.0**power for one, power in zip(sums, powers, strict=True)]
    high, errors = parts[0], []
    for part in parts[1:]:
        high, error = _two_sum(high, part)
        errors.append(error)
    low, size = np.zeros_like(high), np.zeros_like(high)
    for error in reversed(errors):
        low = low + error
        size = size + np.abs(error)
    return high, low, size * _SLACK


def _quotient(
    high: Floats, low: Floats, slack: Floats, divisor: Floats
) -> tuple[Floats, Floats, Floats]:
    quotient = high / divisor
    product, error = _two_product(quotient, divisor)
    rest = ((high - product) - error) + low
    return quotient, rest / divisor, (slack + np.abs(rest) * _SLACK) / divisor


def _two_sum(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its error."""
    total = left + right
    part = total - left
    return total, (left - (total - part)) + (right - part)


def _two_product(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its error."""
    product = left * right
    (lh, ll), (rh, rl) = _halves(left), _halves(right)
    return product, ((lh * rh - product) + lh * rl + ll * rh) + ll * rl


def _halves(value: Floats) -> tuple[Floats, Floats]:
    scaled: Any = _SPLITTER * value
    high = scaled - (scaled - value)
    return high, value - high
