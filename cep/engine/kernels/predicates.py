"""Filters of one shape: the hash index over their constants, and the order of those that hold."""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.groups import bucket_of
from cep.engine.kernels.state import Ints

FEW = 16
"""So many numbers are sorted by insertion."""


@inline
def bucket_with(index: Ints, value: int) -> int:
    """The bucket of a value, or an empty one; rows of `index` are (value, first, past)."""
    size = len(index)
    bucket = bucket_of(0, value, size)
    while index[bucket, 1] < index[bucket, 2] and index[bucket, 0] != value:
        bucket = (bucket + 1) & (size - 1)
    return bucket


@inner
def sort_hits(gi: Ints, first: int, count: int) -> None:
    """Put `count` numbers from column `first` on in ascending order; O(n log n)."""
    if count <= FEW:
        _insert(gi, first, count)
        return
    for root in range(count // 2 - 1, -1, -1):
        _sift(gi, first, root, count)
    for last in range(count - 1, 0, -1):
        gi[0, first], gi[0, first + last] = gi[0, first + last], gi[0, first]
        _sift(gi, first, 0, last)


@inline
def _insert(gi: Ints, first: int, count: int) -> None:
    for place in range(1, count):
        value = gi[0, first + place]
        at = place
        while at > 0 and gi[0, first + at - 1] > value:
            gi[0, first + at] = gi[0, first + at - 1]
            at -= 1
        gi[0, first + at] = value


@inner
def _sift(gi: Ints, first: int, root: int, count: int) -> None:
    """Let the number at `root` sink in the heap of the first `count`, greatest on top."""
    value = gi[0, first + root]
    while 2 * root + 1 < count:
        child = 2 * root + 1
        if child + 1 < count and gi[0, first + child] < gi[0, first + child + 1]:
            child += 1
        if gi[0, first + child] <= value:
            break
        gi[0, first + root] = gi[0, first + child]
        root = child
    gi[0, first + root] = value
