"""The event queue of one engine: expiry, repetition, opposites, entry.

Entries have absolute positions in order of arrival; entries of the same number are chained from
the newest to the oldest, so that everything the binder asks costs the candidates, not the queue.
"""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.state import (
    BIND_FREE,
    BIND_TOP,
    CLOCK,
    ENTRY_LARGEST,
    ENTRY_TOP,
    Ints,
    State,
)
from cep.engine.kernels.tables import (
    ALLOW,
    CHAIN_NEWEST,
    CHAIN_OLDEST,
    CHAIN_UNSORTED,
    DEF_CLOCK,
    DEF_DROPPED,
    DEF_ENGINE,
    DEF_LAST,
    DEF_OPPOSITES,
    DEF_OPPOSITES_N,
    DEF_REPEAT,
    DEF_SIZE,
    DEFINITIONS,
    DROPPED_BOUND,
    DROPPED_LATE,
    DROPPED_OPPOSITE,
    DROPPED_REPEAT,
    ENGINE_ACCEPT,
    ENGINE_CHAIN,
    ENGINE_ENTERED,
    ENGINE_KEYED,
    ENGINE_MAX,
    ENGINE_QUEUE,
    ENGINE_SPAN,
    ENGINE_VALIDATE,
    ENTRY_ALIVE,
    ENTRY_BINDS,
    ENTRY_BINDS_LAST,
    ENTRY_BITS,
    ENTRY_DEF,
    ENTRY_KEY,
    ENTRY_NEWER,
    ENTRY_OLDER,
    ENTRY_PREVIOUS,
    ENTRY_SEQ,
    ENTRY_TIME,
    QUEUE_ALIVE,
    QUEUE_BASE,
    QUEUE_HEAD,
    QUEUE_ROOM,
    QUEUE_TAIL,
    QUEUE_UNSORTED,
    REJECT,
)


@inline
def definition(s: State, d: int) -> int:
    """Offset of a definition's record."""
    return s.bt[DEFINITIONS] + d * DEF_SIZE


@inline
def queue_row(s: State, engine: int, k: int) -> int:
    return k if s.bt[engine + ENGINE_KEYED] else 0


@inline
def place(home: Ints, row: int, q: int, position: int) -> int:
    """Where in `qe` the entry at an absolute position lies."""
    return home[row, q + QUEUE_BASE] + (position & (home[row, q + QUEUE_ROOM] - 1))


@inline
def take_out(s: State, home: Ints, row: int, q: int, at: int) -> None:
    """An alive entry leaves the queue; its bind list is given back."""
    s.qe[at, ENTRY_ALIVE] = 0
    home[row, q + QUEUE_ALIVE] -= 1
    engine = s.bt[definition(s, s.qe[at, ENTRY_DEF]) + DEF_ENGINE]
    if not s.bt[engine + ENGINE_KEYED]:
        unchain(s, engine, home, row, q, at)
    node = s.qe[at, ENTRY_BINDS]
    while node != 0:
        following = s.qb[node - 1, 1]
        s.qb[node - 1, 1] = s.gi[0, BIND_FREE]
        s.gi[0, BIND_FREE] = node
        node = following
    s.qe[at, ENTRY_BINDS] = 0


@inner
def unchain(s: State, engine: int, home: Ints, row: int, q: int, at: int) -> None:
    """An entry leaves the chain of its key."""
    k, chain = s.qe[at, ENTRY_KEY], s.bt[engine + ENGINE_CHAIN]
    older, newer = s.qe[at, ENTRY_OLDER], s.qe[at, ENTRY_NEWER]
    if older:
        s.qe[place(home, row, q, older - 1), ENTRY_NEWER] = newer
    else:
        s.ki[k, chain + CHAIN_OLDEST] = newer
    if newer:
        s.qe[place(home, row, q, newer - 1), ENTRY_OLDER] = older
    else:
        s.ki[k, chain + CHAIN_NEWEST] = older


@inner
def enchain(s: State, engine: int, home: Ints, row: int, q: int, k: int, position: int) -> None:
    """The entry at a position becomes the newest of its key."""
    chain, at = s.bt[engine + ENGINE_CHAIN], place(home, row, q, position)
    before = s.ki[k, chain + CHAIN_NEWEST]
    s.qe[at, ENTRY_OLDER], s.qe[at, ENTRY_NEWER] = before, 0
    s.ki[k, chain + CHAIN_NEWEST] = position + 1
    if before == 0:
        s.ki[k, chain + CHAIN_OLDEST] = position + 1
        s.ki[k, chain + CHAIN_UNSORTED] = 0
        return
    newest = place(home, row, q, before - 1)
    s.qe[newest, ENTRY_NEWER] = position + 1
    if s.qe[newest, ENTRY_TIME] > s.qe[at, ENTRY_TIME]:
        s.ki[k, chain + CHAIN_UNSORTED] = 1


@inner
def expire_key(s: State, engine: int, home: Ints, row: int, q: int, k: int, clock: int) -> None:
    """In a queue of all keys, entries of one key older than the span leave, as in `expire`."""
    chain = s.bt[engine + ENGINE_CHAIN]
    oldest = clock - s.bt[engine + ENGINE_SPAN]
    position = s.ki[k, chain + CHAIN_OLDEST] - 1
    while position >= 0:
        at = place(home, row, q, position)
        position = s.qe[at, ENTRY_NEWER] - 1
        if s.qe[at, ENTRY_TIME] < oldest:
            take_out(s, home, row, q, at)
        elif not s.ki[k, chain + CHAIN_UNSORTED]:
            break
    head, tail = home[row, q + QUEUE_HEAD], home[row, q + QUEUE_TAIL]
    while head < tail and not s.qe[place(home, row, q, head), ENTRY_ALIVE]:
        head += 1
    home[row, q + QUEUE_HEAD] = head


@inline
def expire(s: State, engine: int, home: Ints, row: int, q: int, clock: int) -> None:
    """Entries older than the span leave (rule 3); an entry exactly that old stays."""
    oldest = clock - s.bt[engine + ENGINE_SPAN]
    head = home[row, q + QUEUE_HEAD]
    tail = home[row, q + QUEUE_TAIL]
    while head < tail:
        at = place(home, row, q, head)
        if s.qe[at, ENTRY_ALIVE]:
            if s.qe[at, ENTRY_TIME] >= oldest:
                break
            take_out(s, home, row, q, at)
        head += 1
    home[row, q + QUEUE_HEAD] = head
    if home[row, q + QUEUE_UNSORTED]:
        for position in range(head, tail):
            at = place(home, row, q, position)
            if s.qe[at, ENTRY_ALIVE] and s.qe[at, ENTRY_TIME] < oldest:
                take_out(s, home, row, q, at)


@inline
def newest_time(s: State, home: Ints, row: int, q: int) -> int:
    """Time of the newest queued event; the smallest int when the queue is empty."""
    newest = -(2**63)
    position = home[row, q + QUEUE_TAIL] - 1
    while position >= home[row, q + QUEUE_HEAD]:
        at = place(home, row, q, position)
        if s.qe[at, ENTRY_ALIVE]:
            newest = max(newest, s.qe[at, ENTRY_TIME])
            if not home[row, q + QUEUE_UNSORTED]:
                break
        position -= 1
    return newest


@inline
def latest(s: State, home: Ints, row: int, q: int, d: int, k: int) -> int:
    """Position of the newest alive entry of (definition, key); -1 when there is none."""
    position = s.ki[k, s.bt[definition(s, d) + DEF_LAST]] - 1
    return alive_from(s, home, row, q, position)


@inline
def alive_from(s: State, home: Ints, row: int, q: int, position: int) -> int:
    """The first alive entry from here along the chain of its number."""
    while position >= home[row, q + QUEUE_HEAD]:
        at = place(home, row, q, position)
        if s.qe[at, ENTRY_ALIVE]:
            return position
        position = s.qe[at, ENTRY_PREVIOUS] - 1
    return -1


@inner
def remove_number(s: State, home: Ints, row: int, q: int, d: int, k: int) -> int:
    """All entries of (definition, key) leave; how many they were."""
    removed = 0
    position = latest(s, home, row, q, d, k)
    while position >= 0:
        at = place(home, row, q, position)
        take_out(s, home, row, q, at)
        removed += 1
        position = alive_from(s, home, row, q, s.qe[at, ENTRY_PREVIOUS] - 1)
    s.ki[k, s.bt[definition(s, d) + DEF_LAST]] = 0
    return removed


@inline
def admit(s: State, d: int, k: int, t: int) -> bool:
    """Expiry, lateness, repetition, opposites (rules 2 to 5); false when the event is dropped.

    Late is what follows from a late record, whatever stands in the queue.
    """
    record = definition(s, d)
    engine = s.bt[record + DEF_ENGINE]
    home = s.ki if s.bt[engine + ENGINE_KEYED] else s.gi
    row = queue_row(s, engine, k)
    q = s.bt[engine + ENGINE_QUEUE]
    dropped = s.bt[record + DEF_DROPPED]
    clock = max(t, abs(s.gi[0, s.bt[record + DEF_CLOCK]]))
    if s.bt[engine + ENGINE_KEYED]:
        expire(s, engine, home, row, q, clock)
    else:
        expire_key(s, engine, home, row, q, k, clock)
    repeat = s.bt[record + DEF_REPEAT]
    if repeat == REJECT and latest(s, home, row, q, d, k) >= 0:
        s.gi[0, dropped + DROPPED_REPEAT] += 1
        return False
    if s.gi[0, CLOCK] < 0 and not s.bt[engine + ENGINE_ACCEPT]:
        s.gi[0, dropped + DROPPED_LATE] += 1
        return False
    if repeat != ALLOW and repeat != REJECT:
        remove_number(s, home, row, q, d, k)
    if not s.bt[engine + ENGINE_VALIDATE]:
        start = s.bt[record + DEF_OPPOSITES]
        for at in range(start, start + s.bt[record + DEF_OPPOSITES_N]):
            removed = remove_number(s, home, row, q, s.bt[at], k)
            if removed:
                opposed = s.bt[definition(s, s.bt[at]) + DEF_DROPPED]
                s.gi[0, opposed + DROPPED_OPPOSITE] += removed
    return True


@inline
def enter(s: State, d: int, k: int, t: int) -> int:
    """The event enters at the tail (rule 5); its position."""
    record = definition(s, d)
    engine = s.bt[record + DEF_ENGINE]
    home = s.ki if s.bt[engine + ENGINE_KEYED] else s.gi
    row = queue_row(s, engine, k)
    q = s.bt[engine + ENGINE_QUEUE]
    if home[row, q + QUEUE_ALIVE] >= s.bt[engine + ENGINE_MAX]:
        drop_oldest(s, home, row, q)
    widen(s, home, row, q)
    position = home[row, q + QUEUE_TAIL]
    if home[row, q + QUEUE_ALIVE] == 0:
        home[row, q + QUEUE_HEAD] = position
        home[row, q + QUEUE_UNSORTED] = 0
    elif t < newest_time(s, home, row, q):
        home[row, q + QUEUE_UNSORTED] = 1
    last = s.bt[record + DEF_LAST]
    entered = s.bt[engine + ENGINE_ENTERED]
    s.gi[0, entered] += 1
    at = place(home, row, q, position)
    s.qe[at, ENTRY_TIME] = t
    s.qe[at, ENTRY_DEF] = d
    s.qe[at, ENTRY_KEY] = k
    s.qe[at, ENTRY_SEQ] = s.gi[0, entered]
    s.qe[at, ENTRY_PREVIOUS] = s.ki[k, last]
    s.qe[at, ENTRY_ALIVE] = 1
    s.qe[at, ENTRY_BINDS] = 0
    for word in range(ENTRY_BITS, s.qe.shape[1]):
        s.qe[at, word] = 0
    s.ki[k, last] = position + 1
    home[row, q + QUEUE_TAIL] = position + 1
    home[row, q + QUEUE_ALIVE] += 1
    if not s.bt[engine + ENGINE_KEYED]:
        enchain(s, engine, home, row, q, k, position)
    return position


@inner
def drop_oldest(s: State, home: Ints, row: int, q: int) -> None:
    """The oldest queued event leaves an over-full queue, and is counted."""
    head = home[row, q + QUEUE_HEAD]
    while not s.qe[place(home, row, q, head), ENTRY_ALIVE]:
        head += 1
    at = place(home, row, q, head)
    dropped = s.bt[definition(s, s.qe[at, ENTRY_DEF]) + DEF_DROPPED]
    s.gi[0, dropped + DROPPED_BOUND] += 1
    take_out(s, home, row, q, at)
    home[row, q + QUEUE_HEAD] = head + 1


@inner
def widen(s: State, home: Ints, row: int, q: int) -> None:
    """Room for one more entry: a full queue moves to a block twice as large."""
    room = home[row, q + QUEUE_ROOM]
    head = home[row, q + QUEUE_HEAD]
    tail = home[row, q + QUEUE_TAIL]
    if tail - head < room:
        return
    wider = 16 if room == 0 else 2 * room
    base = home[row, q + QUEUE_BASE]
    top = s.gi[0, ENTRY_TOP]
    for position in range(head, tail):
        for c in range(s.qe.shape[1]):
            s.qe[top + (position & (wider - 1)), c] = s.qe[base + (position & (room - 1)), c]
    home[row, q + QUEUE_BASE] = top
    home[row, q + QUEUE_ROOM] = wider
    s.gi[0, ENTRY_TOP] = top + wider
    s.gi[0, ENTRY_LARGEST] = max(s.gi[0, ENTRY_LARGEST], wider)


@inline
def bind(s: State, at: int, number: int) -> None:
    """Append a complex event's number to an entry's bind list (rule 12)."""
    node = s.gi[0, BIND_FREE]
    if node:
        s.gi[0, BIND_FREE] = s.qb[node - 1, 1]
    else:
        s.gi[0, BIND_TOP] += 1
        node = s.gi[0, BIND_TOP]
    s.qb[node - 1, 0] = number
    s.qb[node - 1, 1] = 0
    if s.qe[at, ENTRY_BINDS] == 0:
        s.qe[at, ENTRY_BINDS] = node
    else:
        s.qb[s.qe[at, ENTRY_BINDS_LAST] - 1, 1] = node
    s.qe[at, ENTRY_BINDS_LAST] = node


@inner
def is_listed(s: State, at: int, number: int) -> bool:
    """Whether a complex event's number is in an entry's bind list."""
    node = s.qe[at, ENTRY_BINDS]
    while node != 0:
        if s.qb[node - 1, 0] == number:
            return True
        node = s.qb[node - 1, 1]
    return False
