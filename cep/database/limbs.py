"""Numbers as sums of a few whole ones, their limbs, which 64 bits add up without error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.conversions import real
from cep.database.dialects.base import Element
from cep.plan.types import Type


@dataclass(frozen=True, slots=True)
class Limbs:
    """A number is the sum of limb k times 2 ** (`bits` * (`count` - 1 - k) - `lowest`).

    The first limb has the number's size, the others are smaller than 2 ** `bits`: 2 ** (62 -
    `bits`) rows can be summed up.
    """

    bits: int
    count: int
    lowest: int
    is_whole: bool

    def of(self, number: Element) -> tuple[Element, ...]:
        """The limbs of a number, largest first; null of null."""
        split = _whole_limb if self.is_whole else _real_limb
        return tuple(split(self, number, place) for place in range(self.count))

    def hold(self, number: Element) -> Element:
        """Whether the limbs are the number, with no digit lost; null of null."""
        if self.is_whole:
            return number.is_not(None)
        value = real(number)
        end = 2.0 ** (self.bits * self.count - self.lowest)
        scaled = sa.case((sa.func.abs(value) < end, value)) * _double(2.0**self.lowest)
        return sa.case((value.is_not(None), sa.func.coalesce(scaled == _trunc(scaled), sa.false())))

    @property
    def squares(self) -> Limbs:
        """The limbs of squares."""
        return Limbs(self.bits, 2 * self.count, 2 * self.lowest, self.is_whole)

    def squared(self, limbs: Sequence[Element]) -> tuple[Element, ...]:
        """The limbs of the square of a number with these limbs.

        What of a product is more than a limb goes to the next one above.
        """
        weights = range(2 * self.count - 1)
        products = [_sum_of_products(limbs, weight) for weight in weights]
        above = [right_shifted(one, self.bits) for one in products]
        below = [one.bitwise_and(2**self.bits - 1) for one in products]
        middle = [low + high for low, high in zip(below, above[1:], strict=False)]
        return (above[0], *middle, below[-1])

    def total(self, sums: Sequence[int]) -> int:
        """The whole number over 2 ** `lowest` that sums of limbs stand for."""
        found = 0
        for one in sums:
            found = (found << self.bits) + one
        return found


DOUBLES = Limbs(30, 5, 100, False)
"""Multiples of 2 ** -100 below 2 ** 50."""
INTS = Limbs(31, 1, 0, True)
LONGS = Limbs(24, 3, 0, True)
LIMBS = {Type.INT: INTS, Type.LONG: LONGS, Type.FLOAT: DOUBLES, Type.DOUBLE: DOUBLES}


def right_shifted(number: Element, bits: int) -> Element:
    """Divided by a power of two, rounded down."""
    return number.bitwise_rshift(sa.literal(bits, sa.Integer()))


def _sum_of_products(limbs: Sequence[Element], weight: int) -> Element:
    """Of those pairs of limbs whose places sum up to `weight`."""
    last = len(limbs) - 1
    pairs = [(one, weight - one) for one in range(max(0, weight - last), min(weight, last) + 1)]
    found, *others = [limbs[left] * limbs[right] for left, right in pairs]
    for other in others:
        found = found + other
    return found


def _whole_limb(limbs: Limbs, number: Element, place: int) -> Element:
    below = limbs.bits * (limbs.count - 1 - place)
    shifted = right_shifted(number, below) if below else number
    return shifted if place == 0 else shifted.bitwise_and(2**limbs.bits - 1)


def _real_limb(limbs: Limbs, number: Element, place: int) -> Element:
    """What two truncations differ in: powers of two scale exactly, and the difference is small."""
    value = real(number)
    power = limbs.lowest - limbs.bits * (limbs.count - 1 - place)
    here = _trunc(value * _double(2.0**power))
    if place:
        above = _trunc(value * _double(2.0 ** (power - limbs.bits)))
        here = here - above * _double(2.0**limbs.bits)
    return sa.cast(here, sa.BigInteger())


def _trunc(value: Element) -> Element:
    return sa.func.trunc(value, type_=sa.Double())


def _double(value: float) -> Element:
    return sa.cast(sa.literal(value, sa.Double()), sa.Double())
