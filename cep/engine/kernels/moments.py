"""Count, sum and sum of squares of one expression over a window, entered and left exactly.

Cells in the float array from `cf`: reference value, two pairs (see `exact`), largest second moment
so far; in the int array at `ci`: how many non-null values. The reference is the first value after
the sums were empty. When the window has moved so far from it, or has held values so much larger,
that digits of the variance would be lost, `rebase` sums the window anew around the newest value: at
most once per complete turn-over, hence O(1) amortised.
"""

from __future__ import annotations

import math

from cep.engine.jit import inline, inner
from cep.engine.kernels.exact import add_pair, deviation, mean, scatter, square, total, two_sum
from cep.engine.kernels.rings import float_cell, int_cell
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import RING_TAIL, Floats, Ints, State

CELLS = 6
FAR = 2.0**-24
"""Share of the largest second moment below which the variance would lose digits: rebase."""


@inline
def moments_enter(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, to2: bool) -> None:
    """A value enters; `to2` keeps the squares as well."""
    if math.isnan(value):
        return
    if i[row, ci] == 0:
        f[row, cf] = value
        f[row, cf + 1] = 0.0
        f[row, cf + 2] = 0.0
        f[row, cf + 3] = 0.0
        f[row, cf + 4] = 0.0
        f[row, cf + 5] = 0.0
    i[row, ci] += 1
    y, e = two_sum(value, -f[row, cf])
    f[row, cf + 1], f[row, cf + 2] = add_pair(f[row, cf + 1], f[row, cf + 2], y, e)
    if to2:
        p, q = square(y)
        q += 2.0 * y * e
        f[row, cf + 3], f[row, cf + 4] = add_pair(f[row, cf + 3], f[row, cf + 4], p, q)
        f[row, cf + 5] = max(f[row, cf + 5], f[row, cf + 3])


@inline
def moments_leave(i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, to2: bool) -> None:
    """A value that had entered leaves."""
    if math.isnan(value):
        return
    i[row, ci] -= 1
    y, e = two_sum(value, -f[row, cf])
    f[row, cf + 1], f[row, cf + 2] = add_pair(f[row, cf + 1], f[row, cf + 2], -y, -e)
    if to2:
        p, q = square(y)
        q += 2.0 * y * e
        f[row, cf + 3], f[row, cf + 4] = add_pair(f[row, cf + 3], f[row, cf + 4], -p, -q)


@inline
def moments_mean(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    n = i[row, ci]
    if n == 0:
        return math.nan
    return mean(n, f[row, cf], f[row, cf + 1], f[row, cf + 2])


@inline
def moments_total(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    n = i[row, ci]
    if n == 0:
        return math.nan
    return total(n, f[row, cf], f[row, cf + 1], f[row, cf + 2])


@inline
def moments_far(i: Ints, f: Floats, row: int, ci: int, cf: int) -> bool:
    """Whether the window is so far from its reference, or from its past, that `rebase` is due."""
    n = i[row, ci]
    if n == 0 or f[row, cf + 5] == 0.0:
        return False
    h, _ = scatter(n, f[row, cf + 1], f[row, cf + 2], f[row, cf + 3], f[row, cf + 4])
    return h < n * f[row, cf + 5] * FAR


@inline
def moments_deviation(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    n = i[row, ci]
    if n == 0:
        return math.nan
    h, low = scatter(n, f[row, cf + 1], f[row, cf + 2], f[row, cf + 3], f[row, cf + 4])
    return deviation(n, h, low)


@inner
def rebase(
    s: State,
    home: Ints,
    row: int,
    ring: int,
    first: int,
    ints: int,
    floats: int,
    cell: int,
    i: Ints,
    f: Floats,
    group: int,
    ci: int,
    cf: int,
    group_cell: int,
    counted_cell: int,
    newest: float,
) -> None:
    """Sum the group's rows from position `first` on anew; the int cells are -1 when absent.

    `newest` is the value of the row that comes, which the ring has not yet.
    """
    i[group, ci] = 0
    moments_enter(i, f, group, ci, cf, newest, True)
    for position in range(home[row, ring + RING_TAIL] - 1, first - 1, -1):
        at = int_cell(home, row, ring, position, ints)
        if group_cell >= 0 and s.wi[at + group_cell] != group:
            continue
        if counted_cell >= 0 and s.wi[at + counted_cell] == 0:
            continue
        value = s.wf[float_cell(home, row, ring, position, floats) + cell]
        moments_enter(i, f, group, ci, cf, value, True)


@inline
def integer_enter(i: Ints, row: int, ci: int, value: int, sign: int) -> None:
    """A whole number enters (sign 1) or leaves (-1) a sum that wraps at 64 bits."""
    if value == NULL:
        return
    i[row, ci] += sign
    i[row, ci + 1] += sign * value


@inline
def integer_total(i: Ints, row: int, ci: int) -> int:
    return NULL if i[row, ci] == 0 else i[row, ci + 1]
