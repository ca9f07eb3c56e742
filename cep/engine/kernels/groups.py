"""Rows of groups and of keys that are only known inside a kernel: open addressing, O(1)."""

from __future__ import annotations

import numpy as np

from cep.engine.jit import inline, inner
from cep.engine.kernels.state import GROUPS, KEYS, State

LOW = 0x3FFFFFFF
MIX, MIX_KIND = 0x1E3779B9, 0x2545F491
"""Odd multipliers of at most 30 bits, as `LOW` has: products stay inside int64."""


@inline
def bucket_of(kind: int, value: int, size: int) -> int:
    """First bucket to try; `size` is a power of two. Takes arrays, too.

    Consecutive values of one kind, and of one value all kinds, get different buckets. The number of
    an outer group stands in a kind above 16 bits, and must count as much as the value does.
    """
    low, outer = (value ^ (value >> 29)) & LOW, (kind ^ (kind >> 16)) & LOW
    return (((low * MIX) ^ (outer * MIX_KIND)) >> 11) & (size - 1)


@inline
def float_bits(value: float) -> int:
    """A float as a group value: its bits, with one zero and one null."""
    if value == 0.0:
        return 0
    return int(np.float64(value).view(np.int64))


@inner
def group_row(s: State, kind: int, value: int) -> int:
    """The row of a group in `ai`/`af`, opened on first sight."""
    size = len(s.ht)
    bucket = bucket_of(kind, value, size)
    while s.ht[bucket, 2] != 0:
        if s.ht[bucket, 0] == kind and s.ht[bucket, 1] == value:
            return s.ht[bucket, 2] - 1
        bucket = (bucket + 1) & (size - 1)
    row = s.gi[0, GROUPS]
    s.gi[0, GROUPS] = row + 1
    s.ht[bucket, 0] = kind
    s.ht[bucket, 1] = value
    s.ht[bucket, 2] = row + 1
    return row


@inner
def key_row(s: State, code: int) -> int:
    """The key row of a string code that arose inside the plan; 0 for null."""
    if code < 0:
        return 0
    if s.slot[code] == 0:
        s.gi[0, KEYS] += 1
        s.slot[code] = s.gi[0, KEYS]
        s.ki[s.gi[0, KEYS], 0] = code
    return s.slot[code]
