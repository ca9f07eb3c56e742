"""Partitions: each key has a home of its own, opened when the key first comes."""

from __future__ import annotations

import math

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.clocks import go_by, key_of
from cep.engine.machine.kernels.evaluate import is_true, leave_value
from cep.engine.machine.kernels.keys import REAL_KEY
from cep.engine.machine.kernels.memory import (
    cleared,
    index_add,
    index_find,
    index_room,
    owner_made,
    release,
    ring_cell,
    ring_length,
    ring_room,
)
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURSOR,
    EVALUATION,
    INDEX,
    MADE_COUNT,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RING,
    RING_HEAD,
    RING_TAIL,
    START,
    STATE,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    copied,
    frame_room,
    pop,
    push,
    put,
    row_at,
    top_frame,
    work_room,
)

# A node: what its keys are; how many words a home has; how many parts have to be told that it
# begins, and where these stand; whether idle keys are forgotten; how many conditions it has (0: its
# key is a value); then the expression of the value, or each condition with its key.
(ROUTE_TAG, ROUTE_HOME, ROUTE_STARTS, ROUTE_FIRST_START, ROUTE_FORGETS, ROUTE_RANGES,
 ROUTE_CODES) = range(ARGUMENTS, ARGUMENTS + 7)  # fmt: skip

# The state of a partition: its homes by key, and in the order in which they were opened.
HOMES, OPENED, PARTITION_STATE = 0, INDEX, INDEX + RING
# A home: the block of its key, the key, where idle keys are forgotten when it was last seen and
# where its blocks are linked; then the state of the queries.
HOME_KEY, HOME_SEEN, HOME_OWNER = 1, 2, 3


@inner
def has_key(i: Ints, f: Floats, p: Ints, node: int, row: int, number: int) -> bool:
    """Whether a row belongs to one of the keys, which is left where expressions are evaluated."""
    if p[node + ROUTE_RANGES]:
        code = node + ROUTE_CODES + 2 * number
        if not is_true(i, f, p, p[code], row):
            return False
        i[0, EVALUATION] = p[code + 1]
        return True
    leave_value(i, f, p, p[node + ROUTE_CODES], row, EVALUATION)
    if p[node + ROUTE_TAG] == REAL_KEY:
        return not math.isnan(f[0, EVALUATION])
    return i[0, EVALUATION] != NULL


@inner
def home_opened(i: Ints, p: Ints, node: int, state: int, key: int) -> int:
    """A home for a key that has none; 0 where there is no room."""
    if not (
        index_room(i, state + HOMES, 1, HOME_KEY)
        and ring_room(i, state + OPENED, 1)
        and frame_room(i, p[node + ROUTE_STARTS])
    ):
        return 0
    block = key_of(i, p, p[node + ROUTE_TAG], key)
    home = cleared(i, p[node + ROUTE_HOME]) if block != 0 else 0
    if home == 0:
        return 0
    if p[node + ROUTE_FORGETS]:
        owner = owner_made(i)
        if owner == 0:
            release(i, home, p[node + ROUTE_HOME])
            return 0
        i[0, home + HOME_OWNER] = owner
    i[0, home] = block
    i[0, home + HOME_KEY] = key
    index_add(i, state + HOMES, home, 1, HOME_KEY)
    i[0, ring_cell(i, state + OPENED, i[0, state + OPENED + RING_TAIL], 1)] = home
    i[0, state + OPENED + RING_TAIL] += 1
    return home


@inner
def tell_start(i: Ints, p: Ints, node: int, home: int) -> None:
    """Have the parts of a new home told that it begins, in order; there is room for the frames."""
    go_by(i, p, node, i[0, home])
    for number in range(p[node + ROUTE_STARTS] - 1, -1, -1):
        part = p[p[node + ROUTE_FIRST_START] + number]
        push(i, part, home, i[0, NOW], START, i[0, WORK_TOP])


@inline
def pairs_of(i: Ints, p: Ints, node: int, frame: int) -> int:
    """How many pairs of a row and a key it may belong to there are."""
    return i[0, frame + COUNT] * max(p[node + ROUTE_RANGES], 1)


@inner
def next_pair(i: Ints, f: Floats, p: Ints, node: int, frame: int, first: int) -> int:
    """The first pair from `first` on that is one; the key is left where expressions are."""
    ranges = max(p[node + ROUTE_RANGES], 1)
    for pair in range(first, pairs_of(i, p, node, frame)):
        # Mostly the key is a value, and the division would cost more than what is left.
        place, number = (pair, 0) if ranges == 1 else (pair // ranges, pair % ranges)
        row = row_at(i, i[0, frame + CHUNK] + place * p[node + WIDTH])
        if has_key(i, f, p, node, row, number):
            return pair
    return pairs_of(i, p, node, frame)


@inner
def step_route(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Neighbouring rows of one key go to its home together."""
    node = i[0, frame + NODE]
    pairs, width = pairs_of(i, p, node, frame), p[node + WIDTH]
    pair = next_pair(i, f, p, node, frame, i[0, frame + CURSOR])
    if pair == pairs:
        pop(i, frame)
        return True
    key, state = i[0, EVALUATION], i[0, frame + PLACE] + p[node + STATE]
    home = index_find(i, state + HOMES, EVALUATION, 1, HOME_KEY)
    if home == 0:
        home = home_opened(i, p, node, state, key)
        if home == 0:
            return False
        if p[node + ROUTE_STARTS]:
            tell_start(i, p, node, home)
            return True
    if p[node + ROUTE_FORGETS]:
        i[0, home + HOME_SEEN] = i[0, NOW]
    if pairs == 1:  # the only row: its frame goes on as it is
        i[0, frame + NODE] = p[node + NEXT]
        i[0, frame + PLACE] = home
        i[0, frame + CURSOR] = 0
        return True
    if not frame_room(i, 1) or not work_room(i, i[0, top_frame(i) + COUNT] * width):
        return False
    frame = top_frame(i)
    floor = i[0, WORK_TOP]
    count, ranges = 0, max(p[node + ROUTE_RANGES], 1)
    while pair < pairs and i[0, EVALUATION] == key:
        row = row_at(i, i[0, frame + CHUNK] + pair // ranges * width)
        copied(i, row, row_at(i, put(i, width)), width)
        count += 1
        i[0, frame + CURSOR] = pair + 1
        pair = next_pair(i, f, p, node, frame, pair + 1)
    push(i, p[node + NEXT], home, floor, count, floor)
    return True


@inner
def step_to_all(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows without a key go to every home there is, in the order in which they were opened."""
    node = i[0, frame + NODE]
    opened = i[0, frame + PLACE] + p[node + STATE] + OPENED
    number = i[0, frame + CURSOR]
    if number == 0:
        i[0, frame + MADE_COUNT] = ring_length(i, opened)
    if number == i[0, frame + MADE_COUNT]:
        pop(i, frame)
        return True
    if not frame_room(i, 1):
        return False
    frame = top_frame(i)
    i[0, frame + CURSOR] = number + 1
    home = i[0, ring_cell(i, opened, i[0, opened + RING_HEAD] + number, 1)]
    push(i, p[node + NEXT], home, i[0, frame + CHUNK], i[0, frame + COUNT], i[0, WORK_TOP])
    return True
