"""Indicators of the user behind a stream: what they give is added to each row."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.fed import GIVEN, fed
from cep.engine.machine.kernels.keyed import KEYED, KEYED_ADDED, KEYED_KEYS, OF_KEY, keyed_at
from cep.engine.machine.kernels.words import (
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    FAILED,
    KIND,
    NEXT,
    NODE,
    PLACE,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on_same, row_at

OWN_CODE, OWN_COUNT = KEYED, KEYED + 1
"""A node, behind what all functions of groups have: the call of Python, how many values come."""


@inner
def step_own(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row gets what the indicator of its group has given last."""
    node = i[0, frame + NODE]
    first = row_at(i, i[0, frame + CHUNK])
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = first + i[0, frame + CURSOR] * p[node + WIDTH]
        group = keyed_at(i, f, p, node, i[0, frame + PLACE], row)
        if group == 0:
            return False
        state = group + OF_KEY + p[node + KEYED_KEYS]
        fed(i, f, p, p[node + OWN_CODE], row, state, i[0, row + KIND] == CURRENT)
        if i[0, FAILED]:
            return True  # all of it is lost
        copied(i, state + GIVEN, row + p[node + KEYED_ADDED], p[node + OWN_COUNT])
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True
