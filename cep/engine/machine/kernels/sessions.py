"""`session(gap[, key[, latency]])`: rows that follow one another; see `cep.interpreter.windows`."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.entries import AFTER, ENTRIES, ENTRY_KEY, FIRST_ENTRY, entry_of
from cep.engine.machine.kernels.groups import GROUP_KEYS as SESSION_KEYS
from cep.engine.machine.kernels.memory import (
    ring_cell,
    ring_length,
    ring_parted,
    ring_room_for,
)
from cep.engine.machine.kernels.rows import appended, emptied, is_current, row_of, swapped
from cep.engine.machine.kernels.tables import SLOTS_MIN, hash_place, slots_for
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    AT,
    COUNT,
    CURSOR,
    DUE,
    EXPIRED,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RANK,
    RING,
    RING_HEAD,
    RING_TAIL,
    STATE,
    TIME,
    WIDER,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import copied, hand_on, made, work_room

# A node: what makes a key (as `groups` has it), the words of a row, the cells of gap and latency,
# the address where late rows are counted, the code of the text by which no key is put in order.
SESSION_WORDS, GAP, LATENCY, DROPPED, NO_KEY_TEXT = (
    ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4, ARGUMENTS + 5, ARGUMENTS + 6,
)  # fmt: skip
# A session: its rows; when it began and ends, in whose turn; its number among those that are held,
# 0 where there is none.
START, END, TURN_OF, NUMBER_OF, SESSION = RING, RING + 1, RING + 2, RING + 3, RING + 4
# The state: entries of keys, each with the session under way and the one before that waits for late
# rows; how many there ever were; the rows that leave; the timer that is awaited (0: none).
COUNTED, GONE, AWAITED, SESSION_STATE = ENTRIES, ENTRIES + 1, ENTRIES + 1 + RING, ENTRIES + 2 + RING
FOREVER = 2**62


@inner
def step_session(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Rows go on at once; behind them leave those of sessions that are over, with their times."""
    node = i[0, frame + NODE]
    state = i[0, frame + PLACE] + p[node + STATE]
    if i[0, frame + COUNT] == DUE:
        if i[0, frame + CURSOR] == 0 and not time_has_come(i, p, frame, state):
            return False
        i[0, frame + CURSOR] = 1  # sessions have ended, though there may be no room for the rows
    else:
        while i[0, frame + CURSOR] < i[0, frame + COUNT]:
            row = row_of(i, p, frame, i[0, frame + CURSOR])
            if is_current(i, row) and not came(i, f, p, frame, state, row):
                return False
            i[0, frame + CURSOR] += 1
    if not all_gone(i, p, frame, state + GONE):
        return False
    hand_on(i, frame, p[node + NEXT])
    return True


@inner
def all_gone(i: Ints, p: Ints, frame: int, ring: int) -> bool:
    """The rows that leave go on; false: there is no room."""
    node = i[0, frame + NODE]
    words, wider = p[node + SESSION_WORDS], p[node + WIDER]
    if not work_room(i, ring_length(i, ring) * wider):
        return False
    for position in range(i[0, ring + RING_HEAD], i[0, ring + RING_TAIL]):
        out = made(i, frame, wider)
        copied(i, ring_cell(i, ring, position, words), out, words)
        i[0, out + KIND] = EXPIRED
    emptied(i, ring)
    return True


@inline
def now_of(p: Ints, node: int, entry: int) -> int:
    """The session of a key that is under way."""
    return entry + ENTRY_KEY + p[node + SESSION_KEYS]


@inline
def before_of(p: Ints, node: int, entry: int) -> int:
    """The one before."""
    return now_of(p, node, entry) + SESSION


@inner
def entry_at(i: Ints, f: Floats, p: Ints, node: int, state: int, row: int) -> int:
    """The entry of a row's key; 0 where there is no room."""
    first = ENTRY_KEY + p[node + SESSION_KEYS]
    last = i[0, state + FIRST_ENTRY + 1]
    entry = entry_of(i, f, p, state, node, row, first + 2 * SESSION)
    if entry != 0 and i[0, state + FIRST_ENTRY + 1] != last:
        for word in range(first, first + 2 * SESSION):
            i[0, entry + word] = 0
    return entry


@inner
def came(i: Ints, f: Floats, p: Ints, frame: int, state: int, row: int) -> bool:
    """A row comes for its session; false: there is no room."""
    node = i[0, frame + NODE]
    words = p[node + SESSION_WORDS]
    entry = entry_at(i, f, p, node, state, row)
    if entry == 0 or not timer_room(i, 3):
        return False
    now, before = now_of(p, node, entry), before_of(p, node, entry)
    rows = ring_length(i, now) + ring_length(i, before)
    if not ring_room_for(i, now, words, ring_length(i, before) + 1):
        return False
    if not ring_room_for(i, before, words, 1) or not ring_room_for(i, state + GONE, words, rows):
        return False
    if not work_room(i, p[node + WIDER]):
        return False
    row = row_of(i, p, frame, i[0, frame + CURSOR])  # it may have moved
    time_ms = i[0, row + TIME]
    if i[0, now + NUMBER_OF] and time_ms < i[0, now + START]:
        if not came_late(i, p, node, now, before, row):
            i[0, p[node + DROPPED]] += 1
            return True
    else:
        if i[0, now + NUMBER_OF] and time_ms > i[0, now + END]:
            ended(i, p, frame, state, now, before)
        continued(i, p, frame, state, now, row)
    copied(i, row, made(i, frame, p[node + WIDER]), words)
    return True


@inner
def continued(i: Ints, p: Ints, frame: int, state: int, now: int, row: int) -> None:
    """A row becomes the last of its session, or the first."""
    node = i[0, frame + NODE]
    end_ms = i[0, row + TIME] + i[0, p[node + GAP]]
    if i[0, now + NUMBER_OF] == 0:
        i[0, now + START] = i[0, row + TIME]
        i[0, now + END] = NULL
        i[0, now + NUMBER_OF] = next_number(i, state)
    appended(i, now, row, p[node + SESSION_WORDS])
    turn = next_turn(i)
    if end_ms > i[0, now + END]:
        i[0, now + END] = end_ms
        i[0, now + TURN_OF] = turn
    if i[0, p[node + LATENCY]]:
        await_time(i, p, frame, end_ms, turn)
    elif i[0, state + AWAITED] == 0 or end_ms < i[0, state + AWAITED]:
        i[0, state + AWAITED] = end_ms
        await_time(i, p, frame, end_ms, turn)


@inline
def await_time(i: Ints, p: Ints, frame: int, due_ms: int, turn: int) -> None:
    """Set a timer, for which there is room."""
    node, place = i[0, frame + NODE], i[0, frame + PLACE]
    set_timer(i, due_ms, p[node + RANK], i[0, place], turn, node, place)


@inline
def next_number(i: Ints, state: int) -> int:
    """The number of a session among those that are held: dictionaries keep this order."""
    i[0, state + COUNTED] += 1
    return i[0, state + COUNTED]


@inner
def came_late(i: Ints, p: Ints, node: int, now: int, before: int, row: int) -> bool:
    """A row that is older than the session under way; false: it is too late for that before, too.

    What it lets last longer gets no timer: it waits for one of another row.
    """
    words, gap_ms, time_ms = p[node + SESSION_WORDS], i[0, p[node + GAP]], i[0, row + TIME]
    if time_ms >= i[0, now + START] - gap_ms:
        put_in_front(i, now, row, words)
        i[0, now + START] = time_ms
        merged(i, p, node, now, before)
        return True
    if i[0, before + NUMBER_OF] == 0 or time_ms < i[0, before + START] - gap_ms:
        return False
    appended(i, before, row, words)
    if time_ms < i[0, before + START] and time_ms <= i[0, before + END] - gap_ms:
        i[0, before + START] = time_ms
    else:
        i[0, before + END] = max(i[0, before + END], time_ms + gap_ms)
        merged(i, p, node, now, before)
    return True


@inline
def put_in_front(i: Ints, ring: int, row: int, words: int) -> None:
    """A row becomes the first of a ring, which has room for it."""
    copied(i, row, ring_parted(i, ring, i[0, ring + RING_HEAD], words), words)


@inner
def merged(i: Ints, p: Ints, node: int, now: int, before: int) -> None:
    """The session before becomes part of that under way, where they are near enough. O(rows)."""
    if i[0, before + NUMBER_OF] == 0:
        return
    if i[0, before + END] < i[0, now + START] - i[0, p[node + GAP]]:
        return
    words = p[node + SESSION_WORDS]
    for position in range(i[0, before + RING_TAIL] - 1, i[0, before + RING_HEAD] - 1, -1):
        put_in_front(i, now, ring_cell(i, before, position, words), words)
    i[0, now + START] = i[0, before + START]
    emptied(i, before)
    i[0, before + NUMBER_OF] = 0


@inner
def gone(i: Ints, p: Ints, node: int, state: int, session: int) -> None:
    """The rows of a session leave, for which there is room."""
    words = p[node + SESSION_WORDS]
    for position in range(i[0, session + RING_HEAD], i[0, session + RING_TAIL]):
        appended(i, state + GONE, ring_cell(i, session, position, words), words)
    emptied(i, session)


@inner
def ended(i: Ints, p: Ints, frame: int, state: int, now: int, before: int) -> None:
    """The session under way is over: it waits for late rows, or goes."""
    node = i[0, frame + NODE]
    latency_ms = i[0, p[node + LATENCY]]
    if latency_ms == 0:
        gone(i, p, node, state, now)
    else:
        gone(i, p, node, state, before)
        swapped(i, now, before)
        i[0, before + START] = i[0, now + START]
        i[0, before + END] = i[0, now + END]
        if i[0, before + NUMBER_OF] == 0:
            i[0, before + NUMBER_OF] = next_number(i, state)
        await_time(i, p, frame, i[0, before + END] + latency_ms, next_turn(i))
    i[0, now + NUMBER_OF] = 0


@inner
def time_has_come(i: Ints, p: Ints, frame: int, state: int) -> bool:
    """End what is over by now; false: there is no room. O(keys), and of each that is over again."""
    node, due_ms = i[0, frame + NODE], i[0, AT]
    if not room_to_end(i, p, node, state, due_ms):
        return False
    if i[0, state + AWAITED] and due_ms >= i[0, state + AWAITED]:
        i[0, state + AWAITED] = 0
    latency_ms = i[0, p[node + LATENCY]]
    slots = slots_of(i, p, node, state, 0)
    entry = next_over(i, p, node, state, 0, due_ms, slots)
    while entry != 0:
        ended(i, p, frame, state, now_of(p, node, entry), before_of(p, node, entry))
        entry = next_over(i, p, node, state, 0, due_ms, slots)
    if latency_ms:
        slots = slots_of(i, p, node, state, SESSION)
        entry = next_over(i, p, node, state, SESSION, due_ms - latency_ms, slots)
        while entry != 0:
            gone(i, p, node, state, before_of(p, node, entry))
            i[0, before_of(p, node, entry) + NUMBER_OF] = 0
            entry = next_over(i, p, node, state, SESSION, due_ms - latency_ms, slots)
    elif i[0, state + AWAITED] == 0:
        await_next(i, p, frame, state)
    return True


@inner
def room_to_end(i: Ints, p: Ints, node: int, state: int, due_ms: int) -> bool:
    """Whether there is room for all that the end of what is over brings about."""
    rows, sessions = 0, 1
    entry = i[0, state + FIRST_ENTRY]
    while entry != 0:
        now, before = now_of(p, node, entry), before_of(p, node, entry)
        if i[0, now + NUMBER_OF] and i[0, now + END] <= due_ms:
            rows += ring_length(i, now)
            sessions += 1
        rows += ring_length(i, before)
        entry = i[0, entry + AFTER]
    return timer_room(i, sessions) and ring_room_for(i, state + GONE, p[node + SESSION_WORDS], rows)


@inner
def slots_of(i: Ints, p: Ints, node: int, state: int, which: int) -> int:
    """The slots of a hash table of Java that has so many keys as there are sessions of a kind."""
    count = 0
    entry = i[0, state + FIRST_ENTRY]
    while entry != 0:
        count += int(i[0, now_of(p, node, entry) + which + NUMBER_OF] != 0)
        entry = i[0, entry + AFTER]
    return slots_for(count, SLOTS_MIN)


@inner
def next_over(i: Ints, p: Ints, node: int, state: int, which: int, due_ms: int, slots: int) -> int:
    """The entry of the session that is over and comes first: by its end, then in the order of
    Java's hash table, then as they came. 0: none is.
    """
    found, best = 0, 0
    entry = i[0, state + FIRST_ENTRY]
    while entry != 0:
        session = now_of(p, node, entry) + which
        is_over = i[0, session + NUMBER_OF] and i[0, session + END] <= due_ms
        if is_over and (found == 0 or ends_before(i, p, node, entry, session, found, best, slots)):
            found, best = entry, session
        entry = i[0, entry + AFTER]
    return found


@inner
def ends_before(
    i: Ints, p: Ints, node: int, entry: int, session: int, other: int, best: int, slots: int
) -> bool:
    if i[0, session + END] != i[0, best + END]:
        return i[0, session + END] < i[0, best + END]
    if p[node + SESSION_KEYS] == 0:
        return False
    one = slot_of_key(i, p, node, entry, slots)
    two = slot_of_key(i, p, node, other, slots)
    return one < two or (one == two and i[0, session + NUMBER_OF] < i[0, best + NUMBER_OF])


@inner
def slot_of_key(i: Ints, p: Ints, node: int, entry: int, slots: int) -> int:
    """The slot of an entry's key."""
    code = i[0, entry + ENTRY_KEY]
    return hash_place(i, p[node + NO_KEY_TEXT] if code == NULL else code) & (slots - 1)


@inner
def await_next(i: Ints, p: Ints, frame: int, state: int) -> None:
    """Set the timer of the session that ends first, for which there is room.

    Its rows have set none when one was awaited that comes earlier.
    """
    node, end_ms, turn = i[0, frame + NODE], FOREVER, FOREVER
    entry = i[0, state + FIRST_ENTRY]
    while entry != 0:
        now = now_of(p, node, entry)
        is_first = i[0, now + END] < end_ms or (
            i[0, now + END] == end_ms and i[0, now + TURN_OF] < turn
        )
        if i[0, now + NUMBER_OF] and is_first:
            end_ms, turn = i[0, now + END], i[0, now + TURN_OF]
        entry = i[0, entry + AFTER]
    if end_ms < FOREVER:
        i[0, state + AWAITED] = end_ms
        await_time(i, p, frame, end_ms, turn)
