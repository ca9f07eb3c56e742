"""The event queue of one engine: expiry, repetition, opposites, entry.

Entries have absolute positions in order of arrival; alive entries of the same number are chained,
so that everything the binder asks costs the candidates, not the queue.
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
    DEF_CHAIN,
    DEF_CLOCK,
    DEF_DROPPED,
    DEF_ENGINE,
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
    NUMBER_HELD,
    NUMBER_NEWEST,
    NUMBER_OLDEST,
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
    record = definition(s, s.qe[at, ENTRY_DEF])
    s.ki[s.qe[at, ENTRY_KEY], s.bt[record + DEF_CHAIN] + NUMBER_HELD] -= 1
    relink(s, home, row, q, at, s.bt[record + DEF_CHAIN] + NUMBER_OLDEST, ENTRY_PREVIOUS, 0)
    chain = s.bt[s.bt[record + DEF_ENGINE] + ENGINE_CHAIN]
    if chain >= 0:
        relink(s, home, row, q, at, chain + CHAIN_OLDEST, ENTRY_OLDER, 0)
    node = s.qe[at, ENTRY_BINDS]
    while node != 0:
        following = s.qb[node - 1, 1]
        s.qb[node - 1, 1] = s.gi[0, BIND_FREE]
        s.gi[0, BIND_FREE] = node
        node = following
    s.qe[at, ENTRY_BINDS] = 0


@inline
def older_link(s: State, at: int, ends: int, links: int) -> int:
    """The link of an entry to the one before it in a chain; 0 where that has left: links grow with
    the positions, and no entry of the chain stands before its oldest.
    """
    older = s.qe[at, links]
    return older if older >= s.ki[s.qe[at, ENTRY_KEY], ends] else 0


@inner
def relink(
    s: State, home: Ints, row: int, q: int, at: int, ends: int, links: int, link: int
) -> None:
    """The neighbours of an entry in a chain link to it as `link`; 0: to each other, it leaves.

    `ends` are the columns in ki of the oldest and the newest, `links` those of the entry. When the
    oldest leaves, as all do that expire, the one behind it is not touched: it lies anywhere in a
    long queue, and nothing else would bring it into the cache. See `older_link`.
    """
    k, older, newer = s.qe[at, ENTRY_KEY], older_link(s, at, ends, links), s.qe[at, links + 1]
    if older:
        s.qe[place(home, row, q, older - 1), links + 1] = link if link else newer
    else:
        s.ki[k, ends] = link if link else newer
        s.qe[at, links] = 0  # positions may become smaller (`close_gaps`)
    if newer:
        if link or older:
            s.qe[place(home, row, q, newer - 1), links] = link if link else older
    else:
        s.ki[k, ends + 1] = link if link else older


@inline
def append(s: State, home: Ints, row: int, q: int, position: int, ends: int, links: int) -> None:
    """The entry at a position becomes the newest of a chain."""
    at = place(home, row, q, position)
    s.qe[at, links], s.qe[at, links + 1] = s.ki[s.qe[at, ENTRY_KEY], ends + 1], 0
    relink(s, home, row, q, at, ends, links, position + 1)


@inner
def enchain(s: State, engine: int, home: Ints, row: int, q: int, k: int, position: int) -> None:
    """The entry at a position becomes the newest of its key."""
    chain, at = s.bt[engine + ENGINE_CHAIN], place(home, row, q, position)
    before = s.ki[k, chain + CHAIN_NEWEST]
    if before == 0:
        s.ki[k, chain + CHAIN_UNSORTED] = 0
    elif s.qe[place(home, row, q, before - 1), ENTRY_TIME] > s.qe[at, ENTRY_TIME]:
        s.ki[k, chain + CHAIN_UNSORTED] = 1
    append(s, home, row, q, position, chain + CHAIN_OLDEST, ENTRY_OLDER)


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
def latest(s: State, d: int, k: int) -> int:
    """Position of the newest entry of (definition, key); -1 when there is none."""
    return s.ki[k, s.bt[definition(s, d) + DEF_CHAIN] + NUMBER_NEWEST] - 1


@inline
def previous(s: State, at: int) -> int:
    """Position of the entry of the same number before this one; -1 when there is none."""
    chain = s.bt[definition(s, s.qe[at, ENTRY_DEF]) + DEF_CHAIN]
    return older_link(s, at, chain + NUMBER_OLDEST, ENTRY_PREVIOUS) - 1


@inner
def remove_number(s: State, home: Ints, row: int, q: int, d: int, k: int) -> int:
    """All entries of (definition, key) leave; how many they were."""
    removed = 0
    position = latest(s, d, k)
    while position >= 0:
        at = place(home, row, q, position)
        take_out(s, home, row, q, at)
        removed += 1
        position = latest(s, d, k)
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
    if s.bt[engine + ENGINE_CHAIN] < 0:
        expire(s, engine, home, row, q, clock)
    else:
        expire_key(s, engine, home, row, q, k, clock)
    repeat = s.bt[record + DEF_REPEAT]
    if repeat == REJECT and latest(s, d, k) >= 0:
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
    chain = s.bt[record + DEF_CHAIN]
    if s.ki[k, chain + NUMBER_HELD] >= s.bt[engine + ENGINE_MAX]:
        drop_oldest(s, home, row, q, record, k)
    widen(s, home, row, q)
    position = home[row, q + QUEUE_TAIL]
    if home[row, q + QUEUE_ALIVE] == 0:
        home[row, q + QUEUE_HEAD] = position
        home[row, q + QUEUE_UNSORTED] = 0
    elif t < newest_time(s, home, row, q):
        home[row, q + QUEUE_UNSORTED] = 1
    entered = s.bt[engine + ENGINE_ENTERED]
    s.gi[0, entered] += 1
    at = place(home, row, q, position)
    s.qe[at, ENTRY_TIME] = t
    s.qe[at, ENTRY_DEF] = d
    s.qe[at, ENTRY_KEY] = k
    s.qe[at, ENTRY_SEQ] = s.gi[0, entered]
    s.qe[at, ENTRY_ALIVE] = 1
    s.qe[at, ENTRY_BINDS] = 0
    for word in range(ENTRY_BITS, s.qe.shape[1]):
        s.qe[at, word] = 0
    home[row, q + QUEUE_TAIL] = position + 1
    home[row, q + QUEUE_ALIVE] += 1
    s.ki[k, chain + NUMBER_HELD] += 1
    append(s, home, row, q, position, chain + NUMBER_OLDEST, ENTRY_PREVIOUS)
    if s.bt[engine + ENGINE_CHAIN] >= 0:
        enchain(s, engine, home, row, q, k, position)
    return position


@inner
def drop_oldest(s: State, home: Ints, row: int, q: int, record: int, k: int) -> None:
    """Of a number of which the queue holds as many as it may, the oldest leaves, and is counted."""
    oldest = s.ki[k, s.bt[record + DEF_CHAIN] + NUMBER_OLDEST] - 1
    s.gi[0, s.bt[record + DEF_DROPPED] + DROPPED_BOUND] += 1
    take_out(s, home, row, q, place(home, row, q, oldest))


@inner
def widen(s: State, home: Ints, row: int, q: int) -> None:
    """Room for one more entry: a full queue closes its gaps or moves to a block twice as large."""
    room = home[row, q + QUEUE_ROOM]
    head = home[row, q + QUEUE_HEAD]
    tail = home[row, q + QUEUE_TAIL]
    if tail - head < room:
        return
    if 0 < 2 * home[row, q + QUEUE_ALIVE] <= room:
        close_gaps(s, home, row, q)
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


@inner
def close_gaps(s: State, home: Ints, row: int, q: int) -> None:
    """Alive entries move up to where others have left; at least half of the block is free then."""
    fill = home[row, q + QUEUE_HEAD]
    for position in range(fill, home[row, q + QUEUE_TAIL]):
        old = place(home, row, q, position)
        if not s.qe[old, ENTRY_ALIVE]:
            continue
        at = place(home, row, q, fill)
        for c in range(s.qe.shape[1]):
            s.qe[at, c] = s.qe[old, c]
        record = definition(s, s.qe[at, ENTRY_DEF])
        engine, chain = s.bt[record + DEF_ENGINE], s.bt[record + DEF_CHAIN]
        fill += 1
        relink(s, home, row, q, at, chain + NUMBER_OLDEST, ENTRY_PREVIOUS, fill)
        chain = s.bt[engine + ENGINE_CHAIN]
        if chain >= 0:
            relink(s, home, row, q, at, chain + CHAIN_OLDEST, ENTRY_OLDER, fill)
    home[row, q + QUEUE_TAIL] = fill


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
