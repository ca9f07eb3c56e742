"""Functions that add values to each row: Bollinger bands, MACD, points of angles."""

from __future__ import annotations

import math

from cep.engine.jit import compiled, inner
from cep.engine.kernels.moments import CELLS as MOMENTS
from cep.engine.kernels.moments import (
    moments_deviation,
    moments_enter,
    moments_leave,
    moments_mean,
)
from cep.engine.machine.kernels.collected import rebase_if_far
from cep.engine.machine.kernels.evaluate import evaluate, leave_value, store
from cep.engine.machine.kernels.keyed import KEYED, KEYED_ADDED, KEYED_KEYS, OF_KEY, keyed_at
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    EVALUATION,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RING,
    RING_HEAD,
    RING_TAIL,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import hand_on_same, pop, row_at
from cep.plan.functions import smoothing

# A node, behind what all functions of groups have: the expression of the value, cells of constants.
LINE_VALUE, BOLLINGER_ROWS, BOLLINGER_WIDTH, MACD_ROWS = KEYED, KEYED + 1, KEYED + 2, KEYED + 1
# Points: the first word added, how many, expressions of angle, radius and height.
POINT_ADDED, POINT_COUNT, POINT_CODES = ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2

# What a group remembers of Bollinger bands: how many values its moments have, these values, how
# many infinities are among them (which moments do not have), the moments.
RECENT, INFINITIES, SUMS = 1, 1 + RING, 2 + RING
BOLLINGER_STATE = SUMS + MOMENTS
# And of MACD: how many values each of its means has, and the means.
MEANS = 3
MACD_STATE = 2 * MEANS

smoothed = compiled(smoothing.smoothed)


@inner
def bollinger_added(i: Ints, f: Floats, state: int, value: float, rows: int) -> None:
    """A value comes, for which there is room; the oldest goes when there are enough."""
    ring = state + RECENT
    if ring_length(i, ring) == rows:
        oldest = f[0, ring_cell(i, ring, i[0, ring + RING_HEAD], 1)]
        i[0, ring + RING_HEAD] += 1
        if math.isinf(oldest):
            i[0, state + INFINITIES] -= 1
        else:
            moments_leave(i, f, 0, state, state + SUMS, oldest, True)
    f[0, ring_cell(i, ring, i[0, ring + RING_TAIL], 1)] = value
    i[0, ring + RING_TAIL] += 1
    if math.isinf(value):
        i[0, state + INFINITIES] += 1
    else:
        moments_enter(i, f, 0, state, state + SUMS, value, True)
    if i[0, state + INFINITIES] == 0:
        rebase_if_far(i, f, state, state + SUMS)


@inner
def step_bollinger(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row gets the bands as they are with its value."""
    node = i[0, frame + NODE]
    rows, width = i[0, p[node + BOLLINGER_ROWS]], f[0, p[node + BOLLINGER_WIDTH]]
    first = row_at(i, i[0, frame + CHUNK])
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = first + i[0, frame + CURSOR] * p[node + WIDTH]
        group = keyed_at(i, f, p, node, i[0, frame + PLACE], row)
        state = group + OF_KEY + p[node + KEYED_KEYS]
        if group == 0 or not ring_room(i, state + RECENT, 1):
            return False
        value = line_value(i, f, p, node, row)
        if not math.isnan(value):
            bollinger_added(i, f, state, value, rows)
        mean = deviation = math.nan
        if ring_length(i, state + RECENT) == rows and i[0, state + INFINITIES] == 0:
            mean = moments_mean(i, f, 0, state, state + SUMS)
            deviation = moments_deviation(i, f, 0, state, state + SUMS)
        added = row + p[node + KEYED_ADDED]
        f[0, added] = mean + width * deviation
        f[0, added + 1] = mean
        f[0, added + 2] = mean - width * deviation
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def line_value(i: Ints, f: Floats, p: Ints, node: int, row: int) -> float:
    """The value that a row brings; null of rows that are not current."""
    if i[0, row + KIND] != CURRENT:
        return math.nan
    leave_value(i, f, p, p[node + LINE_VALUE], row, EVALUATION)
    return f[0, EVALUATION]


@inner
def mean_moved(i: Ints, f: Floats, state: int, number: int, rows: int, value: float) -> None:
    """One of the exponential means takes a value."""
    at, count = state + MEANS + number, i[0, state + number]
    f[0, at] = smoothed(f[0, at], value, 2.0 / (rows + 1), count)
    i[0, state + number] = count + 1


@inner
def mean_known(i: Ints, f: Floats, p: Ints, node: int, state: int, number: int) -> float:
    """One of the means; null until enough values have come."""
    if i[0, state + number] < i[0, p[node + MACD_ROWS + number]]:
        return math.nan
    return f[0, state + MEANS + number]


@inner
def step_macd(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row gets the distance of two means, its mean, and what is between them."""
    node = i[0, frame + NODE]
    first = row_at(i, i[0, frame + CHUNK])
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = first + i[0, frame + CURSOR] * p[node + WIDTH]
        group = keyed_at(i, f, p, node, i[0, frame + PLACE], row)
        if group == 0:
            return False
        state = group + OF_KEY + p[node + KEYED_KEYS]
        value = line_value(i, f, p, node, row)
        if not math.isnan(value):
            for number in range(2):
                mean_moved(i, f, state, number, i[0, p[node + MACD_ROWS + number]], value)
        fast, slow = mean_known(i, f, p, node, state, 0), mean_known(i, f, p, node, state, 1)
        if not math.isnan(value) and not math.isnan(fast) and not math.isnan(slow):
            mean_moved(i, f, state, 2, i[0, p[node + MACD_ROWS + 2]], fast - slow)
        signal = mean_known(i, f, p, node, state, 2)
        added = row + p[node + KEYED_ADDED]
        f[0, added] = fast - slow
        f[0, added + 1] = signal
        f[0, added + 2] = fast - slow - signal
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def step_point(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row gets the point of its angle and radius; one of an infinite angle loses the chunk."""
    node = i[0, frame + NODE]
    first, added = row_at(i, i[0, frame + CHUNK]), p[node + POINT_ADDED]
    for place in range(i[0, frame + COUNT]):
        row = first + place * p[node + WIDTH]
        evaluate(i, f, p, p[node + POINT_CODES], row, EVALUATION)
        evaluate(i, f, p, p[node + POINT_CODES + 1], row, EVALUATION + 1)
        angle, radius = math.radians(f[0, EVALUATION]), f[0, EVALUATION + 1]
        if not math.isnan(radius) and math.isinf(angle):
            pop(i, frame)
            return True
        is_known = not math.isnan(angle) and not math.isnan(radius)
        f[0, row + added] = radius * math.cos(angle) if is_known else math.nan
        f[0, row + added + 1] = radius * math.sin(angle) if is_known else math.nan
        if p[node + POINT_COUNT] == 3:
            store(i, f, p, p[node + POINT_CODES + 2], row, row + added + 2)
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True
