"""Bars: one row for a stretch of rows, by time, number or volume. See `cep.interpreter.bars`."""

from __future__ import annotations

import math

from cep.engine.jit import compiled, inline, inner
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.kernels.evaluate import leave_value
from cep.engine.machine.kernels.keyed import (
    CLOCK_KEY,
    KEYED,
    KEYED_ADDED,
    KEYED_KEYS,
    OF_HOME,
    OF_KEY,
    keyed_at,
)
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    AT,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    DUE,
    EVALUATION,
    KIND,
    LATE,
    NEXT,
    NODE,
    NOW,
    PLACE,
    RANK,
    TIME,
    WIDER,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import as_kind, copied, hand_on, made, row_at, work_room
from cep.plan.functions import limbs

# A node, behind what all functions of groups have: what ends a bar; the cell of its size (a double
# of volumes); expressions of price and volume; whether volumes are whole numbers of 64 bits; where
# the memory counts the late rows that are dropped.
BAR_BY, BAR_SIZE, BAR_PRICE, BAR_VOLUME, BAR_IS_WHOLE, BAR_DROPPED = (
    KEYED, KEYED + 1, KEYED + 2, KEYED + 3, KEYED + 4, KEYED + 5,
)  # fmt: skip
BY_TIME, BY_TICKS, BY_VOLUME = 0, 1, 2

# What a group remembers: whether a bar is under way, when it began, how many rows it has, its
# prices (open, high, low, close), the sum of its volumes that are small whole numbers, its last row
# up to what is added, then the exact sum of its other volumes: most bars have none, and what a row
# changes lies together in the processor's cache.
IS_OPEN, STARTED_AT, TICKS, OPEN, HIGH, LOW, CLOSE, WHOLE, LAST_ROW = 0, 1, 2, 3, 4, 5, 6, 7, 8
BAR_WORDS = LAST_ROW + limbs.SUM
"""Without those of the last row."""
SMALL = 1 << 31
"""Below it the sum of as many volumes as anyone will see has room in a word."""

limbs_add = compiled(limbs.limbs_add)
limbs_over = compiled(limbs.limbs_over)
limbs_clear = compiled(limbs.limbs_clear)


@inline
def sum_of(p: Ints, node: int, bar: int) -> int:
    """Where the sum of the volumes is that are no small whole numbers."""
    return bar + LAST_ROW + p[node + KEYED_ADDED]


@inner
def add_whole(i: Ints, at: int, volume: int) -> None:
    """Add a whole number to a sum: both halves are doubles, all of it may be none."""
    limbs_add(i, 0, at, float(volume >> 32) * 4294967296.0, 1, 1)
    limbs_add(i, 0, at, float(volume & 0xFFFFFFFF), 1, 1)


@inline
def add_volume(i: Ints, f: Floats, p: Ints, node: int, bar: int, v: int) -> None:
    """Add the volume in the word `v`; none changes nothing."""
    if p[node + BAR_IS_WHOLE]:
        if -SMALL < i[0, v] < SMALL:
            i[0, bar + WHOLE] += i[0, v]
        elif i[0, v] != NULL:
            add_whole(i, sum_of(p, node, bar), i[0, v])
    elif -SMALL < f[0, v] < SMALL and f[0, v] == math.floor(f[0, v]):
        i[0, bar + WHOLE] += int(f[0, v])
    elif not math.isnan(f[0, v]):
        limbs_add(i, 0, sum_of(p, node, bar), f[0, v], 1, 1)


@inner
def volume_of(i: Ints, p: Ints, node: int, bar: int) -> float:
    """The sum of the volumes; of infinities of both signs 0."""
    at = sum_of(p, node, bar)
    add_whole(i, at, i[0, bar + WHOLE])
    i[0, bar + WHOLE] = 0
    found = limbs_over(i, 0, at, 1)
    return 0.0 if math.isnan(found) else found


@inline
def bar_of(p: Ints, node: int, group: int) -> int:
    """Where a group has what it remembers."""
    return group + OF_KEY + p[node + KEYED_KEYS]


@inline
def bar_end(i: Ints, p: Ints, node: int, bar: int) -> int:
    """When the time of the bar under way is over; NULL where there is none."""
    return i[0, bar + STARTED_AT] + i[0, p[node + BAR_SIZE]] if i[0, bar + IS_OPEN] else NULL


@inner
def bar_began(
    i: Ints, f: Floats, p: Ints, node: int, bar: int, start_ms: int, price: float
) -> None:
    i[0, bar + IS_OPEN] = 1
    i[0, bar + STARTED_AT] = start_ms
    i[0, bar + TICKS] = 0
    for word in range(OPEN, CLOSE + 1):
        f[0, bar + word] = price
    i[0, bar + WHOLE] = 0
    limbs_clear(i, 0, sum_of(p, node, bar))


@inner
def bar_grew(i: Ints, f: Floats, p: Ints, node: int, bar: int, row: int, price: float) -> None:
    """A row becomes part of the bar."""
    if price > f[0, bar + HIGH]:
        f[0, bar + HIGH] = price
    if price < f[0, bar + LOW]:
        f[0, bar + LOW] = price
    f[0, bar + CLOSE] = price
    i[0, bar + TICKS] += 1
    copied(i, row, bar + LAST_ROW, p[node + KEYED_ADDED])
    leave_value(i, f, p, p[node + BAR_VOLUME], row, EVALUATION)
    add_volume(i, f, p, node, bar, EVALUATION)


@inner
def bar_ended(i: Ints, f: Floats, p: Ints, frame: int, bar: int, time_ms: int) -> None:
    """The bar as a row, for which there is room: its last row, then what the bar adds."""
    node = i[0, frame + NODE]
    out, added = made(i, frame, p[node + WIDER]), p[node + KEYED_ADDED]
    copied(i, bar + LAST_ROW, out, added)
    as_kind(i, out, time_ms, CURRENT)
    copied(i, bar + OPEN, out + added, 4)
    f[0, out + added + 4] = volume_of(i, p, node, bar)
    i[0, out + added + 5] = i[0, bar + TICKS]
    i[0, out + added + 6] = i[0, bar + STARTED_AT]
    i[0, bar + IS_OPEN] = 0


@inner
def is_too_late(i: Ints, p: Ints, node: int, row: int) -> bool:
    """Whether a row comes late for a bar that time has ended."""
    if p[node + BAR_BY] != BY_TIME or not i[0, LATE]:
        return False
    size_ms, time_ms = i[0, p[node + BAR_SIZE]], i[0, row + TIME]
    return time_ms - time_ms % size_ms + size_ms <= i[0, NOW]


@inner
def bar_took(i: Ints, f: Floats, p: Ints, frame: int, bar: int, row: int, price: float) -> None:
    """The bar under way takes a row with a price, or ends before it, or with it."""
    node, time_ms = i[0, frame + NODE], i[0, row + TIME]
    by, size = p[node + BAR_BY], p[node + BAR_SIZE]
    if by == BY_TIME and i[0, bar + IS_OPEN] and time_ms >= bar_end(i, p, node, bar):
        bar_ended(i, f, p, frame, bar, bar_end(i, p, node, bar))
    if not i[0, bar + IS_OPEN]:
        start_ms = time_ms - time_ms % i[0, size] if by == BY_TIME else time_ms
        bar_began(i, f, p, node, bar, start_ms, price)
    bar_grew(i, f, p, node, bar, row, price)
    is_full = by == BY_TICKS and i[0, bar + TICKS] >= i[0, size]
    if is_full or (by == BY_VOLUME and volume_of(i, p, node, bar) >= f[0, size]):
        bar_ended(i, f, p, frame, bar, time_ms)


@inner
def bars_took(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The group of the row under way takes it; false: there is no room."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    if not work_room(i, p[node + WIDER]):
        return False
    row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
    group = keyed_at(i, f, p, node, place, row)
    if group == 0 or not timer_room(i, 1):
        return False
    if is_too_late(i, p, node, row):
        i[0, p[node + BAR_DROPPED]] += 1
        return True
    if i[0, row + KIND] != CURRENT:
        return True
    leave_value(i, f, p, p[node + BAR_PRICE], row, EVALUATION)
    price = f[0, EVALUATION]
    if math.isnan(price):
        return True
    bar = bar_of(p, node, group)
    before_ms = bar_end(i, p, node, bar)
    bar_took(i, f, p, frame, bar, row, price)
    if p[node + BAR_BY] == BY_TIME and bar_end(i, p, node, bar) != before_ms:
        due_ms, key = bar_end(i, p, node, bar), i[0, group + CLOCK_KEY]
        set_timer(i, due_ms, p[node + RANK], key, next_turn(i), node, group)
    return True


@inner
def time_ended(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The time of a group's bar may be over; the frame has the group in the place of its home."""
    node, group = i[0, frame + NODE], i[0, frame + PLACE]
    if not work_room(i, p[node + WIDER]):
        return False
    bar = bar_of(p, node, group)
    if i[0, bar + IS_OPEN] and bar_end(i, p, node, bar) <= i[0, AT]:
        bar_ended(i, f, p, frame, bar, bar_end(i, p, node, bar))
    i[0, frame + PLACE] = i[0, group + OF_HOME]
    return True


@inner
def step_bars(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows become bars, one for each group under way."""
    if i[0, frame + COUNT] == DUE:
        if not time_ended(i, f, p, frame):
            return False
    else:
        while i[0, frame + CURSOR] < i[0, frame + COUNT]:
            if not bars_took(i, f, p, frame):
                return False
            i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[i[0, frame + NODE] + NEXT])
    return True
