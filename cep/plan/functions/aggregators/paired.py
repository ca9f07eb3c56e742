"""Aggregators of pairs: the price weighted by volume, and correlation. Exact like sums."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

from cep.plan.functions.aggregators.skewness import expand, expand_product, expand_scaled
from cep.plan.functions.base import Aggregator
from cep.plan.functions.exact_sums import ExactSum, divided, scattered
from cep.plan.functions.native import CELLS, Cells, Floats, Ints
from cep.plan.functions.pairs import SLACK, add_pair, square, two_product, two_sum
from cep.plan.functions.parameters import X, Y
from cep.plan.functions.running import Running
from cep.plan.signatures import NUMBER, Parameter, Signature
from cep.plan.types import Type


class OfTwo(Running):
    """Counts pairs and sums `parts` of them."""

    def __init__(self, parts: int) -> None:
        self._count = 0
        self._sums = [ExactSum() for _ in range(parts)]

    def add(self, left: float, right: float) -> None:
        self._count += 1
        self._sum(left, right, 1)

    def remove(self, left: float, right: float) -> None:
        self._count -= 1
        self._sum(left, right, -1)

    @property
    def is_empty(self) -> bool:
        return not self._count and all(total.is_zero for total in self._sums)

    @abstractmethod
    def _sum(self, left: float, right: float, sign: int) -> None:
        """A pair comes, or with sign -1 goes."""

    def clear(self) -> None:
        self._count = 0
        for total in self._sums:
            total.clear()

    def state(self) -> Any:
        return [self._count, *[total.state() for total in self._sums]]

    def restore(self, state: Any) -> None:
        self._count = state[0]
        for total, saved in zip(self._sums, state[1:], strict=True):
            total.restore(saved)


class WeightedPrice(OfTwo):
    """`vwap`: the sum of price * volume by that of volume; null of nothing, and of no volume."""

    def __init__(self) -> None:
        super().__init__(2)

    def _sum(self, left: float, right: float, sign: int) -> None:
        self._sums[0].add_product(left, right, sign)
        self._sums[1].add(right, sign)

    @property
    def value(self) -> float | None:
        turnover, volume = self._sums
        if turnover.infinite or volume.infinite or not volume.whole:
            return None
        return divided(turnover.whole << volume.bits, volume.whole << turnover.bits)


class Correlation(OfTwo):
    """Pearson's; null of fewer than two pairs, and where one side does not change."""

    def __init__(self) -> None:
        super().__init__(5)

    def _sum(self, left: float, right: float, sign: int) -> None:
        x, y, xx, yy, xy = self._sums
        x.add(left, sign)
        y.add(right, sign)
        xx.add_product(left, left, sign)
        yy.add_product(right, right, sign)
        xy.add_product(left, right, sign)

    @property
    def value(self) -> float | None:
        x, y, xx, yy, xy = self._sums
        if x.infinite or y.infinite:
            return None
        along, along_bits = scattered(self._count, xy, x, y)
        across, across_bits = scattered(self._count, xx, x, x)
        upward, upward_bits = scattered(self._count, yy, y, y)
        if not across * upward:
            return None
        # squared, so that there is one root: along ** 2 / (across * upward), scaled alike
        scale = 2 * (across_bits + upward_bits) - 4 * along_bits
        share = along * along << max(scale, 0), across * upward << max(-scale, 0)
        found = math.sqrt(divided(*share))
        return found if along > 0 else -found


def vwap_enter(
    i: Ints, f: Floats, row: int, ci: int, cf: int, price: float, volume: float, sign: float,
    begins: bool,
) -> None:  # fmt: skip
    """A trade comes (sign 1) or goes (-1); cells: the sums of turnover and of volume as pairs.

    `begins`: they are nothing when there are none; else others may have gone than came, and a cell
    says whether anything is left in them.
    """
    if math.isnan(price) or math.isnan(volume):
        return
    i[row, ci] += int(sign)
    if begins and (i[row, ci] == 0 or (i[row, ci] == 1 and sign > 0.0)):
        f[row, cf] = f[row, cf + 1] = f[row, cf + 2] = f[row, cf + 3] = 0.0
    if begins and i[row, ci] == 0:
        return
    p, e = two_product(sign * price, volume)
    f[row, cf], f[row, cf + 1] = add_pair(f[row, cf], f[row, cf + 1], p, e)
    f[row, cf + 2], f[row, cf + 3] = add_pair(f[row, cf + 2], f[row, cf + 3], sign * volume, 0.0)
    if not begins:
        i[row, ci + 1] = int(f[row, cf] != 0.0 or f[row, cf + 2] != 0.0)


def vwap_value(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    """Turnover by volume, rounded once; null of nothing and of no volume."""
    volume = f[row, cf + 2]
    if volume == 0.0:
        return math.nan
    q = f[row, cf] / volume
    p, e = two_product(q, volume)
    rest = ((f[row, cf] - p) - e) + f[row, cf + 1] - q * f[row, cf + 3]
    return q + rest / volume


# Correlation keeps its sums, and computes with them, as expansions: see `skewness`.
FIRST, SECOND, THIRD = 3, 5, 8
X_SUM, Y_SUM = 0, FIRST
XX_SUM = 2 * FIRST
YY_SUM = XX_SUM + SECOND
XY_SUM = YY_SUM + SECOND
PAIR_SUMS = XY_SUM + SECOND
SIXTH, REST = 12, 16
AT_MIDDLE = PAIR_SUMS + 3 * THIRD
AT_BELOW = AT_MIDDLE + 2
AT_REST = AT_BELOW + SIXTH
PAIR_CELLS = AT_REST + REST
PAIR_FAR = 2.0**200
"""Values beyond are as if infinite: the engine has no room for the fourth power of their sums."""


def expand_twofold(f: Floats, row: int, at: int, left: float, right: float, sign: float) -> None:
    """The product of two values comes or goes, unrounded."""
    p, e = two_product(sign * left, right)
    expand(f, row, at, SECOND, p)
    expand(f, row, at, SECOND, e)


def correlation_enter(
    i: Ints, f: Floats, row: int, ci: int, cf: int, left: float, right: float, sign: float
) -> None:
    """A pair comes (sign 1) or goes (-1); cells: how many there are, how many are infinite."""
    if math.isnan(left) or math.isnan(right):
        return
    if i[row, ci] == 0:
        i[row, ci + 1] = 0
        for c in range(cf, cf + PAIR_SUMS):
            f[row, c] = 0.0
    i[row, ci] += int(sign)
    if abs(left) > PAIR_FAR or abs(right) > PAIR_FAR:
        i[row, ci + 1] += int(sign)
        return
    expand(f, row, cf + X_SUM, FIRST, sign * left)
    expand(f, row, cf + Y_SUM, FIRST, sign * right)
    expand_twofold(f, row, cf + XX_SUM, left, left, sign)
    expand_twofold(f, row, cf + YY_SUM, right, right, sign)
    expand_twofold(f, row, cf + XY_SUM, left, right, sign)


def pair_scatter(
    f: Floats, row: int, cf: int, n: int, products: int, left: int, right: int, into: int
) -> tuple[float, float]:
    """n * (sum of products) - sum * sum, as a pair; see `exact_sums.scattered`."""
    at = cf + into
    expand_scaled(f, row, at, THIRD, cf + products, SECOND, float(n))
    expand_product(f, row, at, THIRD, cf + left, FIRST, cf + right, FIRST, -1.0)
    rest = 0.0
    for c in range(at + THIRD - 1, at, -1):
        rest += f[row, c]
    return two_sum(f[row, at], rest)


def correlation_value(i: Ints, f: Floats, row: int, ci: int, cf: int) -> float:
    n = i[row, ci]
    if n == 0 or i[row, ci + 1] > 0:
        return math.nan
    into = PAIR_SUMS
    a, a_low = pair_scatter(f, row, cf, n, XY_SUM, X_SUM, Y_SUM, into)
    b, b_low = pair_scatter(f, row, cf, n, XX_SUM, X_SUM, X_SUM, into + THIRD)
    c, c_low = pair_scatter(f, row, cf, n, YY_SUM, Y_SUM, Y_SUM, into + 2 * THIRD)
    if b <= 0.0 or c <= 0.0:
        return math.nan
    # squared, so that there is one root: (a + a_low) ** 2 / ((b + b_low) * (c + c_low))
    p, p_low = square(a)
    p_low += 2.0 * a * a_low
    d, d_low = two_product(b, c)
    d_low += b * c_low + c * b_low
    q = p / d
    s, e = two_product(q, d)
    share, rest = two_sum(q, ((((p - s) - e) + p_low) - q * d_low) / d)
    if share + rest * (1.0 - SLACK) != share + rest * (1.0 + SLACK):
        share = pair_share(f, row, cf, share, share + rest * (1.0 + SLACK))
    return math.sqrt(share) if a > 0.0 else -math.sqrt(share)


def pair_share(f: Floats, row: int, cf: int, near: float, far: float) -> float:
    """The nearer of two neighbours to along ** 2 / (across * upward), which is about half-way.

    What is left of along ** 2 when half-way times the rest is taken off has no error.
    """
    into, middle, below, rest = cf + PAIR_SUMS, cf + AT_MIDDLE, cf + AT_BELOW, cf + AT_REST
    half = (far - near) * 0.5
    f[row, middle], f[row, middle + 1] = near, half
    for c in range(below, rest + REST):
        f[row, c] = 0.0
    expand_product(f, row, below, SIXTH, into + THIRD, THIRD, into + 2 * THIRD, THIRD, 1.0)
    expand_product(f, row, rest, REST, into, THIRD, into, THIRD, 1.0)
    expand_product(f, row, rest, REST, middle, 2, below, SIXTH, -1.0)
    if f[row, rest] == 0.0:
        return near + half  # to the even one
    return far if (f[row, rest] > 0.0) == (half > 0.0) else near


_PAIR = f"correlation_enter({CELLS}, {{0}}, {{1}}, %d)"


def _traded(begins: bool) -> Cells:
    enter = f"vwap_enter({CELLS}, {{0}}, {{1}}, %d, {begins})"
    return Cells(1 if begins else 2, 4, enter % 1, f"vwap_value({CELLS})", enter % -1)


VWAP = Aggregator(
    Signature(
        "vwap",
        (Parameter("price", NUMBER), Parameter("volume", NUMBER)),
        "the mean price, weighted by volume",
        Type.DOUBLE,
    ),
    lambda aggregate: WeightedPrice(),
    "vwap(x, n)",
    _traded(begins=True),
    (vwap_enter, vwap_value),
    native_left=_traded(begins=False),
)
CORRELATION = Aggregator(
    Signature("correlation", (X, Y), "Pearson's correlation of two values", Type.DOUBLE),
    lambda aggregate: Correlation(),
    "correlation(x, y)",
    Cells(2, PAIR_CELLS, _PAIR % 1, f"correlation_value({CELLS})", _PAIR % -1),
    (correlation_enter, correlation_value),
)
