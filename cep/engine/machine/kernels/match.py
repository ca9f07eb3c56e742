"""Patterns and sequences as nodes: a stream's rows are shown to the stages that read it."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.absences import fire
from cep.engine.machine.kernels.match_words import (
    ABSENT,
    ABSENT_SIDE,
    DONE,
    FIRST_MS,
    FRESH,
    HAS_LATEST,
    LATEST_MS,
    M_DROPPED,
    M_IS_SEQUENCE,
    M_MOST,
    M_NEED,
    M_STAGE_LIST,
    M_STAGES,
    M_STATE,
    M_TIMERS,
    M_WORDS,
    MARK,
    MATCH_OF,
    MATCH_READER_LIST,
    MATCH_READERS,
    MATCH_SINGLY,
    PASSED,
    PENDING,
    S_FOR,
    S_IS_START,
    S_KIND,
    S_SLOT,
)
from cep.engine.machine.kernels.offers import offer
from cep.engine.machine.kernels.stages import (
    begin,
    due_in,
    expire,
    reset,
    state_of,
    update,
    wait_from,
)
from cep.engine.machine.kernels.timers import timer_room
from cep.engine.machine.kernels.waiting import (
    FIRST_LINK,
    HELD,
    LAST_LINK,
    LINKS,
    hold,
    is_empty,
    is_older,
    let_go,
    link_out,
)
from cep.engine.machine.kernels.words import (
    BREAK,
    CHUNK,
    COUNT,
    CURRENT,
    CURSOR,
    KIND,
    NEED,
    NEXT,
    NODE,
    NOW,
    PLACE,
    START,
    TIME,
    TOP,
    WIDER,
    WIDTH,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    copied,
    hand_on,
    made,
    row_at,
    work_room,
)


@inner
def match_room(i: Ints, p: Ints, node: int, home: int) -> bool:
    """Whether there is room for all that a row or a timer can bring about."""
    match = p[node + MATCH_OF]
    count = 4 * p[match + M_STAGES] + 4
    for number in range(p[match + M_STAGES]):
        state = state_of(p, home, p[p[match + M_STAGE_LIST] + number])
        count += i[0, state + PENDING + LINKS] + i[0, state + FRESH + LINKS]
    if not work_room(i, count * p[node + WIDER]):
        return False
    if p[match + M_TIMERS] and not timer_room(i, count * p[match + M_TIMERS]):
        return False
    need = count * p[match + M_NEED]
    if i[0, TOP] + need > i.shape[1]:
        i[0, NEED] = need
        return False
    return True


@inner
def step_match(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows of a stream move the match on; the run breaks, or an absence is over."""
    node, home = i[0, frame + NODE], i[0, frame + PLACE]
    if i[0, frame + COUNT] < 0:
        if not match_room(i, p, node, home):
            return False
        if i[0, frame + COUNT] == START:
            start(i, p, p[node + MATCH_OF], home, i[0, NOW])
        else:
            fire(i, p, home, p[node + MATCH_READERS], i[0, frame + CHUNK])
            put_done(i, p, frame, p[node + MATCH_OF], home, True)
    else:
        while i[0, frame + CURSOR] < i[0, frame + COUNT]:
            if not match_room(i, p, node, home):
                return False
            row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
            move_on(i, f, p, frame, home, row)
            i[0, frame + CURSOR] += 1
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def start(i: Ints, p: Ints, match: int, home: int, time_ms: int) -> None:
    """Begin to wait for the first row; a leading absence counts from that time."""
    stages, count = p[match + M_STAGE_LIST], p[match + M_STAGES]
    for number in range(count):
        begin(i, p, home, p[stages + number])
    for number in range(count):
        stage = p[stages + number]
        if p[stage + S_IS_START] and p[stage + S_FOR] != 0:
            if p[stage + S_KIND] == ABSENT:
                wait_from(i, p, home, stage, time_ms)
            elif p[stage + S_KIND] == ABSENT_SIDE:
                due_in(i, p, home, stage, time_ms)


@inner
def move_on(i: Ints, f: Floats, p: Ints, frame: int, home: int, row: int) -> None:
    """Show a row to the stages of its stream; what each completes comes out together."""
    node = i[0, frame + NODE]
    match, readers, count = p[node + MATCH_OF], p[node + MATCH_READER_LIST], p[node + MATCH_READERS]
    stages, time_ms = p[match + M_STAGE_LIST], i[0, row + TIME]
    forget_for_late(i, p, match, home, time_ms)
    for number in range(p[match + M_STAGES]):
        stage, reads = p[stages + number], False
        for reader in range(count):
            reads = reads or p[readers + reader] == stage
        expire(i, p, home, stage, time_ms, reads)
    if p[match + M_IS_SEQUENCE]:
        for number in range(p[match + M_STAGES] - 1, -1, -1):
            reset(i, p, home, p[stages + number])
        for number in range(p[match + M_STAGES]):
            update(i, p, home, p[stages + number])
    else:
        for reader in range(count - 1, -1, -1):
            update(i, p, home, p[readers + reader])
    for reader in range(count):
        offer(i, f, p, home, p[readers + reader], row)
        put_done(i, p, frame, match, home, p[node + MATCH_SINGLY] != 0)
    bound(i, p, match, home)


@inner
def forget_for_late(i: Ints, p: Ints, match: int, home: int, time_ms: int) -> None:
    """A row that comes late does not find again what was too old already, wherever it waits."""
    state = home + p[match + M_STATE]
    last_ms, had = i[0, state + LATEST_MS], i[0, state + HAS_LATEST]
    i[0, state + LATEST_MS] = time_ms
    i[0, state + HAS_LATEST] = 1
    if had and time_ms < last_ms and not p[match + M_IS_SEQUENCE]:
        for number in range(p[match + M_STAGES]):
            expire(i, p, home, p[p[match + M_STAGE_LIST] + number], last_ms, True)


@inner
def put_done(i: Ints, p: Ints, frame: int, match: int, home: int, singly: bool) -> None:
    """What is complete becomes rows: of one chunk, or each of its own."""
    done, words = home + p[match + M_STATE] + DONE, p[match + M_WORDS]
    breaks = BREAK
    while i[0, done + FIRST_LINK] != 0:
        link = i[0, done + FIRST_LINK]
        partial = i[0, link + HELD]
        row = made(i, frame, p[i[0, frame + NODE] + WIDER])
        copied(i, partial, row, words)
        i[0, row + KIND] = CURRENT | breaks
        for number in range(p[match + M_STAGES]):
            slot = row + p[p[p[match + M_STAGE_LIST] + number] + S_SLOT]
            if i[0, slot + MARK] == PASSED:
                i[0, slot + FIRST_MS] = NULL
        breaks = BREAK if singly else 0
        link_out(i, p, match, done, link)


@inner
def waiting_at(i: Ints, p: Ints, match: int, home: int, stage: int) -> int:
    """How many partial matches wait at a stage, without the empty one that waits at a start."""
    count = 0
    for number in range(2):
        queue = state_of(p, home, stage) + (PENDING if number == 0 else FRESH)
        count += i[0, queue + LINKS]
        last = i[0, queue + LAST_LINK]
        if last != 0 and p[stage + S_IS_START]:
            if is_empty(i, p, p[match + M_STAGE_LIST], p[match + M_STAGES], i[0, last + HELD]):
                count -= 1
    return count


@inner
def oldest_at(i: Ints, p: Ints, match: int, home: int, stage: int) -> int:
    """The partial match that has waited longest at a stage; 0 where none does."""
    for number in range(2):
        queue = state_of(p, home, stage) + (PENDING if number == 0 else FRESH)
        first = i[0, queue + FIRST_LINK]
        if first != 0:
            partial = i[0, first + HELD]
            if not is_empty(i, p, p[match + M_STAGE_LIST], p[match + M_STAGES], partial):
                return partial
    return 0


@inner
def bound(i: Ints, p: Ints, match: int, home: int) -> None:
    """Of too many partial matches the oldest gives way, and is counted."""
    most, stages = i[0, p[match + M_MOST]], p[match + M_STAGE_LIST]
    count = most + 1
    while count > most:
        count = 0
        for number in range(p[match + M_STAGES]):
            count += waiting_at(i, p, match, home, p[stages + number])
        if count > most:
            oldest = 0
            for number in range(p[match + M_STAGES]):
                one = oldest_at(i, p, match, home, p[stages + number])
                if one != 0 and (oldest == 0 or is_older(i, one, oldest)):
                    oldest = one
            if oldest == 0:
                return
            drop(i, p, match, home, oldest)
            i[0, p[match + M_DROPPED]] += 1


@inner
def drop(i: Ints, p: Ints, match: int, home: int, oldest: int) -> None:
    """Let go a partial match wherever it is the oldest."""
    hold(i, oldest)
    for number in range(p[match + M_STAGES]):
        stage = p[p[match + M_STAGE_LIST] + number]
        if oldest_at(i, p, match, home, stage) == oldest:
            queue = state_of(p, home, stage) + PENDING
            if i[0, queue + LINKS] == 0:
                queue = state_of(p, home, stage) + FRESH
            link_out(i, p, match, queue, i[0, queue + FIRST_LINK])
    let_go(i, p, match, oldest)
