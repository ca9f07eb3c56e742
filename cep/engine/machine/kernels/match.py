"""Patterns and sequences as nodes: a stream's rows are shown to the stages that read it."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.absences import fire
from cep.engine.machine.kernels.match_words import (
    ABSENT,
    ABSENT_SIDE,
    AWAITS_EXPIRY,
    DONE,
    FIRST_MS,
    FRESH,
    HAS_LATEST,
    LATEST_MS,
    M_DROPPED,
    M_EXPIRY,
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
    OVERDUE,
    PASSED,
    PENDING,
    REPORTED,
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
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.waiting import (
    AFTER,
    BEFORE,
    FIRST_LINK,
    HELD,
    LAST_LINK,
    LINKS,
    hold,
    is_empty,
    is_older,
    let_go,
    link_out,
    over_at,
    take_out,
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
    PLACE,
    RANK,
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
    rows = 2 * count if p[match + M_EXPIRY] != 0 else count
    if not work_room(i, rows * p[node + WIDER]):
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
            start(i, p, p[node + MATCH_OF], home, i[0, frame + CHUNK])
        else:
            tell_due(i, p, node, home, i[0, frame + CHUNK])
            put_overdue(i, p, frame, p[node + MATCH_OF], home)
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
def tell_due(i: Ints, p: Ints, node: int, home: int, due_ms: int) -> None:
    """A timer has fired: of an absence, or by which those are looked for that ran out of time."""
    match = p[node + MATCH_OF]
    if p[node + MATCH_READERS] != 0:
        fire(i, p, home, p[node + MATCH_READERS], due_ms)
        return
    i[0, home + p[match + M_STATE] + AWAITS_EXPIRY] = 0
    for number in range(p[match + M_STAGES]):
        expire(i, p, home, p[p[match + M_STAGE_LIST] + number], due_ms, True)
    await_expiry(i, p, match, home)


@inner
def await_expiry(i: Ints, p: Ints, match: int, home: int) -> None:
    """Where partial matches that run out of time are wanted, they are looked for when they do."""
    state, node = home + p[match + M_STATE], p[match + M_EXPIRY]
    if node == 0 or i[0, state + AWAITS_EXPIRY]:
        return
    due_ms = NULL
    for number in range(p[match + M_STAGES]):
        stage = p[p[match + M_STAGE_LIST] + number]
        for queue in range(2):
            waits = state_of(p, home, stage) + (PENDING if queue == 0 else FRESH)
            link = i[0, waits + FIRST_LINK]
            while link != 0:
                over_ms = over_at(i, p, stage, i[0, link + HELD])
                if over_ms != NULL and (due_ms == NULL or over_ms < due_ms):
                    due_ms = over_ms
                link = i[0, link + AFTER]
    if due_ms != NULL:
        i[0, state + AWAITS_EXPIRY] = 1
        set_timer(i, due_ms, p[node + RANK], i[0, home], next_turn(i), node, home)


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
    put_overdue(i, p, frame, match, home)
    bound(i, p, match, home)
    await_expiry(i, p, match, home)


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
    done, kind = home + p[match + M_STATE] + DONE, CURRENT | BREAK
    while i[0, done + FIRST_LINK] != 0:
        put_row(i, p, frame, match, done, kind)
        kind = CURRENT | (BREAK if singly else 0)


@inner
def put_overdue(i: Ints, p: Ints, frame: int, match: int, home: int) -> None:
    """What ran out of time becomes rows, each of a chunk of its own."""
    overdue = home + p[match + M_STATE] + OVERDUE
    while i[0, overdue + FIRST_LINK] != 0:
        put_row(i, p, frame, match, overdue, CURRENT | BREAK | REPORTED)


@inner
def put_row(i: Ints, p: Ints, frame: int, match: int, queue: int, kind: int) -> None:
    """The first of a queue becomes a row."""
    link = i[0, queue + FIRST_LINK]
    row = made(i, frame, p[i[0, frame + NODE] + WIDER])
    copied(i, i[0, link + HELD], row, p[match + M_WORDS])
    i[0, row + KIND] = kind
    for number in range(p[match + M_STAGES]):
        slot = row + p[p[p[match + M_STAGE_LIST] + number] + S_SLOT]
        if i[0, slot + MARK] == PASSED:
            i[0, slot + FIRST_MS] = NULL
    link_out(i, p, match, queue, link)


@inner
def waiting_at(i: Ints, p: Ints, match: int, home: int, stage: int) -> int:
    """How many partial matches wait at a stage, without empty ones that wait, last, at a start."""
    count = 0
    for number in range(2):
        queue = state_of(p, home, stage) + (PENDING if number == 0 else FRESH)
        count += i[0, queue + LINKS]
        link = i[0, queue + LAST_LINK]
        while link != 0 and has_not_begun(i, p, match, stage, link):
            count -= 1
            link = i[0, link + BEFORE]
    return count


@inner
def has_not_begun(i: Ints, p: Ints, match: int, stage: int, link: int) -> bool:
    """Whether a partial match waits for its first row: it can't give way to others. Behind a start
    it has begun without any row, where an absence was all that came.
    """
    if p[stage + S_IS_START] == 0:
        return False
    return is_empty(i, p, p[match + M_STAGE_LIST], p[match + M_STAGES], i[0, link + HELD])


@inner
def oldest_in(i: Ints, p: Ints, match: int, stage: int, queue: int) -> int:
    """The link of the partial match that has waited longest in a queue; 0 where none has begun."""
    link = i[0, queue + FIRST_LINK]
    while link != 0 and has_not_begun(i, p, match, stage, link):
        link = i[0, link + AFTER]
    return link


@inner
def oldest_at(i: Ints, p: Ints, match: int, home: int, stage: int) -> int:
    """The link of the partial match that has waited longest at a stage; 0 where none has begun."""
    state = state_of(p, home, stage)
    link = oldest_in(i, p, match, stage, state + PENDING)
    return link if link != 0 else oldest_in(i, p, match, stage, state + FRESH)


@inner
def bound(i: Ints, p: Ints, match: int, home: int) -> None:
    """Of too many partial matches the oldest gives way, and is counted."""
    most, stages = i[0, p[match + M_MOST]], p[match + M_STAGE_LIST]
    count = 0
    for number in range(p[match + M_STAGES]):
        state = state_of(p, home, p[stages + number])
        count += i[0, state + PENDING + LINKS] + i[0, state + FRESH + LINKS]
    while count > most:
        count = 0
        for number in range(p[match + M_STAGES]):
            count += waiting_at(i, p, match, home, p[stages + number])
        if count > most:
            oldest = 0
            for number in range(p[match + M_STAGES]):
                link = oldest_at(i, p, match, home, p[stages + number])
                one = 0 if link == 0 else i[0, link + HELD]
                if one != 0 and (oldest == 0 or is_older(i, one, oldest)):
                    oldest = one
            drop(i, p, match, home, oldest)
            i[0, p[match + M_DROPPED]] += 1


@inner
def drop(i: Ints, p: Ints, match: int, home: int, oldest: int) -> None:
    """Let go a partial match wherever it is the oldest."""
    hold(i, oldest)
    for number in range(p[match + M_STAGES]):
        stage = p[p[match + M_STAGE_LIST] + number]
        state, link = state_of(p, home, stage), oldest_at(i, p, match, home, stage)
        if link != 0 and i[0, link + HELD] == oldest:
            if oldest_in(i, p, match, stage, state + PENDING) == link:
                take_out(i, p, stage, state, link)
            else:
                link_out(i, p, match, state + FRESH, link)
    let_go(i, p, match, oldest)
