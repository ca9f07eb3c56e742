"""Sums from which values may go that had not come, as in joins: kernels that need no first value.

A row that leaves a window of a join meets what the other side holds then, which may be other rows
than when it came. So what is left when as many have gone as have come need not be nothing, and the
number may be negative.
"""

from __future__ import annotations

import math

from cep.plan.functions.aggregators.paired import pair_scatter
from cep.plan.functions.aggregators.skewness import expand
from cep.plan.functions.limbs import SUM, limbs_add, limbs_over, limbs_settle
from cep.plan.functions.native import CELLS, Cells, Floats, Ints
from cep.plan.functions.pairs import deviation, square

# The deviation: how many there are, infinities of either sign, whether anything is left in a sum;
# the sums of values and of squares as expansions, then room to compute.
INFINITE, IS_LEFT, LEFT_INTS = 1, 2, 3
SQUARES, SCATTER, LEFT_FLOATS = 3, 8, 16
FALL = 2**31
"""By so much an infinity below counts more than one above: they do not cancel out."""


def left_sum_enter(i: Ints, row: int, ci: int, value: float, sign: int) -> None:
    """A value comes (sign 1) or goes (-1); cells: how many there are, their sum."""
    if math.isnan(value):
        return
    i[row, ci] += sign
    limbs_add(i, row, ci + 1, value, 1, sign)
    if i[row, ci] == 0:  # so that all cells are 0 where nothing is left
        limbs_settle(i, row, ci + 1)


def left_total(i: Ints, row: int, ci: int) -> float:
    return math.nan if i[row, ci] == 0 else limbs_over(i, row, ci + 1, 1)


def left_mean(i: Ints, row: int, ci: int) -> float:
    n = i[row, ci]
    if n == 0:
        return math.nan
    found = limbs_over(i, row, ci + 1, abs(n))
    return found if n > 0 or math.isinf(found) else -found


def left_moments_enter(
    i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, sign: int
) -> None:
    """A value comes (sign 1) or goes (-1)."""
    if math.isnan(value):
        return
    i[row, ci] += sign
    if math.isinf(value):
        i[row, ci + INFINITE] += sign if value > 0.0 else sign * FALL
        return
    p, e = square(value)
    expand(f, row, cf, SQUARES, sign * value)
    expand(f, row, cf + SQUARES, SCATTER - SQUARES, sign * p)
    expand(f, row, cf + SQUARES, SCATTER - SQUARES, sign * e)
    i[row, ci + IS_LEFT] = int(f[row, cf] != 0.0 or f[row, cf + SQUARES] != 0.0)


def left_deviation(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    """Null of nothing, of infinities, and where other values have gone than came."""
    n = i[row, ci]
    if n <= 0 or i[row, ci + INFINITE] != 0:
        return math.nan
    high, low = pair_scatter(f, row, cf, n, SQUARES, 0, 0, SCATTER)
    return math.nan if high < 0.0 else deviation(n, high, low)


_SUM = "left_sum_enter({i}, {row}, {ci}, {0}, %d)"
_MOMENTS = f"left_moments_enter({CELLS}, {{0}}, %d)"
LEFT_TOTAL, LEFT_MEAN = (
    Cells(1 + SUM, 0, _SUM % 1, f"{name}({{i}}, {{row}}, {{ci}})", _SUM % -1)
    for name in ("left_total", "left_mean")
)
LEFT_DEVIATION = Cells(
    LEFT_INTS, LEFT_FLOATS, _MOMENTS % 1, f"left_deviation({CELLS})", _MOMENTS % -1
)
KERNELS = (left_sum_enter, left_total, left_mean, left_moments_enter, left_deviation)
