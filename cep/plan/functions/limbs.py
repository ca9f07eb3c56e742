"""Exact sums as compiled kernels keep them: what `ExactSum` keeps in a whole number of any length.

A sum is a whole number of 2 ** -1074, the smallest double, in limbs of 32 bits; so it has room for
every double and for 2 ** 60 of the largest. Limbs may be beyond 32 bits, and negative, until they
are settled. Only the limbs that are in use are ever looked at: mostly about five.
"""

from __future__ import annotations

import math

from cep.plan.functions.native import Ints

# Cells: the first limb in use and the one past the last, how often something was added since the
# limbs were settled, how many infinities of each sign, the limbs.
LOW, HIGH, ADDED, RISES, FALLS, FIRST = 0, 1, 2, 3, 4, 5
LIMBS = 71
SUM = FIRST + LIMBS
"""Words of a sum, all 0 at first."""
BITS = 32
MASK = 0xFFFFFFFF
HALF_LIMB = 0x80000000
OFTEN = 2**28
"""So often something can be added before limbs overflow: each time less than four times 2 ** 32."""
SIGNIFICAND = 9007199254740992.0
LEAST_EXPONENT = 1074
LARGEST_EXPONENT = 971
"""Of a whole significand."""
DIGITS = 3


def limbs_piece(i: Ints, row: int, at: int, piece: int, position: int, sign: int) -> None:
    """Add less than 2 ** 32, shifted by so many bits."""
    wide = piece << (position % BITS)
    limb = at + FIRST + position // BITS
    i[row, limb] += sign * (wide & MASK)
    i[row, limb + 1] += sign * (wide >> BITS)


def limbs_use(i: Ints, row: int, at: int, low: int, high: int) -> None:
    """These limbs are in use, too."""
    if i[row, at + HIGH] == 0:
        i[row, at + LOW] = low
        i[row, at + HIGH] = high
    else:
        i[row, at + LOW] = min(i[row, at + LOW], low)
        i[row, at + HIGH] = max(i[row, at + HIGH], high)


def limbs_settle(i: Ints, row: int, at: int) -> None:
    """Have 32 bits in each limb but the last, whose sign is that of the sum."""
    i[row, at + ADDED] = 0
    if i[row, at + HIGH] == 0:
        return
    first = at + FIRST
    carry = 0
    limb = i[row, at + LOW]
    while True:
        wide = i[row, first + limb] + carry
        if limb >= i[row, at + HIGH] - 1 and -HALF_LIMB <= wide < HALF_LIMB:
            i[row, first + limb] = wide
            break
        i[row, first + limb] = wide & MASK
        carry = wide >> BITS
        limb += 1
    low, high = i[row, at + LOW], limb + 1
    while high > low and i[row, first + high - 1] == 0:
        high -= 1
    while low < high and i[row, first + low] == 0:
        low += 1
    i[row, at + LOW] = low if low < high else 0
    i[row, at + HIGH] = high if low < high else 0


def limbs_add(i: Ints, row: int, at: int, value: float, factor: int, sign: int) -> None:
    """A value times a whole number from 1 to 2 ** 31 comes (sign 1) or goes (-1)."""
    if math.isinf(value):
        i[row, at + (RISES if value > 0.0 else FALLS)] += sign
        return
    if value == 0.0 or math.isnan(value):
        return
    share, exponent = math.frexp(abs(value))
    whole = int(share * SIGNIFICAND)
    position = exponent - 53 + LEAST_EXPONENT
    if position < 0:
        whole >>= -position
        position = 0
    if value < 0.0:
        sign = -sign
    limbs_use(i, row, at, position // BITS, position // BITS + 4)
    low, high = (whole & MASK) * factor, (whole >> BITS) * factor
    limbs_piece(i, row, at, low & MASK, position, sign)
    limbs_piece(i, row, at, low >> BITS, position + BITS, sign)
    limbs_piece(i, row, at, high & MASK, position + BITS, sign)
    limbs_piece(i, row, at, high >> BITS, position + 2 * BITS, sign)
    i[row, at + ADDED] += 1
    if i[row, at + ADDED] >= OFTEN:
        limbs_settle(i, row, at)


def limbs_add_sum(i: Ints, row: int, at: int, other: int, sign: int) -> None:
    """All of another sum comes (sign 1) or goes (-1)."""
    i[row, at + RISES] += sign * i[row, other + RISES]
    i[row, at + FALLS] += sign * i[row, other + FALLS]
    limbs_settle(i, row, other)
    if i[row, other + HIGH] == 0:
        return
    limbs_use(i, row, at, i[row, other + LOW], i[row, other + HIGH])
    for limb in range(FIRST + i[row, other + LOW], FIRST + i[row, other + HIGH]):
        i[row, at + limb] += sign * i[row, other + limb]
    i[row, at + ADDED] += 1
    if i[row, at + ADDED] >= OFTEN:
        limbs_settle(i, row, at)


def limbs_clear(i: Ints, row: int, at: int) -> None:
    """Nothing is in it."""
    for limb in range(FIRST + i[row, at + LOW], FIRST + i[row, at + HIGH]):
        i[row, at + limb] = 0
    for cell in range(FIRST):
        i[row, at + cell] = 0


def limbs_over(i: Ints, row: int, at: int, divisor: int) -> float:
    """The sum divided by a whole number below 2 ** 31, rounded once; null of infinities of both
    signs."""
    if i[row, at + RISES] != 0 or i[row, at + FALLS] != 0:
        if i[row, at + RISES] != 0 and i[row, at + FALLS] != 0:
            return math.nan
        return math.inf if i[row, at + RISES] != 0 else -math.inf
    limbs_settle(i, row, at)
    if i[row, at + HIGH] == 0:
        return 0.0
    if i[row, at + FIRST + i[row, at + HIGH] - 1] > 0:
        return limbs_quotient(i, row, at, divisor)
    limbs_flip(i, row, at)
    limbs_settle(i, row, at)
    found = -limbs_quotient(i, row, at, divisor)
    limbs_flip(i, row, at)
    return found


def limbs_flip(i: Ints, row: int, at: int) -> None:
    """The sum with the other sign."""
    for limb in range(FIRST + i[row, at + LOW], FIRST + i[row, at + HIGH]):
        i[row, at + limb] = -i[row, at + limb]


def limbs_quotient(i: Ints, row: int, at: int, divisor: int) -> float:
    """A sum above 0, which is settled, divided: the first digits, of 32 bits, and what is left."""
    low, limb = i[row, at + LOW], i[row, at + HIGH]
    one, two, three, found, first, rest = 0, 0, 0, 0, 0, 0
    while found < DIGITS:
        limb -= 1
        wide = rest << BITS
        if limb >= low:
            wide += i[row, at + FIRST + limb]
        digit = wide // divisor
        rest = wide - digit * divisor
        if found > 0 or digit != 0:
            one, two, three = two, three, digit
            first = limb if found == 0 else first
            found += 1
    return limbs_rounded(one, two, three, first, rest != 0 or low < limb)


def limbs_rounded(one: int, two: int, three: int, first: int, is_more: bool) -> float:
    """The nearest double to digits whose first stands so many limbs up; to the even one half-way.

    `is_more`: something smaller follows them.
    """
    left = BITS
    while one >> (BITS - left) != 0:
        left -= 1
    high = ((one << left) | (two >> (BITS - left))) & MASK
    low = ((two << left) | (three >> (BITS - left))) & MASK
    is_more = is_more or ((three << left) & MASK) != 0
    whole, cut = (high << 21) | (low >> 11), low & 2047
    exponent = BITS * first - left - 21
    half = 1024
    if exponent < 0:  # too small for all digits of a double
        if exponent < -53:
            return 0.0
        is_more = is_more or cut != 0
        cut, half = whole & ((1 << -exponent) - 1), 1 << (-exponent - 1)
        whole >>= -exponent
        exponent = 0
    if cut > half or (cut == half and (is_more or whole % 2 == 1)):
        whole += 1
    exponent -= LEAST_EXPONENT
    if exponent > LARGEST_EXPONENT or (exponent == LARGEST_EXPONENT and whole >= SIGNIFICAND):
        return math.inf
    return math.ldexp(float(whole), int(exponent))
