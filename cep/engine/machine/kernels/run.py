"""The loop that runs a program: one record after the other, before each what is due by then."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_CLOCK, OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.clocks import (
    PROGRAM_CLOCKS,
    all_move,
    arrived,
    go_by_own,
    is_on_the_way,
    key_of,
    keys_move,
    next_fires,
    record_is_late,
    record_moves,
)
from cep.engine.machine.kernels.evaluate import is_true
from cep.engine.machine.kernels.keys import NO_KEY, TEXT_KEY
from cep.engine.machine.kernels.known import is_known, know
from cep.engine.machine.kernels.purge import owned_by_home
from cep.engine.machine.kernels.quiet import stayed_quiet
from cep.engine.machine.kernels.slots import PROGRAM_SLOTS, slot_of
from cep.engine.machine.kernels.steps import step
from cep.engine.machine.kernels.streams import (
    ENTER_CONDITION,
    MADE_ELSEWHERE,
    NEVER_IS_LATE,
    STREAM_CELLS,
    STREAM_ENTRY,
    STREAM_LIST,
    STREAM_QUIET,
    STREAM_READERS,
)
from cep.engine.machine.kernels.timers import heap_room, timer_taken
from cep.engine.machine.kernels.words import (
    ARRIVES,
    AT,
    AT_WORK,
    CURRENT,
    CURSOR,
    DEPTH,
    DUE,
    DUE_MS,
    DUE_NODE,
    DUE_PLACE,
    DUE_RANK,
    FAILED,
    FIRED_RANK,
    HAS_PAUSED,
    HAS_SIGNALLED,
    HOME,
    KIND,
    LATE,
    NEWEST,
    NEXT,
    NEXT_RECORD,
    NOW,
    OWNER,
    PASSED,
    PAUSES,
    PHASE,
    RANK,
    RECORD_LATE,
    SHOWN,
    START,
    STARTED,
    STATE,
    TIME,
    TIME_PASSES,
    TIMERS,
    TIMERS_COUNT,
    TO,
    UNTIL,
    UNTIL_COMMON,
    UNTIL_IS_COMPLETE,
    UNTIL_N,
    VALUES,
    WIDER,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
    N,
)
from cep.engine.machine.kernels.work import frame_room, pop, push, put, row_at, top_frame, work_room

# The first words of a program: where its list of streams by number stands, how many columns of
# integers a record has, how many parts have to be told that the run begins, what is said of slots
# (`PROGRAM_SLOTS`) and of clocks (`PROGRAM_CLOCKS`), whether rows come that were made elsewhere,
# what is said of homes that may be forgotten (`PROGRAM_OWNED`), whether rows are steps (below), and
# where the parts stand.
(PROGRAM_STREAMS, PROGRAM_INTS, PROGRAM_STARTS, PROGRAM_ELSEWHERE, PROGRAM_STEPS,
 PROGRAM_FIRST_START) = (0, 1, 2, 5, 7, 8)  # fmt: skip
RECORD, IS_SEEN, PASSES, IS_LATE, BEGINS = 0, 1, 2, 3, 4
"""Steps, where records wait for their order (`cep.engine.in_order`), in the place of the clock of a
row: it is a record; it came, so that its key appears; its time passes; it goes to the stream of
late records; the run begins at its time."""
ALL_KEYS, SOME_KEYS, BEGUN, ENDS = -1, -2, -3, -4
"""In the place of where records end: time passes without one, for all keys or some; or what was
told that it begins is to work, without either."""
RELATIVE_BELOW_MS = 86_400_000
"""See `cep.interpreter.interpreter`: times of the first day count from the start of a recording."""


@inner
def drain(i: Ints, f: Floats, p: Ints) -> bool:
    """Do all there is to do; false: there is no room, and what is done is done."""
    while i[0, DEPTH] > 0:
        frame, depth = top_frame(i), i[0, DEPTH]
        go_by_own(i, p, frame)
        owned_by_home(i, p, frame)
        has_room = step(i, f, p, frame)
        i[0, OWNER] = 0
        if i[0, FAILED]:
            failed(i, depth)
        if not has_room:
            return False
    return True


@inner
def failed(i: Ints, depth: int) -> None:
    """A function has failed: what the node got is lost, unless it has dropped all of it itself."""
    i[0, FAILED] = 0
    if i[0, DEPTH] == depth:
        pop(i, top_frame(i))


@inner
def next_due(i: Ints) -> None:
    """What is due first, by the one clock, gets a frame, for which there is room."""
    first = i[0, TIMERS]
    i[0, AT] = i[0, first + DUE_MS]
    i[0, FIRED_RANK] = i[0, first + DUE_RANK]
    i[0, LATE] = 0
    i[0, NOW] = max(i[0, NOW], i[0, AT])
    push(i, i[0, first + DUE_NODE], i[0, first + DUE_PLACE], i[0, AT], DUE, i[0, WORK_TOP])
    timer_taken(i, TIMERS)


@inline
def is_due(i: Ints, p: Ints) -> bool:
    """Whether something is, on the way of the clock or of one of the clocks."""
    if p[PROGRAM_CLOCKS]:
        return is_on_the_way(i)
    to_ms = max(i[0, TO], i[0, NOW])  # what is overdue fires, too
    return i[0, TIMERS_COUNT] != 0 and i[0, i[0, TIMERS] + DUE_MS] <= to_ms


@inner
def pass_time(i: Ints, f: Floats, p: Ints) -> bool:
    """Let everything happen that is due on the way to the time `TO`; clocks stand at each due time
    while it does.
    """
    while True:
        if not drain(i, f, p):
            return False
        if not is_due(i, p):
            break
        if not frame_room(i, 1):
            return False
        if p[PROGRAM_CLOCKS]:
            if not heap_room(i, TIMERS, 1):
                return False
            next_fires(i)
        else:
            next_due(i)
    if p[PROGRAM_CLOCKS]:
        arrived(i, i[0, TO])
    else:
        i[0, NOW] = max(i[0, NOW], i[0, TO])
    return True


@inline
def beginning(time_ms: int) -> int:
    """When a run begins of which a record of that time is the first."""
    return 0 if time_ms < RELATIVE_BELOW_MS else time_ms


@inner
def begin(i: Ints, p: Ints, begin_ms: int) -> bool:
    """The run begins: what has to know is told, in order; false: there is no room."""
    if i[0, STARTED]:
        return True
    starts = p[PROGRAM_STARTS]
    if not frame_room(i, starts):
        return False
    i[0, STARTED] = 1
    i[0, NOW] = i[0, AT] = i[0, SHOWN] = begin_ms
    i[0, LATE] = 0
    for number in range(starts - 1, -1, -1):
        node = p[p[PROGRAM_FIRST_START] + number]
        push(i, node, i[0, HOME], i[0, NOW], START, i[0, WORK_TOP])
    return True


@inline
def stream_of(p: Ints, ints: Ints, n: int) -> int:
    """The node of a record's stream."""
    return p[p[PROGRAM_STREAMS] + ints[n, OUT_STREAM]]


@inline
def code_of_key(p: Ints, ints: Ints, n: int) -> int:
    """The code of a record's key; NULL where it has none."""
    node = stream_of(p, ints, n)
    if p[node + RANK] < 0:
        return NULL
    return ints[n, p[p[node + STREAM_CELLS] + p[node + RANK] - VALUES]]


@inner
def saw_key(i: Ints, p: Ints, code: int) -> bool:
    """A key appears, before time passes; false: there is no room."""
    if p[PROGRAM_SLOTS] == 0:
        return True
    return code == NULL or slot_of(i, p, code) >= 0


@inline
def key_of_record(i: Ints, p: Ints, code: int) -> int:
    """The block of the key of a record; 0 where there is no room."""
    return key_of(i, p, NO_KEY if code == NULL else TEXT_KEY, code)


@inline
def written(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int, row: int) -> None:
    """Write a record as a row of its stream, for which there is room."""
    node = stream_of(p, ints, n)
    cells, columns = p[node + STREAM_CELLS], p[PROGRAM_INTS]
    i[0, row + TIME] = ints[n, OUT_TIME]
    i[0, row + KIND] = CURRENT
    for value in range(p[node + WIDTH] - VALUES):
        column = p[cells + value]
        if column < columns:
            i[0, row + VALUES + value] = ints[n, column]
        else:
            f[0, row + VALUES + value] = floats[n, column - columns]


@inline
def took_record(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int) -> bool:
    """Put a record on its stream; false: there is no room."""
    node = stream_of(p, ints, n)
    if p[node + STREAM_ENTRY] != 0:
        return entered_alone(i, f, p, ints, floats, n, p[node + STREAM_ENTRY])
    if p[node + STREAM_READERS] == 1:
        return was_given(i, f, p, ints, floats, n, p[p[node + STREAM_LIST]])
    if not was_given(i, f, p, ints, floats, n, node):
        return False
    i[0, top_frame(i) + CURSOR] = 1  # what comes from outside is not put out
    return True


@inner
def was_given(
    i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int, receiver: int
) -> bool:
    """Give a record to a node, as a row of its stream; false: there is no room."""
    width = p[stream_of(p, ints, n) + WIDTH]
    if not work_room(i, width) or not frame_room(i, 1):
        return False
    floor = i[0, WORK_TOP]
    chunk = put(i, width)
    written(i, f, p, ints, floats, n, row_at(i, chunk))
    push(i, receiver, i[0, HOME], chunk, 1, floor)
    return True


@inline
def entered_alone(
    i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int, entry: int
) -> bool:
    """Put a record into the only query that reads it, as its stream and `step_enter` would do in
    two steps and with a copy of the row: most rules read ticks once, and most ticks end here.
    """
    wider = p[entry + WIDER]
    if not work_room(i, wider) or not frame_room(i, 1):
        return False
    floor = i[0, WORK_TOP]
    chunk = put(i, wider)
    row = row_at(i, chunk)
    written(i, f, p, ints, floats, n, row)
    if is_true(i, f, p, p[entry + ENTER_CONDITION], row) and i[0, FAILED] == 0:
        push(i, p[entry + NEXT], i[0, HOME], chunk, 1, floor)
    else:
        i[0, FAILED] = 0
        i[0, WORK_TOP] = floor
    return True


@inline
def is_made(p: Ints, ints: Ints, n: int) -> bool:
    """Whether another engine has made a row of a record, which has the same place in the order."""
    return p[stream_of(p, ints, n) + STATE] & MADE_ELSEWHERE != 0


@inner
def record_at(p: Ints, ints: Ints, n: int) -> int:
    """The record that a row follows from: itself, or the one with its place. O(rows made of it)."""
    record = n
    while p[PROGRAM_ELSEWHERE] and is_made(p, ints, record):
        record += 1
        if record == len(ints) or ints[record, OUT_ORDER] != ints[n, OUT_ORDER]:
            return n
    return record


@inline
def is_late(i: Ints, p: Ints, ints: Ints, n: int) -> bool:
    """Take the time of a record, which is late behind those before it: see `cep.clocks`."""
    time_ms = ints[n, OUT_TIME]
    if p[PROGRAM_CLOCKS]:
        key = key_of_record(i, p, code_of_key(p, ints, n))
        late = record_is_late(i, p, ints[n, OUT_STREAM], key, time_ms)
    else:
        late = time_ms < i[0, NEWEST]
        i[0, NEWEST] = max(i[0, NEWEST], time_ms)
    return late and p[stream_of(p, ints, n) + STATE] & NEVER_IS_LATE == 0


@inner
def new_key_came(i: Ints, p: Ints, ints: Ints, n: int, code: int) -> bool:
    """The key of the next record appears, if it has not, and by clocks of keys time goes on to the
    record; false: there is no room.
    """
    time_ms = ints[n, OUT_TIME]
    if not saw_key(i, p, code) or not begin(i, p, beginning(time_ms)):
        return False
    key = key_of_record(i, p, code)
    if key == 0:
        return False
    if p[PROGRAM_CLOCKS]:
        return record_moves(i, p, ints[n, OUT_STREAM], key, time_ms)
    return know(i, code)


@inline
def record_came(i: Ints, p: Ints, ints: Ints, n: int) -> bool:
    """A record is next, and time goes on to it; false: there is no room."""
    time_ms = ints[n, OUT_TIME]
    i[0, N] = ints[n, OUT_ORDER]
    code = code_of_key(p, ints, n)
    looked_up = p[PROGRAM_CLOCKS] or not is_known(i, code)
    if looked_up and not new_key_came(i, p, ints, n, code):
        return False
    i[0, TO] = time_ms
    return True


@inline
def follows(i: Ints, p: Ints, ints: Ints, n: int) -> bool:
    """Whether a row has the place of the one before it, so that time has passed."""
    return p[PROGRAM_ELSEWHERE] and i[0, STARTED] and ints[n, OUT_ORDER] == i[0, N]


@inner
def ran_quietly(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int) -> bool:
    """Run a record, the clock being on the way to it, that changes nothing but bars under way;
    false: it may change more, and nothing has happened.
    """
    node, time_ms = stream_of(p, ints, n), ints[n, OUT_TIME]
    if p[node + STREAM_QUIET] == 0 or time_ms < i[0, NEWEST] or is_due(i, p):
        return False
    if not work_room(i, p[node + WIDTH]):
        return False
    row = row_at(i, i[0, WORK_TOP])
    written(i, f, p, ints, floats, n, row)
    if not stayed_quiet(i, f, p, node, row):
        return False
    i[0, NEWEST] = i[0, AT] = time_ms
    i[0, NOW] = max(i[0, NOW], time_ms)
    i[0, LATE] = i[0, RECORD_LATE] = 0
    return True


@inner
def ran_step(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int) -> bool:
    """A step that is no record; false: there is no room, it goes on from there."""
    code, time_ms = ints[n, OUT_CLOCK], ints[n, OUT_TIME]
    if code == BEGINS:
        return begin(i, p, time_ms)
    if i[0, PHASE] == NEXT_RECORD:
        i[0, N] = ints[n, OUT_ORDER]
        if code == IS_SEEN:
            return saw_key(i, p, code_of_key(p, ints, n))
        if not begin(i, p, beginning(time_ms)):
            return False
        i[0, TO] = time_ms
        i[0, PHASE] = TIME_PASSES if code == PASSES else ARRIVES
    if i[0, PHASE] == TIME_PASSES:
        if not pass_time(i, f, p):
            return False
        i[0, NEWEST] = max(i[0, NEWEST], time_ms)
        i[0, PHASE] = NEXT_RECORD
        return True
    if i[0, PHASE] == ARRIVES:
        i[0, AT], i[0, LATE] = time_ms, 1
        if not was_given(i, f, p, ints, floats, n, stream_of(p, ints, n)):
            return False
        i[0, PHASE] = AT_WORK
    return worked(i, f, p)


@inline
def worked(i: Ints, f: Floats, p: Ints) -> bool:
    """Do all that a record brings about; false: there is no room, it goes on from there."""
    if not drain(i, f, p):
        return False
    i[0, PHASE] = NEXT_RECORD
    return True


@inline
def ran_record(i: Ints, f: Floats, p: Ints, ints: Ints, floats: Floats, n: int) -> bool:
    """A record with all that it brings about; false: there is no room, it goes on from there."""
    if p[PROGRAM_STEPS] and ints[n, OUT_CLOCK] != RECORD:
        return ran_step(i, f, p, ints, floats, n)
    if i[0, PHASE] == NEXT_RECORD:
        if follows(i, p, ints, n):
            i[0, PHASE] = ARRIVES
        elif record_came(i, p, ints, record_at(p, ints, n)):
            if ran_quietly(i, f, p, ints, floats, n):
                return True
            i[0, PHASE] = TIME_PASSES
        else:
            return False
    if i[0, PHASE] == TIME_PASSES:
        if not pass_time(i, f, p):
            return False
        i[0, RECORD_LATE] = int(is_late(i, p, ints, record_at(p, ints, n)))
        i[0, PHASE] = ARRIVES
    if i[0, PHASE] == ARRIVES:
        i[0, AT] = ints[n, OUT_TIME]
        i[0, LATE] = i[0, RECORD_LATE]
        if not took_record(i, f, p, ints, floats, n):
            return False
        i[0, PHASE] = AT_WORK
    return worked(i, f, p)


@inner
def told(i: Ints, p: Ints, whose: int, keys: Ints) -> bool:
    """Time passes without a record, for all keys or some; false: there is no room.

    Told before the first record it is the beginning, unless nothing comes at all.
    """
    to_ms = i[0, UNTIL]
    i[0, N] = i[0, UNTIL_N]
    if not begin(i, p, beginning(to_ms) if whose == ENDS else to_ms):
        return False
    i[0, TO] = to_ms
    if p[PROGRAM_CLOCKS] == 0:
        return True
    if whose == SOME_KEYS:
        return keys_move(i, p, keys, to_ms, i[0, UNTIL_COMMON], i[0, UNTIL_IS_COMPLETE])
    return all_move(i, p, to_ms, to_ms if i[0, UNTIL_IS_COMPLETE] else NULL)


@inner
def passed_until(i: Ints, f: Floats, p: Ints, whose: int, keys: Ints) -> bool:
    """Let time pass without a record; false: there is no room, it goes on from there."""
    if i[0, PHASE] == NEXT_RECORD:
        if not told(i, p, whose, keys):
            return False
        i[0, PHASE] = TIME_PASSES
    if not pass_time(i, f, p):
        return False
    i[0, NEWEST] = max(i[0, NEWEST], i[0, UNTIL])
    if whose != SOME_KEYS and i[0, UNTIL_IS_COMPLETE]:
        i[0, PASSED] = max(i[0, PASSED], i[0, UNTIL])
    i[0, PHASE] = NEXT_RECORD
    return True


@inner
def run(start: int, stop: int, ints: Ints, floats: Floats, i: Ints, f: Floats, p: Ints) -> int:
    """Run the program on records `start` to `stop`; the first one that is not done.

    Where `stop` is `ALL_KEYS` or `SOME_KEYS`, whose codes are `ints`, time passes without a record,
    as the header says, and 0 is what is left to do; so is it in the end (`ENDS`), and behind a
    change of rules (`BEGUN`). What is not done lacks room, unless the run `HAS_PAUSED`: the caller
    makes the memory longer and calls again.
    """
    if stop == BEGUN:
        return 0 if drain(i, f, p) else -1
    if stop < 0:
        return 0 if passed_until(i, f, p, stop, ints) else -1
    for n in range(start, stop):
        if not ran_record(i, f, p, ints, floats, n):
            return n
        if i[0, PAUSES] == HAS_SIGNALLED:
            i[0, PAUSES] = HAS_PAUSED
            return n + 1
    return stop
