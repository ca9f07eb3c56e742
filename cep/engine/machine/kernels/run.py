"""The loop that runs a program: one record after the other, before each what is due by then."""

from __future__ import annotations

from cep.engine.jit import inner, kernel
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.engine.machine.kernels.keys import NO_KEY, TEXT_KEY, key_number
from cep.engine.machine.kernels.steps import step
from cep.engine.machine.kernels.streams import STREAM_CELLS
from cep.engine.machine.kernels.timers import timer_taken
from cep.engine.machine.kernels.work import frame_room, push, put, row_at, top_frame, work_room
from cep.engine.machine.kernels.words import (
    AT,
    CURRENT,
    DEPTH,
    DUE,
    DUE_MS,
    DUE_NODE,
    DUE_PLACE,
    EVALUATION,
    HOME,
    KIND,
    LATE,
    N,
    NEWEST,
    NOW,
    PHASE,
    RANK,
    START,
    STARTED,
    TIME,
    TIMERS,
    TIMERS_COUNT,
    TO,
    VALUES,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)

# How far a record has come.
NEXT_RECORD, TIME_PASSES, AT_WORK = 0, 1, 2
# The first words of a program: where its list of streams by number stands, how many columns of
# integers a record has, how many parts have to be told that the run begins, and where they stand.
PROGRAM_STREAMS, PROGRAM_INTS, PROGRAM_STARTS, PROGRAM_FIRST_START = 0, 1, 2, 3
RELATIVE_BELOW_MS = 86_400_000
"""See `cep.interpreter.interpreter`: times of the first day count from the start of a recording."""


@inner
def drain(i: Ints, f: Floats, p: Ints) -> bool:
    """Do all there is to do; false: there is no room, and what is done is done."""
    while i[0, DEPTH] > 0:
        if not step(i, f, p, top_frame(i)):
            return False
    return True


@inner
def pass_time(i: Ints, f: Floats, p: Ints) -> bool:
    """Let everything happen that is due on the way of the clock, which stands at each due time."""
    while True:
        if not drain(i, f, p):
            return False
        first = i[0, TIMERS]
        if i[0, TIMERS_COUNT] == 0 or i[0, first + DUE_MS] > i[0, TO]:
            i[0, NOW] = max(i[0, NOW], i[0, TO])
            return True
        if not frame_room(i, 1):
            return False
        first = i[0, TIMERS]
        i[0, AT] = i[0, first + DUE_MS]
        i[0, LATE] = 0
        i[0, NOW] = max(i[0, NOW], i[0, AT])
        push(i, i[0, first + DUE_NODE], i[0, first + DUE_PLACE], i[0, AT], DUE, i[0, WORK_TOP])
        timer_taken(i)


@inner
def begin(i: Ints, p: Ints, time_ms: int) -> bool:
    """The run begins: what has to know is told, in order; false: there is no room."""
    if i[0, STARTED]:
        return True
    starts = p[PROGRAM_STARTS]
    if not frame_room(i, starts):
        return False
    i[0, STARTED] = 1
    i[0, NOW] = i[0, AT] = 0 if time_ms < RELATIVE_BELOW_MS else time_ms
    i[0, LATE] = 0
    for number in range(starts - 1, -1, -1):
        node = p[PROGRAM_FIRST_START + number]
        push(i, node, i[0, HOME], i[0, NOW], START, i[0, WORK_TOP])
    return True


@inner
def took_record(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int) -> bool:
    """Put a record on its stream; false: there is no room."""
    node = p[p[PROGRAM_STREAMS] + ints[n, OUT_STREAM]]
    if node == 0:
        return True
    width = p[node + WIDTH]
    if not work_room(i, width) or not frame_room(i, 1):
        return False
    floor = i[0, WORK_TOP]
    chunk = put(i, width)
    row, cells, columns = row_at(i, chunk), p[node + STREAM_CELLS], p[PROGRAM_INTS]
    i[0, row + TIME] = ints[n, OUT_TIME]
    i[0, row + KIND] = CURRENT
    for value in range(width - VALUES):
        column = p[cells + value]
        if column < columns:
            i[0, row + VALUES + value] = ints[n, column]
        else:
            f[0, row + VALUES + value] = floats[n, column - columns]
    key, place = p[node + RANK], EVALUATION
    if key >= 0 and i[0, row + key] != NULL:
        place = row + key
    i[0, EVALUATION] = NULL
    if key_number(i, NO_KEY if place == EVALUATION else TEXT_KEY, i[0, place]) < 0:
        i[0, WORK_TOP] = floor
        return False
    push(i, node, i[0, HOME], chunk, 1, floor)
    return True


@inner
def ran_record(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int) -> bool:
    """A record with all that it brings about; false: there is no room, it goes on from there."""
    time_ms = ints[n, OUT_TIME]
    if i[0, PHASE] == NEXT_RECORD:
        i[0, N] = ints[n, OUT_ORDER]
        if not begin(i, p, time_ms):
            return False
        i[0, TO] = max(time_ms, i[0, NOW])
        i[0, PHASE] = TIME_PASSES
    if i[0, PHASE] == TIME_PASSES:
        if not pass_time(i, f, p):
            return False
        i[0, AT] = time_ms
        i[0, LATE] = int(i[0, NEWEST] != NULL and time_ms < i[0, NEWEST])
        if not took_record(i, f, p, ints, floats, n):
            return False
        i[0, NEWEST] = max(i[0, NEWEST], time_ms)
        i[0, PHASE] = AT_WORK
    if not drain(i, f, p):
        return False
    i[0, PHASE] = NEXT_RECORD
    return True


@kernel
def run(
    start: int, stop: int, ints: Ints, floats: Floats, i: Ints, f: Floats, p: Ints
) -> int:
    """Run the program on records `start` to `stop`; the first one that is not done.

    It is not done when there is no room: then the caller makes the memory longer and calls again.
    """
    for n in range(start, stop):
        if not ran_record(i, f, p, ints, floats, n):
            return n
    return stop


@kernel
def run_until(time_ms: int, order: int, i: Ints, f: Floats, p: Ints) -> bool:
    """Let time pass without a record; false: there is no room, call again."""
    if i[0, PHASE] == NEXT_RECORD:
        i[0, N] = order
        if not begin(i, p, time_ms):
            return False
        i[0, TO] = max(time_ms, i[0, NOW])
        i[0, PHASE] = TIME_PASSES
    if not pass_time(i, f, p):
        return False
    i[0, NEWEST] = max(i[0, NEWEST], time_ms)
    i[0, PHASE] = NEXT_RECORD
    return True
