"""Sums without error: whole numbers over a power of two, rounded to a double once, at the end.

The value depends on what is in the sum alone, not on what went through it.
"""

from __future__ import annotations

import math
from typing import Any

ROOT_BITS = 128
"""Bits of a root beyond those of its argument: more than a double can show."""


class ExactSum:
    """The sum of numbers as `whole` / 2 ** `bits`, with infinities counted apart."""

    __slots__ = ("bits", "falls", "rises", "whole")

    def __init__(self) -> None:
        self.whole = 0
        self.bits = 0
        self.rises = 0
        self.falls = 0

    def add(self, value: float, sign: int = 1) -> None:
        """A value comes, or with sign -1 goes."""
        try:
            numerator, denominator = value.as_integer_ratio()
        except OverflowError:
            self._count_infinite(value, sign)
            return
        self._add(sign * numerator, denominator)

    def add_product(self, left: float, right: float, sign: int = 1) -> None:
        """The product of two values comes or goes, unrounded."""
        if math.isinf(left) or math.isinf(right):
            self._count_infinite(left * right, sign)
            return
        a, b = left.as_integer_ratio()
        c, d = right.as_integer_ratio()
        self._add(sign * a * c, b * d)

    def add_sum(self, other: ExactSum, sign: int = 1) -> None:
        """All of another sum comes or goes."""
        self.rises += sign * other.rises
        self.falls += sign * other.falls
        self._add(sign * other.whole, 1 << other.bits)

    @property
    def infinite(self) -> bool:
        """Whether an infinity is in it."""
        return bool(self.rises or self.falls)

    @property
    def is_zero(self) -> bool:
        """Whether all that came has gone, or cancelled out."""
        return not (self.whole or self.rises or self.falls)

    def over(self, divisor: int) -> float | None:
        """The sum divided by a whole number, rounded once; null for infinity less infinity."""
        if self.infinite:
            both = self.rises and self.falls
            return None if both else math.inf if self.rises else -math.inf
        return divided(self.whole, divisor << self.bits)

    def clear(self) -> None:
        """Nothing is in it."""
        self.whole = self.bits = self.rises = self.falls = 0

    def state(self) -> Any:
        """Plain data; the whole number as text, it may have any length."""
        return [str(self.whole), self.bits, self.rises, self.falls]

    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""
        whole, self.bits, self.rises, self.falls = state
        self.whole = int(whole)

    def _add(self, numerator: int, denominator: int) -> None:
        bits = denominator.bit_length() - 1
        if bits > self.bits:
            self.whole <<= bits - self.bits
            self.bits = bits
        self.whole += numerator << (self.bits - bits)

    def _count_infinite(self, value: float, sign: int) -> None:
        if value > 0:
            self.rises += sign
        else:
            self.falls += sign


def divided(numerator: int, denominator: int) -> float:
    """The double nearest to a quotient; infinite when beyond the largest."""
    try:
        return numerator / denominator  # Python rounds int / int correctly
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def root_over(square: int, divisor: int) -> float:
    """The double nearest to the root of a whole number >= 0, divided by another."""
    scaled = square << 2 * ROOT_BITS
    root = math.isqrt(scaled)
    is_rounded = root * root != scaled
    return divided(2 * root + is_rounded, divisor << ROOT_BITS + 1)  # the odd bit breaks ties


class ExactMoments:
    """How many values, their sum and that of their squares."""

    __slots__ = ("count", "squares", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = ExactSum()
        self.squares = ExactSum()

    def add(self, value: float, sign: int = 1) -> None:
        """A value comes, or with sign -1 goes."""
        self.count += sign
        self.total.add(value, sign)
        self.squares.add_product(value, value, sign)

    @property
    def mean(self) -> float | None:
        """Null of nothing."""
        return self.total.over(self.count) if self.count else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the population.

        Null of nothing, of infinities, and where other values have gone than came.
        """
        if self.count <= 0 or self.total.infinite:
            return None
        scatter, bits = scattered(self.count, self.squares, self.total, self.total)
        return None if scatter < 0 else root_over(scatter, self.count << bits)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of what came and went."""
        return not self.count and self.total.is_zero and self.squares.is_zero

    def clear(self) -> None:
        """All have gone."""
        self.count = 0
        self.total.clear()
        self.squares.clear()

    def state(self) -> Any:
        """Plain data."""
        return [self.count, self.total.state(), self.squares.state()]

    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""
        self.count = state[0]
        self.total.restore(state[1])
        self.squares.restore(state[2])


def scattered(count: int, products: ExactSum, left: ExactSum, right: ExactSum) -> tuple[int, int]:
    """count * (sum of products) - sum * sum, as a whole number over 4 ** the second."""
    bits = max(left.bits, right.bits, (products.bits + 1) // 2)
    cross = (left.whole << bits - left.bits) * (right.whole << bits - right.bits)
    return count * (products.whole << 2 * bits - products.bits) - cross, bits
