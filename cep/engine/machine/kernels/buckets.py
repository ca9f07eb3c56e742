"""Aggregations: running values per calendar unit, start and group; see `cep.interpreter`.

A bucket is a group of `groups` whose first value is the start of the unit; behind its words it has
what is said below. Rows never leave.
"""

from __future__ import annotations

from cep.engine.jit import compiled
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.evaluate import evaluate
from cep.engine.machine.kernels.groups import GROUP_RESULTS, group_at, group_moved, group_room
from cep.engine.machine.kernels.rows import is_current, row_of
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    COUNT,
    CURSOR,
    EVALUATION,
    FAILED,
    INDEX,
    NEXT,
    NODE,
    PLACE,
    STATE,
    TIME,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on_same
from cep.plan.functions.scalars import times

# The times of rows: the expression of the attribute by which they have one (0: their own), whether
# it is a text, the expression that looks at others in Python, the word where the time is left,
# whether some units have no fixed length.
T_BY, T_IS_TEXT, T_LOOK, T_WORD, T_BY_CALENDAR = (
    ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4,
)  # fmt: skip
# A unit, behind what makes its groups: its length in ms, or a calendar's unit as a number below 0;
# the words where rows have their time and the start of the unit; where a bucket has what follows
# the words of a group; the words of a row.
B_UNIT, B_TIME, B_START, B_TAIL, B_WORDS = range(GROUP_RESULTS + 1, GROUP_RESULTS + 6)
WEEK, MONTH, YEAR = -1, -2, -3
# A bucket's tail: its number, the time of its latest row, that row.
NUMBER, LATEST, ROW = 0, 1, 2
# The state: the buckets, how many there ever were.
BUCKETS_COUNTED, BUCKETS_STATE = INDEX, INDEX + 1
DAY_MS = times.DAY_MS
FIRST_MS, LAST_MS = times.FIRST_MS, times.LAST_MS
MONTH_DAY, YEAR_DAY = 2, 7
"""The places of these parts in `times.UNITS`."""

time_part = compiled(times.time_part)


@inner
def step_times(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Give rows the time by which they are counted; where one has none, the rest is lost."""
    node = i[0, frame + NODE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        i[0, EVALUATION] = i[0, row + TIME]
        if p[node + T_BY]:
            evaluate(i, f, p, p[node + T_BY], row, EVALUATION)
        time_ms = i[0, EVALUATION]
        is_outside = p[node + T_BY_CALENDAR] and (time_ms < FIRST_MS or time_ms > LAST_MS)
        if p[node + T_IS_TEXT] or time_ms == NULL or is_outside:
            evaluate(i, f, p, p[node + T_LOOK], row, EVALUATION)
            if i[0, FAILED]:
                i[0, FAILED] = 0
                i[0, frame + COUNT] = i[0, frame + CURSOR]
                break
        i[0, row + p[node + T_WORD]] = i[0, EVALUATION]
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def start_of(unit: int, time_ms: int) -> int:
    """The start of the unit that holds a time."""
    if unit > 0:
        return time_ms - time_ms % unit
    day = time_ms // DAY_MS
    if unit == WEEK:
        return (day - (day + 3) % 7) * DAY_MS
    return (day - time_part(time_ms, MONTH_DAY if unit == MONTH else YEAR_DAY) + 1) * DAY_MS


@inner
def step_bucket(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Count rows in, each in the bucket of its unit and group; then in those of the next unit."""
    node = i[0, frame + NODE]
    state = i[0, frame + PLACE] + p[node + STATE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_of(i, p, frame, i[0, frame + CURSOR])
        if is_current(i, row) and not counted_in(i, f, p, node, state, row):
            return False
        i[0, frame + CURSOR] += 1
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def counted_in(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> bool:
    """Count a row in; false: there is no room. The last of the latest time is kept."""
    time_ms = i[0, row + p[node + B_TIME]]
    i[0, row + p[node + B_START]] = start_of(p[node + B_UNIT], time_ms)
    bucket = group_at(i, f, p, node, state, row)
    if bucket == 0 or not group_room(i, f, p, node, bucket, row):
        return False
    group_moved(i, f, p, node, bucket, row, True)
    tail = bucket + p[node + B_TAIL]
    if i[0, tail + NUMBER] == 0:
        i[0, state + BUCKETS_COUNTED] += 1
        i[0, tail + NUMBER] = i[0, state + BUCKETS_COUNTED]
        i[0, tail + LATEST] = time_ms
    if time_ms >= i[0, tail + LATEST]:
        i[0, tail + LATEST] = time_ms
        copied(i, row, tail + ROW, p[node + B_WORDS])
    return True
