"""A row is shown to the partial matches that wait at a stage."""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.evaluate import is_true
from cep.engine.machine.kernels.match_words import (
    ABSENT,
    ABSENT_SIDE,
    BEGINS_NEXT,
    CAME_MS,
    COLLECTED,
    COLLECTED_ROWS,
    COUNTED,
    DONE,
    FIRST_MS,
    HAS_ROW,
    IS_OVER,
    LOGICAL,
    M_STATE,
    M_TEMPLATE,
    MARK,
    NEVER,
    NOTHING,
    PASSED,
    PENDING,
    S_AGAIN,
    S_CONDITION,
    S_FIRSTS,
    S_FOR,
    S_IS_FIRST,
    S_IS_OR,
    S_IS_START,
    S_KIND,
    S_LEAST,
    S_MATCH,
    S_MOST,
    S_NEWEST,
    S_NEXT,
    S_PARTNER,
    S_SLOT,
    S_STAR,
    S_VALUES,
    S_WORDS,
    SLOT_VALUES,
)
from cep.engine.machine.kernels.stages import (
    add_copy,
    arrive,
    begin,
    go_on,
    is_raised,
    is_sequence,
    is_taken,
    raise_signal,
    state_of,
    wait_from,
)
from cep.engine.machine.kernels.waiting import (
    AFTER,
    FIRST_LINK,
    HELD,
    cleared_slot,
    hold,
    let_go,
    link_in,
    link_of,
    link_out,
)
from cep.engine.machine.kernels.words import TIME, VALUES, WORK_TOP, Floats, Ints
from cep.engine.machine.kernels.work import copied, row_at


@inner
def offer(i: Ints, f: Floats, p: Ints, home: int, stage: int, row: int) -> None:
    """Show a row to all that wait at a stage, oldest first; what it completes goes to a queue."""
    kind, match, state = p[stage + S_KIND], p[stage + S_MATCH], state_of(p, home, stage)
    if (kind == ABSENT or kind == ABSENT_SIDE) and i[0, state + IS_OVER]:
        return
    link = i[0, state + PENDING + FIRST_LINK]
    while link != 0:
        after, partial = i[0, link + AFTER], i[0, link + HELD]
        hold(i, partial)
        if not stays(i, f, p, home, stage, partial, row):
            link_out(i, p, match, state + PENDING, link)
        let_go(i, p, match, partial)
        link = after


@inner
def stays(
    i: Ints, f: Floats, p: Ints, home: int, stage: int, partial: int, row: int
) -> bool:
    """Whether a partial match still waits after a row has been shown to it."""
    kind = p[stage + S_KIND]
    if kind == COUNTED:
        return stays_counted(i, f, p, home, stage, partial, row)
    if kind == LOGICAL or kind == ABSENT_SIDE:
        other = partial + p[p[stage + S_PARTNER] + S_SLOT]
        if p[stage + S_IS_OR] and i[0, other + MARK] != NOTHING:
            return False  # the other side came first
    if kind == ABSENT_SIDE:
        return stays_absent(i, f, p, home, stage, partial, row)
    put_candidate(i, p, stage, partial, row)
    leaves = is_true(i, f, p, p[stage + S_CONDITION], partial)
    if leaves:
        accept(i, p, home, stage, partial, i[0, row + TIME])
    if kind != ABSENT:
        collect(i, p, home, stage, partial)
    if leaves:
        return False
    cleared_slot(i, p, stage, partial)
    if kind != LOGICAL and is_sequence(p, stage):
        begin_next(i, p, home, stage)
    return kind == ABSENT or not is_sequence(p, stage)


@inner
def put_candidate(i: Ints, p: Ints, stage: int, partial: int, row: int) -> None:
    """A row stands in the slot of a stage."""
    slot = partial + p[stage + S_SLOT]
    i[0, slot + MARK] = HAS_ROW
    i[0, slot + FIRST_MS] = i[0, row + TIME]
    for value in range(p[stage + S_VALUES]):
        i[0, slot + SLOT_VALUES + value] = i[0, row + VALUES + value]


@inline
def begin_next(i: Ints, p: Ints, home: int, stage: int) -> None:
    """A counted stage that need not collect begins anew with the next row."""
    star = p[stage + S_STAR]
    if star != 0:
        i[0, state_of(p, home, star) + BEGINS_NEXT] = 1


@inline
def collect(i: Ints, p: Ints, home: int, stage: int, partial: int) -> None:
    """Note the partial match if one is complete."""
    if is_raised(i, p, home, stage):
        raise_signal(i, p, home, stage, 0)
        link_in(i, home + p[p[stage + S_MATCH] + M_STATE] + DONE, partial, 0)


@inner
def accept(i: Ints, p: Ints, home: int, stage: int, partial: int, time_ms: int) -> None:
    """The candidate in the slot has passed."""
    kind = p[stage + S_KIND]
    if kind == ABSENT:
        i[0, partial + TIME] = time_ms
        if p[stage + S_IS_START] and p[stage + S_AGAIN] == stage:
            add_copy(i, p, home, stage, partial)
        wait_from(i, p, home, stage, time_ms)
        return
    partner = p[stage + S_PARTNER]
    if kind == LOGICAL and not p[stage + S_IS_OR]:
        if not lets_pass(i, p, home, partner, partial):
            return
    i[0, partial + TIME] = time_ms
    go_on(i, p, home, stage, partial)
    begin_next(i, p, home, stage)
    if kind == LOGICAL:
        forget(i, p, home, partner, partial)
        if p[stage + S_IS_OR] and p[stage + S_NEXT] == 0:
            raise_signal(i, p, home, stage, 1)


@inner
def lets_pass(i: Ints, p: Ints, home: int, side: int, partial: int) -> bool:
    """Whether a side of an `and` is complete."""
    is_there = i[0, partial + p[side + S_SLOT] + MARK] != NOTHING
    if p[side + S_KIND] == LOGICAL:
        return is_there
    every, state = p[side + S_AGAIN] != 0, state_of(p, home, side)
    came = i[0, state + CAME_MS] > 0
    if is_sequence(p, side) and not every and came:
        return False
    if p[side + S_FOR] != 0:
        return is_there
    if not every:
        return not is_there
    if came:
        i[0, state + CAME_MS] = 0
        begin(i, p, home, side)
    return not came


@inner
def forget(i: Ints, p: Ints, home: int, side: int, partial: int) -> None:
    """The other side has completed the state."""
    if p[side + S_KIND] != ABSENT_SIDE and not p[side + S_IS_OR]:
        return
    pending = state_of(p, home, side) + PENDING
    link = link_of(i, pending, partial)
    if link != 0:
        link_out(i, p, p[side + S_MATCH], pending, link)


@inner
def stays_absent(
    i: Ints, f: Floats, p: Ints, home: int, stage: int, partial: int, row: int
) -> bool:
    """What must be absent beside `and` or `or` may have come."""
    slot, words = partial + p[stage + S_SLOT], p[stage + S_WORDS]
    before = row_at(i, i[0, WORK_TOP])  # above all rows: nobody uses it meanwhile
    copied(i, slot, before, words)
    put_candidate(i, p, stage, partial, row)
    in_order = is_sequence(p, stage)
    if not is_true(i, f, p, p[stage + S_CONDITION], partial):
        copied(i, before, slot, words)
        return not in_order
    i[0, state_of(p, home, stage) + CAME_MS] = i[0, row + TIME]
    repeats = in_order and not p[stage + S_IS_OR] and p[stage + S_AGAIN] != 0
    if p[stage + S_FOR] != 0 or repeats:
        copied(i, before, slot, words)
    if not p[stage + S_IS_FIRST] and in_order:
        pending = state_of(p, home, p[stage + S_PARTNER]) + PENDING
        link = link_of(i, pending, partial)
        if link != 0:
            link_out(i, p, p[stage + S_MATCH], pending, link)
    return p[stage + S_IS_FIRST] != 0


@inner
def passed(i: Ints, p: Ints, stage: int, partial: int) -> None:
    """The time of an absent side is over."""
    cleared_slot(i, p, stage, partial)
    slot = partial + p[stage + S_SLOT]
    i[0, slot + MARK] = PASSED
    i[0, slot + FIRST_MS] = NEVER


@inner
def stays_counted(
    i: Ints, f: Floats, p: Ints, home: int, stage: int, partial: int, row: int
) -> bool:
    """A row may be one more of those that a stage collects."""
    if is_taken(i, p, stage, partial):
        return False
    append(i, p, stage, partial, row)
    passes = is_true(i, f, p, p[stage + S_CONDITION], partial)
    leaves = passes and accept_counted(i, p, home, stage, partial, i[0, row + TIME])
    collect(i, p, home, stage, partial)
    if passes:
        return not leaves
    take_back(i, p, stage, partial)
    return not is_sequence(p, stage)


@inner
def accept_counted(
    i: Ints, p: Ints, home: int, stage: int, partial: int, time_ms: int
) -> bool:
    """The candidate has passed; whether the partial match collects no more."""
    i[0, partial + TIME] = time_ms
    count = i[0, partial + p[stage + S_SLOT] + COLLECTED]
    least, most, following = p[stage + S_LEAST], p[stage + S_MOST], p[stage + S_NEXT]
    if is_sequence(p, stage) and not (following == 0 and count == least):
        enough = count >= least
        if enough and following != 0:
            arrive(i, p, home, following, partial)
        if count != most:
            arrive(i, p, home, stage, partial)
        return enough and count == most
    if count == least:
        go_on(i, p, home, stage, partial)
        return following == 0 or count == most
    return count == most


@inner
def append(i: Ints, p: Ints, stage: int, partial: int, row: int) -> None:
    """One more row is collected; the newest stand in front."""
    slot, values = partial + p[stage + S_SLOT], p[stage + S_VALUES]
    firsts, newest = p[stage + S_FIRSTS], p[stage + S_NEWEST]
    i[0, slot + MARK] = HAS_ROW
    count = i[0, slot + COLLECTED]
    i[0, slot + COLLECTED] = count + 1
    if count == 0:
        i[0, slot + FIRST_MS] = i[0, row + TIME]
    if count < firsts:
        put_row(i, row, slot + COLLECTED_ROWS + count * (1 + values), values)
    if newest > 0:
        front = slot + COLLECTED_ROWS + firsts * (1 + values)
        for word in range(newest * (1 + values) - 1, values, -1):
            i[0, front + word] = i[0, front + word - 1 - values]
        put_row(i, row, front, values)


@inline
def put_row(i: Ints, row: int, target: int, values: int) -> None:
    i[0, target] = i[0, row + TIME]
    for value in range(values):
        i[0, target + 1 + value] = i[0, row + VALUES + value]


@inner
def take_back(i: Ints, p: Ints, stage: int, partial: int) -> None:
    """The row that was appended is not collected after all."""
    slot, values = p[stage + S_SLOT], p[stage + S_VALUES]
    firsts, newest = p[stage + S_FIRSTS], p[stage + S_NEWEST]
    empty = p[p[stage + S_MATCH] + M_TEMPLATE]
    count = i[0, partial + slot + COLLECTED] - 1
    if count == 0:
        cleared_slot(i, p, stage, partial)
        return
    i[0, partial + slot + COLLECTED] = count
    if count < firsts:
        first = slot + COLLECTED_ROWS + count * (1 + values)
        for word in range(first, first + 1 + values):
            i[0, partial + word] = p[empty + word]
    if newest > 0:
        first = slot + COLLECTED_ROWS + firsts * (1 + values)
        last = first + (newest - 1) * (1 + values)
        for word in range(first, last):
            i[0, partial + word] = i[0, partial + word + 1 + values]
        for word in range(last, last + 1 + values):
            i[0, partial + word] = p[empty + word]


