"""Streams, and the way into a query and out of it."""

from __future__ import annotations

from cep.engine.kernels.scalar import to_float
from cep.engine.kernels.state import OUT_CLOCK, OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import evaluate, is_true, leave_value
from cep.engine.machine.kernels.limits import LIMITED, chosen
from cep.engine.machine.kernels.readers import INDEX_AGE, readers_of
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    AT,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    EVALUATION,
    FAILED,
    FIRED_RANK,
    HAS_SIGNALLED,
    HOME,
    KIND,
    MADE,
    MADE_COUNT,
    NEXT,
    NODE,
    OUT,
    OUT_ROWS,
    OUT_SIZE,
    PAUSES,
    PAUSES_AT_SIGNALS,
    PHASE,
    PLACE,
    RESET,
    STATE,
    TIME,
    TIME_PASSES,
    TIMER,
    TOLD_COUNT,
    TOLD_ROWS,
    VALUES,
    WIDER,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
    N,
)
from cep.engine.machine.kernels.work import (
    copied,
    frame_room,
    hand_on,
    hand_on_same,
    made,
    moved,
    pop,
    push,
    row_at,
    top_frame,
    work_room,
)

# A stream (in the place of its state, as bits: whether its records are never late, whether its rows
# are made elsewhere of records, whether they are signals; of its rank: the word of its declared
# key): its number, how wide the rows are that are put out (0: none are), where the columns of its
# attributes stand, how many readers it has, where these stand, whether `quiet` looks at its records
# first, by the one clock the way in of the only query that reads it, else 0, and the table of its
# readers by what they ask for, or 0.
(STREAM_ID, STREAM_OUT, STREAM_CELLS, STREAM_READERS, STREAM_LIST, STREAM_QUIET,
 STREAM_ENTRY, STREAM_INDEX) = range(ARGUMENTS, ARGUMENTS + 8)  # fmt: skip
STREAM_WORDS = 8
NEVER_IS_LATE, MADE_ELSEWHERE, IS_SIGNAL = 1, 2, 4
NOT_CHOSEN = -1
"""In the place of what a frame has made: whom the rows of a stream concern is not known yet."""
# The way in: a condition or 0, how many words of the row are taken.
ENTER_CONDITION, ENTER_WORDS = ARGUMENTS, ARGUMENTS + 1
# A condition; an expression that Python computes.
FILTER_CONDITION = TELL_CODE = ARGUMENTS
# What is selected: how many values, the first one's word, a condition on them or 0, whether rows
# that reset pass, the node that a row goes to which is left alone, whether that is the way out,
# then the expressions.
(PROJECT_COUNT, PROJECT_FIRST, PROJECT_HAVING, PROJECT_RESETS, PROJECT_ALONE, PROJECT_INSERTS,
 PROJECT_CODES) = range(ARGUMENTS, ARGUMENTS + 7)  # fmt: skip
PROJECT_KINDS = ARGUMENTS - 1
"""In the place of the rank, which a projection does not need: which kinds go on, as bits."""
# The way out: the first word of what is selected, how many, whether it leads out of a partition, as
# bits which whole numbers become doubles, and the way into the only query that reads it if nobody
# else gets the rows, else 0.
INSERT_FIRST, INSERT_COUNT, INSERT_LEAVES, INSERT_WIDENS, INSERT_ENTRY = (
    ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4,
)  # fmt: skip


RANK_BITS = 20


@inline
def cause_of(i: Ints) -> int:
    """What stands in the place of a row's clock: the time of its record, or, where time alone made
    it, below 0 when that was due, and above `RANK_BITS` bits the place in the file of what was.
    Rows of many runs, each over the records of one key, are put in the order of one by it
    (`cep.engine.distributed`).
    """
    if i[0, PHASE] == TIME_PASSES:
        return -1 - (i[0, AT] << RANK_BITS | i[0, FIRED_RANK])
    return i[0, AT]


@inline
def out_room(i: Ints, p: Ints, node: int, rows: int) -> bool:
    """Whether there is room to put out so many rows of a stream."""
    width = p[node + STREAM_OUT]
    least = (i[0, OUT_ROWS] + rows) * width
    return least <= i[0, OUT_SIZE] or moved(i, OUT, i[0, OUT_ROWS] * width, least)


@inner
def row_put_out(i: Ints, p: Ints, node: int, row: int) -> None:
    """Put out a row of a stream, for which there is room, as a matrix has it."""
    cells = p[node + STREAM_CELLS]
    at = i[0, OUT] + i[0, OUT_ROWS] * p[node + STREAM_OUT]
    i[0, OUT_ROWS] += 1
    i[0, at + OUT_ORDER] = i[0, N]
    i[0, at + OUT_STREAM] = p[node + STREAM_ID]
    i[0, at + OUT_TIME] = i[0, row + TIME]
    i[0, at + OUT_KEY] = 0
    i[0, at + OUT_CLOCK] = cause_of(i)
    for value in range(p[node + WIDTH] - VALUES):
        i[0, at + p[cells + value]] = i[0, row + VALUES + value]
    if p[node + STATE] & IS_SIGNAL and i[0, PAUSES] == PAUSES_AT_SIGNALS:
        i[0, PAUSES] = HAS_SIGNALLED


@inner
def put_out(i: Ints, p: Ints, node: int, frame: int) -> bool:
    """Put out the rows that a stream gets, as a matrix has them; false: there is no room."""
    count = i[0, frame + COUNT]
    if not out_room(i, p, node, count):
        return False
    for place in range(count):
        row_put_out(i, p, node, row_at(i, i[0, frame + CHUNK] + place * p[node + WIDTH]))
    return True


@inner
def readers_chosen(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Have the frame of a stream say whom its rows concern, as what it has made: where these stand
    above other rows, or, below 0, in the program; false: there is no room.
    """
    node = i[0, frame + NODE]
    index, found = p[node + STREAM_INDEX], p[node + STREAM_LIST] - 1
    if index and i[0, frame + COUNT] == 1:
        found = readers_of(i, p, index, row_at(i, i[0, frame + CHUNK]))
        if p[found] == LIMITED:
            return chosen(i, f, p, frame, found)
    elif index and p[index + INDEX_AGE]:  # all are asked, so nobody knows what they know
        i[0, i[0, HOME] + p[index + INDEX_AGE]] += 1
    i[0, frame + MADE] = NOT_CHOSEN - 1 - found
    i[0, frame + MADE_COUNT] = p[found]
    return True


@inline
def reader_of(i: Ints, p: Ints, frame: int, number: int) -> int:
    """The reader of that number of those who were chosen."""
    at = i[0, frame + MADE]
    return i[0, row_at(i, at) + number] if at >= 0 else p[NOT_CHOSEN - at + number]


@inner
def step_stream(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Put a chunk out, then hand it to one reader after the other; one row to those it concerns."""
    node = i[0, frame + NODE]
    if i[0, frame + MADE] == NOT_CHOSEN and not readers_chosen(i, f, p, frame):
        return False
    reader, readers = i[0, frame + CURSOR], i[0, frame + MADE_COUNT]
    if reader == 0 and p[node + STREAM_OUT] and not put_out(i, p, node, frame):
        return False
    if readers == 0:
        pop(i, frame)
        return True
    i[0, frame + CURSOR] = max(reader, 1)  # what is put out is so once
    reader = max(reader, 1)
    following, place = reader_of(i, p, frame, reader - 1), i[0, frame + PLACE]
    chunk, count = i[0, frame + CHUNK], i[0, frame + COUNT]
    if reader == readers:  # the last one takes the frame's place
        i[0, frame + NODE] = following
        i[0, frame + CURSOR] = 0
        i[0, frame + MADE] = NOT_CHOSEN
        i[0, frame + MADE_COUNT] = 0
        return True
    if not frame_room(i, 1):
        return False
    frame = top_frame(i)  # the stack may have moved
    i[0, frame + CURSOR] = reader + 1
    push(i, following, place, chunk, count, i[0, WORK_TOP])
    return True


@inner
def step_enter(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows on which a condition is true, each with room for what the query adds to it."""
    node = i[0, frame + NODE]
    condition, words = p[node + ENTER_CONDITION], p[node + ENTER_WORDS]
    width, wider = p[node + WIDTH], p[node + WIDER]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        if not work_room(i, wider):
            return False
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * width)
        if is_true(i, f, p, condition, row):
            copied(i, row, made(i, frame, wider), words)
        i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def step_filter(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows on which a condition is true, moved together where they are."""
    node = i[0, frame + NODE]
    width, first = p[node + WIDTH], row_at(i, i[0, frame + CHUNK])
    kept = 0
    for place in range(i[0, frame + COUNT]):
        row = first + place * width
        if is_true(i, f, p, p[node + FILTER_CONDITION], row):
            if kept != place:
                copied(i, row, first + kept * width, width)
            kept += 1
    hand_on_same(i, frame, p[node + NEXT], kept)
    return True


@inner
def step_tell(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Python is told of each row, which passes."""
    node = i[0, frame + NODE]
    first = row_at(i, i[0, frame + CHUNK])
    for place in range(i[0, frame + COUNT]):
        row = first + place * p[node + WIDTH]
        evaluate(i, f, p, p[node + TELL_CODE], row, EVALUATION)
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def step_tell_chunk(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Python is told of a chunk as a whole, which passes."""
    node = i[0, frame + NODE]
    i[0, TOLD_ROWS] = row_at(i, i[0, frame + CHUNK])
    i[0, TOLD_COUNT] = i[0, frame + COUNT]
    evaluate(i, f, p, p[node + TELL_CODE], i[0, TOLD_ROWS], EVALUATION)
    hand_on_same(i, frame, p[node + NEXT], i[0, frame + COUNT])
    return True


@inner
def step_project(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Each row of a wanted kind gets what is selected, if the condition on that is true."""
    node = i[0, frame + NODE]
    width, first = p[node + WIDTH], row_at(i, i[0, frame + CHUNK])
    count, kinds = p[node + PROJECT_COUNT], p[node + PROJECT_KINDS]
    kept = 0
    for place in range(i[0, frame + COUNT]):
        row = first + place * width
        kind = i[0, row + KIND]
        if kind == RESET:
            if p[node + PROJECT_RESETS] == 0:
                continue
        elif kind == TIMER or not (kinds >> kind) & 1:
            continue
        else:
            for value in range(count):
                leave_value(i, f, p, p[node + PROJECT_CODES + value], row, EVALUATION)
                i[0, row + p[node + PROJECT_FIRST] + value] = i[0, EVALUATION]
            if not is_true(i, f, p, p[node + PROJECT_HAVING], row):
                continue
        if kept != place:
            copied(i, row, first + kept * width, width)
        kept += 1
    following, alone = p[node + NEXT], p[node + PROJECT_ALONE]
    if kept == 1 and i[0, first + KIND] != RESET:
        following = alone
    hand_on_same(i, frame, following, kept)
    if kept and following == alone and p[node + PROJECT_INSERTS] and i[0, FAILED] == 0:
        return step_insert(i, f, p, frame)  # which saves the way over `drain`
    return True


@inline
def narrowed(i: Ints, f: Floats, p: Ints, node: int, row: int, target: int) -> None:
    """What a query has selected, as a row of the stream that it writes."""
    i[0, target + TIME] = i[0, row + TIME]
    i[0, target + KIND] = CURRENT
    copied(i, row + p[node + INSERT_FIRST], target + VALUES, p[node + INSERT_COUNT])
    widens, value = p[node + INSERT_WIDENS], target + VALUES
    while widens:
        if widens & 1:
            f[0, value] = to_float(i[0, value])
        widens >>= 1
        value += 1


@inner
def step_insert(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """What was selected becomes rows of a stream, all of them current.

    With a way in that they alone take they are made as `step_enter` does it, without a copy.
    """
    node = i[0, frame + NODE]
    entry, width, condition = p[node + INSERT_ENTRY], p[node + WIDTH], 0
    wider, following = p[node + WIDER], p[node + NEXT]
    if entry != 0:
        wider, following, condition = p[entry + WIDER], p[entry + NEXT], p[entry + ENTER_CONDITION]
    if not work_room(i, wider * i[0, frame + COUNT]):
        return False
    for place in range(i[0, frame + COUNT]):
        row = row_at(i, i[0, frame + CHUNK] + place * width)
        if i[0, row + KIND] == RESET:
            continue
        target = row_at(i, i[0, WORK_TOP])
        narrowed(i, f, p, node, row, target)
        if is_true(i, f, p, condition, target):
            made(i, frame, wider)
    if p[node + INSERT_LEAVES]:
        i[0, frame + PLACE] = i[0, HOME]
    hand_on(i, frame, following)
    return True
