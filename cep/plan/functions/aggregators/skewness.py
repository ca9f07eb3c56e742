"""Skewness: how far the values of a window lean to one side."""

from __future__ import annotations

import math
from typing import Any

from cep.plan.functions.base import Aggregator
from cep.plan.functions.exact_sums import root_over
from cep.plan.functions.native import CELLS, Cells, Floats, Ints
from cep.plan.functions.pairs import square, two_product, two_sum
from cep.plan.functions.parameters import X
from cep.plan.functions.running import Running
from cep.plan.signatures import Signature
from cep.plan.types import Type

LEAST = 3
"""Two values are never skewed: as in spreadsheets and databases it takes three."""


class Skewness(Running):
    """The third central moment by the cube of the deviation, both of the population.

    Null of fewer than three values, of equal ones, and of infinities. Exact: the sums of values, of
    squares and of cubes are whole numbers, over the powers of 2 ** `bits`.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._count = self._infinite = self._bits = 0
        self._sums = [0, 0, 0]

    @property
    def is_empty(self) -> bool:
        return not self._count and not self._infinite and self._sums == [0, 0, 0]

    def add(self, value: float) -> None:
        self._pass(value, 1)

    def remove(self, value: float) -> None:
        self._pass(value, -1)

    def _pass(self, value: float, sign: int) -> None:
        self._count += sign
        if math.isinf(value):
            self._infinite += sign
            return
        numerator, denominator = value.as_integer_ratio()
        bits = denominator.bit_length() - 1
        if bits > self._bits:
            finer = bits - self._bits
            self._sums = [one << finer * power for power, one in enumerate(self._sums, start=1)]
            self._bits = bits
        whole = numerator << self._bits - bits
        for place in range(3):
            self._sums[place] += sign * whole ** (place + 1)

    @property
    def value(self) -> float | None:
        if self._count < LEAST or self._infinite:
            return None
        n, (first, second, third) = self._count, self._sums
        scatter = n * second - first * first
        if scatter <= 0:
            return None
        lean = n * (n * third - first * second) - 2 * first * scatter
        # lean / scatter ** 1.5, whatever they are scaled by
        return math.copysign(root_over(lean * lean * scatter, scatter * scatter), lean)

    def state(self) -> Any:
        return [self._count, self._infinite, self._bits, *map(str, self._sums)]

    def restore(self, state: Any) -> None:
        self._count, self._infinite, self._bits = state[:3]
        self._sums = list(map(int, state[3:]))


# The engine does the same with expansions: a number is the sum of a few doubles, largest first,
# each beyond the digits of the one before, so that no digit is lost (J. R. Shewchuk, "Adaptive
# precision floating-point arithmetic", 1997). So much of each it takes for values of 80 digits:
FIRST, SECOND, THIRD, SCATTER, REST, LEAN = 3, 5, 6, 6, 8, 8
AT_SECOND = FIRST
AT_THIRD = AT_SECOND + SECOND
SUMS = AT_SCATTER = AT_THIRD + THIRD
AT_REST = AT_SCATTER + SCATTER
AT_LEAN = AT_REST + REST
ALL = AT_LEAN + LEAN
FAR = 2.0**300
"""Values beyond are as if infinite: the engine has no room for their cubes."""


def expand(f: Floats, row: int, at: int, size: int, value: float) -> None:
    """A double is added to an expansion of `size` doubles."""
    for c in range(at, at + size):
        f[row, c], value = two_sum(f[row, c], value)
    for c in range(at + size - 1, at, -1):
        f[row, c - 1], f[row, c] = two_sum(f[row, c - 1], f[row, c])


def expand_scaled(
    f: Floats, row: int, at: int, size: int, other: int, others: int, factor: float
) -> None:
    """An expansion times a double is set in the place of another one."""
    for c in range(at, at + size):
        f[row, c] = 0.0
    for c in range(other, other + others):
        if f[row, c] != 0.0:
            p, e = two_product(f[row, c], factor)
            expand(f, row, at, size, p)
            expand(f, row, at, size, e)


def expand_product(
    f: Floats,
    row: int,
    at: int,
    size: int,
    left: int,
    lefts: int,
    right: int,
    rights: int,
    factor: float,
) -> None:
    """The product of two expansions, times a power of two, is added to one."""
    for a in range(left, left + lefts):
        for b in range(right, right + rights):
            if f[row, a] != 0.0 and f[row, b] != 0.0:
                p, e = two_product(factor * f[row, a], f[row, b])
                expand(f, row, at, size, p)
                expand(f, row, at, size, e)


def skewness_enter(
    i: Ints, f: Floats, row: int, ci: int, cf: int, value: float, sign: int, begins: bool
) -> None:
    """A value comes (sign 1) or goes (-1); cells: how many there are, how many are infinite.

    `begins`: the sums begin anew when there are none; else others may have gone than came, and a
    third cell says whether anything is left in them.
    """
    if math.isnan(value):
        return
    if begins and i[row, ci] == 0:
        i[row, ci + 1] = 0
        for c in range(cf, cf + SUMS):
            f[row, c] = 0.0
    i[row, ci] += sign
    if abs(value) > FAR:
        i[row, ci + 1] += sign
        return
    p, e = square(value)
    high, low = two_product(p, value)
    higher, lower = two_product(e, value)
    expand(f, row, cf, FIRST, sign * value)
    expand(f, row, cf + AT_SECOND, SECOND, sign * p)
    expand(f, row, cf + AT_SECOND, SECOND, sign * e)
    expand(f, row, cf + AT_THIRD, THIRD, sign * high)
    expand(f, row, cf + AT_THIRD, THIRD, sign * low)
    expand(f, row, cf + AT_THIRD, THIRD, sign * higher)
    expand(f, row, cf + AT_THIRD, THIRD, sign * lower)
    if not begins:
        first, second, third = f[row, cf], f[row, cf + AT_SECOND], f[row, cf + AT_THIRD]
        i[row, ci + 2] = int(first != 0.0 or second != 0.0 or third != 0.0)


def skewness_value(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    n = i[row, ci]
    if n < LEAST or i[row, ci + 1] != 0:
        return math.nan
    second, third = cf + AT_SECOND, cf + AT_THIRD
    scatter, rest, lean = cf + AT_SCATTER, cf + AT_REST, cf + AT_LEAN
    expand_scaled(f, row, scatter, SCATTER, second, SECOND, float(n))
    expand_product(f, row, scatter, SCATTER, cf, FIRST, cf, FIRST, -1.0)
    if f[row, scatter] <= 0.0:
        return math.nan
    expand_scaled(f, row, rest, REST, third, THIRD, float(n))
    expand_product(f, row, rest, REST, cf, FIRST, second, SECOND, -1.0)
    expand_scaled(f, row, lean, LEAN, rest, REST, float(n))
    expand_product(f, row, lean, LEAN, cf, FIRST, scatter, SCATTER, -2.0)
    return leaning(f[row, lean], f[row, lean + 1], f[row, scatter], f[row, scatter + 1])


def leaning(a: float, a_low: float, b: float, b_low: float) -> float:
    """(a + a_low) / (b + b_low) ** 1.5, rounded once."""
    root = math.sqrt(b)
    p, e = square(root)
    root_low = (((b - p) - e) + b_low) / (2.0 * root)
    d, e = two_product(b, root)
    d, d_low = two_sum(d, e + (b * root_low + b_low * root))
    q = a / d
    p, e = two_product(q, d)
    return q + ((((a - p) - e) + a_low) - q * d_low) / d


def _cells(begins: bool) -> Cells:
    enter = f"skewness_enter({CELLS}, {{0}}, %d, {begins})"
    return Cells(2 if begins else 3, ALL, enter % 1, f"skewness_value({CELLS})", enter % -1)


SKEWNESS = Aggregator(
    Signature(
        "skewness",
        (X,),
        "the skewness of the population; null of fewer than three values, and of equal ones",
        Type.DOUBLE,
    ),
    lambda aggregate: Skewness(),
    "skewness(x)",
    _cells(begins=True),
    (skewness_enter, skewness_value),
    is_calendar=True,
    native_left=_cells(begins=False),
)
