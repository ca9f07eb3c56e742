"""Rows in order, by their addresses: sorted by two words of each."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.words import Ints


@inline
def comes_after(i: Ints, row: int, other: int, first: int, mask: int, second: int) -> bool:
    """Whether a row is after another, by some bits of its first word, then by its second."""
    one, two = i[0, row + first] & mask, i[0, other + first] & mask
    return one > two or (one == two and i[0, row + second] > i[0, other + second])


@inner
def in_order(i: Ints, at: int, other: int, count: int, first: int, mask: int, second: int) -> None:
    """Sort the addresses at `at`; as many words at `other` are used. O(n) where they are sorted."""
    place = 1
    while place < count and not comes_after(
        i, i[0, at + place - 1], i[0, at + place], first, mask, second
    ):
        place += 1
    if place >= count:
        return
    source, target = at, other
    length = 1
    while length < count:
        for low in range(0, count, 2 * length):
            middle, high = min(low + length, count), min(low + 2 * length, count)
            merged(i, source, target, low, middle, high, first, mask, second)
        source, target = target, source
        length *= 2
    if source != at:
        for place in range(count):
            i[0, at + place] = i[0, source + place]


@inner
def merged(
    i: Ints, source: int, target: int, low: int, middle: int, high: int,
    first: int, mask: int, second: int,
) -> None:  # fmt: skip
    """Merge two neighbouring runs of addresses, each of which is in order."""
    left, right = low, middle
    for place in range(low, high):
        takes_left = right >= high
        if left < middle and right < high:
            takes_left = not comes_after(
                i, i[0, source + left], i[0, source + right], first, mask, second
            )
        if takes_left:
            i[0, target + place] = i[0, source + left]
            left += 1
        else:
            i[0, target + place] = i[0, source + right]
            right += 1
