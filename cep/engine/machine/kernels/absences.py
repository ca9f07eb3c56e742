"""Time has passed without what must be absent."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.match_words import (
    ABSENT_SIDE,
    CAME_MS,
    DONE,
    DUE_AT,
    FIRST_MS,
    FRESH,
    IS_MIXED,
    IS_OVER,
    M_STATE,
    MARK,
    NEVER,
    NOTHING,
    PENDING,
    READY,
    S_AGAIN,
    S_FOR,
    S_IS_OR,
    S_IS_START,
    S_IS_STEADY,
    S_KIND,
    S_MATCH,
    S_NEXT,
    S_ONE_TIMER,
    S_PARTNER,
    S_RESTART,
    S_SLOT,
)
from cep.engine.machine.kernels.offers import begin_next, passed
from cep.engine.machine.kernels.stages import (
    arrive_empty,
    await_next,
    due_in,
    expired,
    go_on,
    is_sequence,
    raise_signal,
    reset,
    start_again,
    state_of,
    update,
    wait_from,
)
from cep.engine.machine.kernels.waiting import (
    AFTER,
    FIRST_LINK,
    HELD,
    LINKS,
    hold,
    is_over,
    let_go,
    link_in,
    link_out,
    take_out,
)
from cep.engine.machine.kernels.words import NOW, TIME, Ints


@inner
def fire(i: Ints, p: Ints, home: int, stage: int, due_ms: int) -> None:
    """The timer of an absence has come."""
    if i[0, state_of(p, home, stage) + IS_OVER]:
        return
    if p[stage + S_KIND] == ABSENT_SIDE:
        fire_side(i, p, home, stage, due_ms)
    else:
        fire_absent(i, p, home, stage, due_ms)


@inner
def send_ready(i: Ints, p: Ints, home: int, stage: int, due_ms: int) -> None:
    """What has waited long enough is complete here, by the passing of time."""
    match, following = p[stage + S_MATCH], p[stage + S_NEXT]
    ready, done = home + p[match + M_STATE] + READY, home + p[match + M_STATE] + DONE
    while i[0, ready + FIRST_LINK] != 0:
        link = i[0, ready + FIRST_LINK]
        partial = i[0, link + HELD]
        i[0, partial + TIME] = due_ms
        go_on(i, p, home, stage, partial)
        begin_next(i, p, home, stage)
        if following == 0:
            raise_signal(i, p, home, stage, 0)
            link_in(i, done, partial, 0)
        link_out(i, p, match, ready, link)
        if p[stage + S_IS_START] and p[stage + S_AGAIN] == 0:
            i[0, state_of(p, home, stage) + IS_OVER] = 1
            partner = p[stage + S_PARTNER]
            if p[stage + S_IS_OR] and p[partner + S_KIND] == ABSENT_SIDE:
                i[0, state_of(p, home, partner) + IS_OVER] = 1


@inner
def fire_absent(i: Ints, p: Ints, home: int, stage: int, due_ms: int) -> None:
    """A time has passed at `not X for t`: what has waited long enough goes on."""
    state, match = state_of(p, home, stage), p[stage + S_MATCH]
    refill_absent(i, p, home, stage)
    ready = home + p[match + M_STATE] + READY
    link = i[0, state + PENDING + FIRST_LINK]
    while link != 0:
        after, partial = i[0, link + AFTER], i[0, link + HELD]
        at = i[0, partial + TIME]
        if is_over(i, p, stage, partial, due_ms):
            expired(i, p, home, stage, partial, due_ms)
            restart = p[stage + S_RESTART]
            if restart != 0 and restart != stage:
                start_again(i, p, home, restart, partial, due_ms)
            take_out(i, p, stage, state, link)
        elif due_ms >= (i[0, state + DUE_AT] if at == NEVER else at + i[0, p[stage + S_FOR]]):
            link_in(i, ready, partial, 0)
            take_out(i, p, stage, state, link)
        elif p[stage + S_IS_STEADY] and not i[0, state + IS_MIXED]:
            break  # all others came later
        link = after
    some = i[0, ready + LINKS] != 0
    send_ready(i, p, home, stage, due_ms)
    if p[stage + S_ONE_TIMER]:
        await_next(i, p, home, stage, due_ms)
        return
    now_ms, for_ms = i[0, NOW], i[0, p[stage + S_FOR]]
    if now_ms > for_ms + due_ms:
        i[0, state + DUE_AT] = now_ms + for_ms
    if not some and i[0, state + DUE_AT] < due_ms:
        wait_from(i, p, home, stage, due_ms)


@inner
def refill_absent(i: Ints, p: Ints, home: int, stage: int) -> None:
    """At the start of a match an empty partial match waits, unless an only one is under way."""
    state, in_order = state_of(p, home, stage), is_sequence(p, stage)
    waits = i[0, state + FRESH + LINKS] + i[0, state + PENDING + LINKS] != 0
    if p[stage + S_IS_START] and not waits:
        if not (in_order and p[stage + S_AGAIN] == 0 and i[0, state + DUE_AT] > 0):
            arrive_empty(i, p, home, stage)
    elif in_order and i[0, state + FRESH + LINKS]:
        reset(i, p, home, stage)
    update(i, p, home, stage)


@inner
def fire_side(i: Ints, p: Ints, home: int, stage: int, due_ms: int) -> None:
    """The time has passed beside `and` or `or`: for those who had waited for that alone, the state
    is complete.
    """
    state, for_ms = state_of(p, home, stage), i[0, p[stage + S_FOR]]
    some = False
    if due_ms >= i[0, state + CAME_MS] + for_ms:
        refill_side(i, p, home, stage)
        find_ready(i, p, home, stage, due_ms)
        some = i[0, home + p[p[stage + S_MATCH] + M_STATE] + READY + LINKS] != 0
        send_ready(i, p, home, stage, due_ms)
        i[0, state + CAME_MS] = 0
    if p[stage + S_AGAIN] != 0 or (not some and p[stage + S_IS_START]):
        came_ms = i[0, state + CAME_MS]
        due_in(i, p, home, stage, came_ms if came_ms != 0 else i[0, NOW])


@inner
def refill_side(i: Ints, p: Ints, home: int, stage: int) -> None:
    state = state_of(p, home, stage)
    if is_sequence(p, stage):
        fresh = i[0, state + FRESH + LINKS] != 0
        if p[stage + S_IS_START] and not fresh and i[0, state + PENDING + LINKS] == 0:
            arrive_empty(i, p, home, stage)
        elif fresh:
            reset(i, p, home, stage)
    update(i, p, home, stage)


@inner
def find_ready(i: Ints, p: Ints, home: int, stage: int, due_ms: int) -> None:
    """Take out those whose time has passed; what is complete with that is ready."""
    match, state = p[stage + S_MATCH], state_of(p, home, stage)
    ready, last = home + p[match + M_STATE] + READY, 0
    link = i[0, state + PENDING + FIRST_LINK]
    while link != 0:
        after, partial = i[0, link + AFTER], i[0, link + HELD]
        slot = partial + p[stage + S_SLOT]
        from_ms = i[0, (slot + FIRST_MS) if i[0, slot + MARK] != NOTHING else (partial + TIME)]
        is_waiting = False
        if is_over(i, p, stage, partial, due_ms):
            expired(i, p, home, stage, partial, due_ms)
            hold(i, partial)
            if last != 0:
                let_go(i, p, match, last)
            last = partial
        elif due_ms < from_ms + i[0, p[stage + S_FOR]]:
            is_waiting = True
        elif completes(i, p, stage, partial):
            link_in(i, ready, partial, 0)
        if not is_waiting:
            take_out(i, p, stage, state, link)
        link = after
    if last != 0:
        if p[stage + S_RESTART] != 0:
            start_again(i, p, home, p[stage + S_RESTART], last, due_ms)
        let_go(i, p, match, last)


@inner
def completes(i: Ints, p: Ints, stage: int, partial: int) -> bool:
    """The time has passed for a partial match: whether the partner's part is done, too."""
    partner = partial + p[p[stage + S_PARTNER] + S_SLOT]
    partner_came = i[0, partner + MARK] != NOTHING
    if not partner_came:
        passed(i, p, stage, partial)
    return partner_came != (p[stage + S_IS_OR] != 0)
