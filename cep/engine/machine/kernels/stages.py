"""The stages of a match: how partial matches arrive, start again, are too old.

The state of `cep.interpreter.match` in words: each function here has its namesake there.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.match_words import (
    ABSENT,
    ABSENT_SIDE,
    AWAITED,
    BEGINS_NEXT,
    COLLECTED,
    COUNTED,
    DUE_AT,
    FIRST_MS,
    FRESH,
    HAS_BEGUN,
    HAS_EXPIRED,
    HAS_ROW,
    IS_DONE,
    IS_MIXED,
    IS_OVER,
    LAST_DUE,
    LAST_TURN,
    LOGICAL,
    M_EXPIRY,
    M_IS_SEQUENCE,
    M_STATE,
    MARK,
    NOTHING,
    OVERDUE,
    PENDING,
    PLAIN_STAGE,
    S_AGAIN,
    S_BEHIND,
    S_BEHIND_LIST,
    S_FIRST,
    S_FOR,
    S_IS_OR,
    S_IS_START,
    S_KIND,
    S_LEAST,
    S_LIMITS,
    S_MATCH,
    S_NEXT,
    S_NODE,
    S_ONE_TIMER,
    S_PARTNER,
    S_RESTART,
    S_SLOT,
    S_STATE,
    SIGNAL,
)
from cep.engine.machine.kernels.timers import next_turn, set_timer
from cep.engine.machine.kernels.waiting import (
    AFTER,
    FIRST_LINK,
    HELD,
    LAST_LINK,
    LINKS,
    TURN_OF,
    branch,
    copied_whole,
    emptied,
    hold,
    is_over,
    is_over_in,
    let_go,
    link_by_age,
    link_in,
    link_out,
    settle,
    take_out,
)
from cep.engine.machine.kernels.words import KIND, RANK, TIME, Ints


@inline
def state_of(p: Ints, home: int, stage: int) -> int:
    """Where the state of a stage lies."""
    return home + p[stage + S_STATE]


@inline
def is_sequence(p: Ints, stage: int) -> bool:
    return p[p[stage + S_MATCH] + M_IS_SEQUENCE] != 0


@inline
def raise_signal(i: Ints, p: Ints, home: int, stage: int, raised: int) -> None:
    """Say that a match is complete, or that this has been seen."""
    i[0, home + p[p[stage + S_MATCH] + M_STATE] + SIGNAL] = raised


@inline
def is_raised(i: Ints, p: Ints, home: int, stage: int) -> bool:
    return i[0, home + p[p[stage + S_MATCH] + M_STATE] + SIGNAL] != 0


@inner
def due_in(i: Ints, p: Ints, home: int, stage: int, from_ms: int) -> int:
    """Set the timer of an absence, which counts from a time; when that is due."""
    due_ms = from_ms + i[0, p[stage + S_FOR]]
    node = p[stage + S_NODE]
    set_timer(i, due_ms, p[node + RANK], i[0, home], next_turn(i), node, home)
    return due_ms


@inline
def wait_from(i: Ints, p: Ints, home: int, stage: int, from_ms: int) -> None:
    """An absence waits from a time on."""
    if p[stage + S_ONE_TIMER]:
        turn_of(i, p, home, stage, from_ms)
    else:
        i[0, state_of(p, home, stage) + DUE_AT] = due_in(i, p, home, stage, from_ms)


@inline
def turn_of(i: Ints, p: Ints, home: int, stage: int, from_ms: int) -> int:
    """The turn of what waits from a time on: what is due together is done with the first of it,
    even if that has ended.
    """
    state, due_ms = state_of(p, home, stage), from_ms + i[0, p[stage + S_FOR]]
    if i[0, state + LAST_DUE] != due_ms:
        i[0, state + LAST_DUE] = due_ms
        i[0, state + LAST_TURN] = next_turn(i)
    return i[0, state + LAST_TURN]


@inner
def awaited(i: Ints, p: Ints, home: int, stage: int, partial: int, turn: int) -> None:
    """Have the timer of an absence fire when a partial match is due, if none does before."""
    state, node = state_of(p, home, stage), p[stage + S_NODE]
    due_ms = i[0, partial + TIME] + i[0, p[stage + S_FOR]]
    if i[0, state + AWAITED] == 0 or due_ms < i[0, state + AWAITED]:
        i[0, state + AWAITED] = due_ms
        set_timer(i, due_ms, p[node + RANK], i[0, home], turn, node, home)


@inner
def await_next(i: Ints, p: Ints, home: int, stage: int, due_ms: int) -> None:
    """The only timer has fired: set that of what is due next. O(1) where they are in order."""
    state = state_of(p, home, stage)
    if i[0, state + AWAITED] <= due_ms:
        i[0, state + AWAITED] = 0
    link = i[0, state + PENDING + FIRST_LINK]
    first = link
    while link != 0 and i[0, state + IS_MIXED]:
        if i[0, i[0, link + HELD] + TIME] < i[0, i[0, first + HELD] + TIME]:
            first = link
        link = i[0, link + AFTER]
    if first != 0:
        awaited(i, p, home, stage, i[0, first + HELD], i[0, first + TURN_OF])


@inner
def add(i: Ints, p: Ints, home: int, stage: int, partial: int) -> bool:
    """A partial match waits at a stage; whether the next one may take over at once."""
    kind, state = p[stage + S_KIND], state_of(p, home, stage)
    if kind in (LOGICAL, ABSENT_SIDE):
        if kind == LOGICAL or not i[0, state + IS_OVER]:
            add_logical(i, p, home, stage, partial)
        return False
    if kind == ABSENT:
        if not i[0, state + IS_OVER]:
            add_absent(i, p, home, stage, partial)
        return False
    is_complete = (
        kind == COUNTED
        and p[stage + S_LEAST] == 0
        and i[0, partial + p[stage + S_SLOT] + MARK] == NOTHING
    )
    is_first = not (is_sequence(p, stage) and i[0, state + FRESH + LINKS])
    if is_first and not (is_complete and p[stage + S_NEXT] == 0):
        link_by_age(i, state + FRESH, partial)
    return is_complete


@inner
def add_logical(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    """It waits at both sides. A start, or a state of a sequence, takes one per row."""
    one_only = p[stage + S_IS_START] or is_sequence(p, stage)
    for number in range(2):
        side = stage if number == 0 else p[stage + S_PARTNER]
        fresh = state_of(p, home, side) + FRESH
        if not (one_only and i[0, fresh + LINKS]):
            link_in(i, fresh, partial, 0)
    if p[stage + S_KIND] != ABSENT_SIDE or p[stage + S_IS_START]:
        return
    for number in range(2):
        side = stage if number == 0 else p[stage + S_PARTNER]
        if p[side + S_KIND] == ABSENT_SIDE and p[side + S_FOR]:
            due_in(i, p, home, side, i[0, partial + TIME])


@inline
def add_absent(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    fresh = state_of(p, home, stage) + FRESH
    if is_sequence(p, stage):
        emptied(i, p, p[stage + S_MATCH], fresh)
    link_in(i, fresh, partial, 0)
    if p[stage + S_ONE_TIMER]:
        turn = turn_of(i, p, home, stage, i[0, partial + TIME])
        i[0, i[0, fresh + LAST_LINK] + TURN_OF] = turn
        awaited(i, p, home, stage, partial, turn)
    elif not p[stage + S_IS_START]:
        wait_from(i, p, home, stage, i[0, partial + TIME])


@inner
def add_again(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    """A copy of a partial match starts at a stage again."""
    add_copy(i, p, home, stage, partial)
    if p[stage + S_KIND] == ABSENT:
        wait_from(i, p, home, stage, i[0, partial + TIME])


@inner
def add_copy(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    kind, slot = p[stage + S_KIND], p[stage + S_SLOT]
    copy = branch(i, p, stage, partial)
    if kind == ABSENT_SIDE and i[0, partial + slot + MARK] != NOTHING:
        i[0, copy + TIME] = i[0, partial + slot + FIRST_MS]
    link_in(i, state_of(p, home, stage) + FRESH, copy, 0)
    if kind in (LOGICAL, ABSENT_SIDE):
        link_in(i, state_of(p, home, p[stage + S_PARTNER]) + FRESH, copy, 0)
    let_go(i, p, p[stage + S_MATCH], copy)


@inner
def arrive(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    """A partial match arrives at a stage, and at all behind that it may go on to at once."""
    passed, at = 0, stage
    while at != 0 and add(i, p, home, at, partial):
        passed += 1
        if p[at + S_NEXT] == 0:
            i[0, partial + KIND] |= IS_DONE
            raise_signal(i, p, home, at, 1)
        at = p[at + S_NEXT]
    while passed > 0:
        passed -= 1
        at = stage
        for _ in range(passed):
            at = p[at + S_NEXT]
        if p[at + S_AGAIN] != 0:
            add_again(i, p, home, p[at + S_AGAIN], partial)


@inner
def go_on(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    """A stage is complete: on to the next, and round again with `every`."""
    if p[stage + S_NEXT] == 0:
        i[0, partial + KIND] |= IS_DONE
        raise_signal(i, p, home, stage, 1)
    else:
        arrive(i, p, home, p[stage + S_NEXT], partial)
    if p[stage + S_AGAIN] != 0:
        add_again(i, p, home, p[stage + S_AGAIN], partial)


@inner
def arrive_empty(i: Ints, p: Ints, home: int, stage: int) -> None:
    """A partial match without a row arrives."""
    partial = branch(i, p, stage, 0)
    arrive(i, p, home, stage, partial)
    let_go(i, p, p[stage + S_MATCH], partial)


@inner
def begin(i: Ints, p: Ints, home: int, stage: int) -> None:
    """An empty partial match waits at the start: once, or again and again with `every`."""
    if not p[stage + S_IS_START]:
        return
    following, state = p[stage + S_NEXT], state_of(p, home, stage)
    kind = PLAIN_STAGE if following == 0 else p[following + S_KIND]
    before_absence = kind in (ABSENT, ABSENT_SIDE)
    repeats = p[stage + S_AGAIN] != 0 or (is_sequence(p, stage) and before_absence)
    if repeats or not i[0, state + HAS_BEGUN]:
        i[0, state + HAS_BEGUN] = 1
        arrive_empty(i, p, home, stage)


@inner
def update(i: Ints, p: Ints, home: int, stage: int) -> None:
    """New partial matches are ready for the row that comes now."""
    kind, state = p[stage + S_KIND], state_of(p, home, stage)
    if kind == COUNTED and i[0, state + BEGINS_NEXT]:
        i[0, state + BEGINS_NEXT] = 0
        begin(i, p, home, stage)
    settle(i, p, stage, state)
    if kind in (LOGICAL, ABSENT_SIDE):
        partner = p[stage + S_PARTNER]
        settle(i, p, partner, state_of(p, home, partner))


@inner
def reset(i: Ints, p: Ints, home: int, stage: int) -> None:
    """A sequence goes on: what waits here was not continued by the latest row."""
    kind, state, match = p[stage + S_KIND], state_of(p, home, stage), p[stage + S_MATCH]
    if kind in (LOGICAL, ABSENT_SIDE):
        other = state_of(p, home, p[stage + S_PARTNER])
        if not p[stage + S_IS_OR] and i[0, state + LINKS] != i[0, other + LINKS]:
            return
        emptied(i, p, match, other + PENDING)
    emptied(i, p, match, state + PENDING)
    if p[stage + S_IS_START] and (kind == ABSENT or not i[0, state + FRESH + LINKS]):
        following = p[stage + S_NEXT]
        runs_on = (
            p[stage + S_AGAIN] == 0
            and following != 0
            and i[0, state_of(p, home, following) + PENDING + LINKS] != 0
        )
        if not runs_on:
            begin(i, p, home, stage)


@inner
def is_taken(i: Ints, p: Ints, stage: int, partial: int) -> bool:
    """Whether a stage behind a counted one has taken an event."""
    for number in range(p[stage + S_BEHIND]):
        if i[0, partial + p[p[stage + S_BEHIND_LIST] + number] + MARK] != NOTHING:
            return True
    return False


@inner
def expired(i: Ints, p: Ints, home: int, stage: int, partial: int, now_ms: int) -> bool:
    """Say that a partial match ran out of time; whether an `every` starts with it again."""
    has_repeated = False
    if p[stage + S_KIND] == COUNTED:
        if is_taken(i, p, stage, partial):
            return False
        if p[stage + S_AGAIN] != 0:
            slot = partial + p[stage + S_SLOT]
            i[0, slot + MARK] = HAS_ROW
            has_repeated = i[0, slot + COLLECTED] >= p[stage + S_LEAST]
    was_expired = i[0, partial + KIND] & HAS_EXPIRED != 0
    i[0, partial + KIND] |= HAS_EXPIRED
    match = p[stage + S_MATCH]
    if p[match + M_EXPIRY] != 0 and not was_expired and not i[0, partial + KIND] & IS_DONE:
        copy = copied_whole(i, p, match, partial)
        i[0, copy + TIME] = now_ms
        link_in(i, home + p[match + M_STATE] + OVERDUE, copy, 0)
        let_go(i, p, match, copy)
    return not (was_expired or has_repeated)


@inner
def expire(i: Ints, p: Ints, home: int, stage: int, now_ms: int, thorough: bool) -> None:
    """Drop what is too old; the newest that was dropped starts its `every` again."""
    if p[stage + S_LIMITS] == 0:
        return
    match, last, state = p[stage + S_MATCH], 0, state_of(p, home, stage)
    for number in range(2):
        queue = state + (PENDING if number == 0 else FRESH)
        all_of_them = thorough and (number == 1 or i[0, state + IS_MIXED] != 0)
        link = i[0, queue + FIRST_LINK]
        while link != 0:
            after, partial = i[0, link + AFTER], i[0, link + HELD]
            if is_over(i, p, stage, partial, now_ms):
                if expired(i, p, home, stage, partial, now_ms):
                    hold(i, partial)
                    if last != 0:
                        let_go(i, p, match, last)
                    last = partial
                if number == 0:
                    take_out(i, p, stage, state, link)
                else:
                    link_out(i, p, match, queue, link)
            elif not all_of_them:
                break
            link = after
        if i[0, queue + LINKS] and not thorough:
            break  # what is fresh waits behind it
    if last != 0:
        if p[stage + S_RESTART] != 0:
            start_again(i, p, home, p[stage + S_RESTART], last, now_ms)
        let_go(i, p, match, last)


@inner
def start_again(i: Ints, p: Ints, home: int, stage: int, partial: int, now_ms: int) -> None:
    """A dropped partial match starts its `every` again with the rows in front of that."""
    if not is_over_in(i, p, stage, partial, p[stage + S_FIRST], now_ms):
        add_again(i, p, home, stage, partial)
        update(i, p, home, stage)
