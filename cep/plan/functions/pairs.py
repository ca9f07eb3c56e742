"""Sums that do not drift: by double-double arithmetic, an aggregate is the rounded exact value.

A window's sum is kept as an unevaluated pair high + low (about 106 bits) of the values' distances
from a nearby reference value. What leaves the window is subtracted again without loss, hence the
result depends on the window's contents alone and not on what went through it, and every back end
that rounds the exact value agrees to the last bit.
Sources: Dekker, "A floating-point technique for extending the available precision" (1971);
Ogita, Rump, Oishi, "Accurate sum and dot product" (2005).
"""

from __future__ import annotations

import math

SPLITTER = 134217729.0  # 2**27 + 1: halves a 53-bit significand
LARGEST, SHIFT = 2.0**990, 2.0**100
SLACK = 2.0**-40


def two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b as (rounded sum, exact error)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def two_product(a: float, b: float) -> tuple[float, float]:
    """a * b as (rounded product, exact error)."""
    p = a * b
    return p, product_error(a, b, p)


def square(a: float) -> tuple[float, float]:
    """a * a as (rounded product, exact error)."""
    p = a * a
    return p, product_error(a, a, p)


def product_error(a: float, b: float, p: float) -> float:
    """a * b - p, exactly, where p is a * b rounded; machine code has `cep.engine.fused`."""
    return error_by_halves(a, b, p)


def error_by_halves(a: float, b: float, p: float) -> float:
    """The same from products of half as long factors, which are exact."""
    if abs(a) > LARGEST:  # its halves would overflow
        a, b = a / SHIFT, b * SHIFT
    elif abs(b) > LARGEST:
        a, b = a * SHIFT, b / SHIFT
    t = SPLITTER * a
    ah = t - (t - a)
    al = a - ah
    t = SPLITTER * b
    bh = t - (t - b)
    bl = b - bh
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl


def add_pair(high: float, low: float, a: float, b: float) -> tuple[float, float]:
    """(high + low) + (a + b), where b is small beside a."""
    s, e = two_sum(high, a)
    e += low + b
    h = s + e
    return h, e - (h - s)


def divide_pair(high: float, low: float, n: float) -> tuple[float, float]:
    """(high + low) / n for a small integer n."""
    q = high / n
    p, e = two_product(q, n)
    rest = ((high - p) - e) + low
    return q, rest / n


def mean(n: int, reference: float, high: float, low: float) -> float:
    """Mean of n values whose distances from `reference` sum up to high + low."""
    q, r = divide_pair(high, low, float(n))
    s, e = two_sum(reference, q)
    return s + (e + r)


def total(n: int, reference: float, high: float, low: float) -> float:
    """Sum of n values whose distances from `reference` sum up to high + low."""
    p, e = two_product(reference, float(n))
    s, z = two_sum(p, high)
    return s + (z + (e + low))


def scatter(n: int, high: float, low: float, high2: float, low2: float) -> tuple[float, float]:
    """n * (sum of squares) - (sum) ** 2 as a pair: n * n times the population variance."""
    p, e = two_product(high2, float(n))
    e += low2 * n
    s, z = square(high)
    z += 2.0 * high * low
    d, x = two_sum(p, -s)
    x += e - z
    h = d + x
    return h, x - (h - d)


def deviation(n: int, high: float, low: float) -> float:
    """Population standard deviation from `scatter`; one Newton step makes the root exact."""
    if high <= 0.0:
        return 0.0
    root = math.sqrt(high)
    p, e = square(root)
    rest = (((high - p) - e) + low) / (2.0 * root)
    q, r = divide_pair(root, rest, float(n))
    return evenly(q, r)


def evenly(high: float, low: float) -> float:
    """high + low rounded once, where it is off by less than `SLACK` of its distance to a double.

    Half-way between two doubles that decides: such a sum is taken for what it is without the error,
    and rounded to the even one. The deviation of two values is half-way as often as not.
    """
    s, e = two_sum(high, low)
    near, far = s + e * (1.0 - SLACK), s + e * (1.0 + SLACK)
    if near == far:
        return near
    return s + (far - s) * 0.5
