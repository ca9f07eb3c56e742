"""Partial matches and the queues in which they wait.

One may wait in several queues. A queue is a list of links, in order: anything can be taken out or
put in anywhere at O(1).
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.match_words import (
    CHAINS,
    FIRST_MS,
    FRESH,
    HAS_ROW,
    IS_MIXED,
    M_TEMPLATE,
    M_WORDS,
    MARK,
    NEVER,
    NOTHING,
    PENDING,
    REFS,
    S_FIRST,
    S_KEY,
    S_LIMIT_LIST,
    S_LIMITS,
    S_MATCH,
    S_SLOT,
    S_WORDS,
)
from cep.engine.machine.kernels.memory import (
    allocate,
    index_add,
    index_find,
    index_remove,
    index_room,
    release,
)
from cep.engine.machine.kernels.words import CURRENT, KIND, TIME, Ints

# A queue: its first and last link, how many.
FIRST_LINK, LAST_LINK, LINKS = 0, 1, 2
# A link: the one before and behind it, the partial match; the same in the chain of its key, and
# that chain; the turn of its timer.
BEFORE, AFTER, HELD, CHAIN_BEFORE, CHAIN_AFTER, CHAIN_OF, TURN_OF, LINK = 0, 1, 2, 3, 4, 5, 6, 7
# A chain: the key of those that wait together, its first and last link.
CHAIN_KEY, CHAIN_FIRST, CHAIN_LAST, CHAIN = 0, 1, 2, 3


@inline
def hold(i: Ints, partial: int) -> None:
    """Keep a partial match, wherever it is taken from."""
    i[0, partial + REFS] += 1


@inner
def let_go(i: Ints, p: Ints, match: int, partial: int) -> None:
    """It is given back when nothing else holds it."""
    i[0, partial + REFS] -= 1
    if i[0, partial + REFS] == 0:
        release(i, partial + REFS, p[match + M_WORDS] + 1)


@inner
def branch(i: Ints, p: Ints, stage: int, partial: int) -> int:
    """A partial match of its own with the same rows in front of a stage; 0 has none. Held once."""
    match = p[stage + S_MATCH]
    words, empty = p[match + M_WORDS], p[match + M_TEMPLATE]
    made = allocate(i, words + 1) - REFS
    kept = 0 if partial == 0 else p[stage + S_FIRST]
    for word in range(kept):
        i[0, made + word] = i[0, partial + word]
    for word in range(kept, words):
        i[0, made + word] = p[empty + word]
    i[0, made + KIND] = CURRENT
    i[0, made + REFS] = 1
    return made


@inner
def copied_whole(i: Ints, p: Ints, match: int, partial: int) -> int:
    """A copy of a partial match as it is, held once."""
    words = p[match + M_WORDS]
    made = allocate(i, words + 1) - REFS
    for word in range(words):
        i[0, made + word] = i[0, partial + word]
    i[0, made + REFS] = 1
    return made


@inner
def link_in(i: Ints, queue: int, partial: int, after: int) -> None:
    """Have a partial match wait in front of a link; 0: behind all."""
    link = allocate(i, LINK)
    i[0, link + HELD] = partial
    i[0, link + CHAIN_OF] = 0
    put_in(i, queue, link, after)
    hold(i, partial)


@inline
def put_in(i: Ints, queue: int, link: int, after: int) -> None:
    """A link of no queue goes in front of another one; 0: behind all."""
    before = i[0, queue + LAST_LINK] if after == 0 else i[0, after + BEFORE]
    i[0, link + BEFORE] = before
    i[0, link + AFTER] = after
    i[0, (queue + FIRST_LINK) if before == 0 else (before + AFTER)] = link
    i[0, (queue + LAST_LINK) if after == 0 else (after + BEFORE)] = link
    i[0, queue + LINKS] += 1


@inline
def take_from(i: Ints, queue: int, link: int) -> None:
    """A link is in a queue no longer."""
    before, after = i[0, link + BEFORE], i[0, link + AFTER]
    i[0, (queue + FIRST_LINK) if before == 0 else (before + AFTER)] = after
    i[0, (queue + LAST_LINK) if after == 0 else (after + BEFORE)] = before
    i[0, queue + LINKS] -= 1


@inner
def link_out(i: Ints, p: Ints, match: int, queue: int, link: int) -> None:
    """A partial match waits no longer in a queue."""
    take_from(i, queue, link)
    let_go(i, p, match, i[0, link + HELD])
    release(i, link, LINK)


@inner
def emptied(i: Ints, p: Ints, match: int, queue: int) -> None:
    """Nothing waits in a queue any more. O(links)."""
    while i[0, queue + FIRST_LINK] != 0:
        link_out(i, p, match, queue, i[0, queue + FIRST_LINK])


@inner
def link_of(i: Ints, queue: int, partial: int) -> int:
    """The link of a partial match in a queue; 0 where it does not wait there. O(links)."""
    link = i[0, queue + FIRST_LINK]
    while link != 0 and i[0, link + HELD] != partial:
        link = i[0, link + AFTER]
    return link


@inline
def is_older(i: Ints, one: int, other: int) -> bool:
    """The order in which partial matches wait: oldest first, those without a row last."""
    if i[0, one + TIME] == NEVER or i[0, other + TIME] == NEVER:
        return i[0, one + TIME] != NEVER
    return i[0, one + TIME] < i[0, other + TIME]


@inner
def link_by_age(i: Ints, queue: int, partial: int) -> None:
    """Have a partial match wait behind those that are not younger. O(those that are)."""
    after, before = 0, i[0, queue + LAST_LINK]
    while before != 0 and is_older(i, partial, i[0, before + HELD]):
        after, before = before, i[0, before + BEFORE]
    link_in(i, queue, partial, after)


@inner
def in_order(i: Ints, queue: int) -> None:
    """Put those that wait into the order of their age, equal ones as they are. O(links) where they
    are in order."""
    link = i[0, queue + FIRST_LINK]
    while link != 0:
        following, partial = i[0, link + AFTER], i[0, link + HELD]
        after, before = link, i[0, link + BEFORE]
        while before != 0 and is_older(i, partial, i[0, before + HELD]):
            after, before = before, i[0, before + BEFORE]
        if after != link:
            take_from(i, queue, link)
            put_in(i, queue, link, after)
        link = following


@inner
def settle(i: Ints, p: Ints, stage: int, state: int) -> None:
    """What is fresh waits behind what is pending, by age."""
    fresh, pending = state + FRESH, state + PENDING
    in_order(i, fresh)
    while i[0, fresh + FIRST_LINK] != 0:
        link, last = i[0, fresh + FIRST_LINK], i[0, pending + LAST_LINK]
        partial = i[0, link + HELD]
        if last == 0:
            i[0, state + IS_MIXED] = p[stage + S_LIMITS] > 1
        elif is_mixed(i, p, stage, i[0, last + HELD], partial):
            i[0, state + IS_MIXED] = 1
        take_from(i, fresh, link)
        put_in(i, pending, link, 0)
        if p[stage + S_KEY] != 0:
            enchain(i, p, stage, state, link)


@inner
def is_mixed(i: Ints, p: Ints, stage: int, last: int, partial: int) -> bool:
    """Whether one that comes may be too old, or have waited long enough, before the last."""
    if is_older(i, partial, last):
        return True
    if p[stage + S_LIMITS] == 0:
        return False
    slot = p[p[stage + S_LIMIT_LIST] + 1]
    if i[0, partial + slot + MARK] != HAS_ROW or i[0, last + slot + MARK] != HAS_ROW:
        return True
    return i[0, partial + slot + FIRST_MS] < i[0, last + slot + FIRST_MS]


@inner
def enchain(i: Ints, p: Ints, stage: int, state: int, link: int) -> None:
    """A partial match that waits is found by its key from now on; there is room."""
    key, index = i[0, link + HELD] + p[stage + S_KEY], state + CHAINS
    chain = index_find(i, index, key, 1, CHAIN_KEY)
    if chain == 0:
        index_room(i, index, 1, CHAIN_KEY)
        chain = allocate(i, CHAIN)
        i[0, chain + CHAIN_KEY] = i[0, key]
        i[0, chain + CHAIN_FIRST] = i[0, chain + CHAIN_LAST] = 0
        index_add(i, index, chain, 1, CHAIN_KEY)
    before = i[0, chain + CHAIN_LAST]
    i[0, (chain + CHAIN_FIRST) if before == 0 else (before + CHAIN_AFTER)] = link
    i[0, chain + CHAIN_LAST] = link
    i[0, link + CHAIN_BEFORE] = before
    i[0, link + CHAIN_AFTER] = 0
    i[0, link + CHAIN_OF] = chain


@inner
def unchain(i: Ints, state: int, link: int) -> None:
    """It is not found any more; a chain that is empty is given back."""
    chain = i[0, link + CHAIN_OF]
    before, after = i[0, link + CHAIN_BEFORE], i[0, link + CHAIN_AFTER]
    i[0, (chain + CHAIN_FIRST) if before == 0 else (before + CHAIN_AFTER)] = after
    i[0, (chain + CHAIN_LAST) if after == 0 else (after + CHAIN_BEFORE)] = before
    if i[0, chain + CHAIN_FIRST] == 0:
        index_remove(i, state + CHAINS, chain, 1, CHAIN_KEY)
        release(i, chain, CHAIN)


@inner
def take_out(i: Ints, p: Ints, stage: int, state: int, link: int) -> None:
    """A partial match is pending no longer at a stage."""
    if i[0, link + CHAIN_OF] != 0:
        unchain(i, state, link)
    link_out(i, p, p[stage + S_MATCH], state + PENDING, link)


@inner
def is_empty(i: Ints, p: Ints, stage_list: int, stages: int, partial: int) -> bool:
    """Whether no row has been found yet."""
    for number in range(stages):
        slot = partial + p[p[stage_list + number] + S_SLOT]
        if i[0, slot + MARK] == HAS_ROW:
            return False
    return True


@inner
def cleared_slot(i: Ints, p: Ints, stage: int, partial: int) -> None:
    """Nothing is in the slot of a stage."""
    slot, empty = p[stage + S_SLOT], p[p[stage + S_MATCH] + M_TEMPLATE]
    for word in range(slot, slot + p[stage + S_WORDS]):
        i[0, partial + word] = p[empty + word]
    i[0, partial + slot + MARK] = NOTHING


@inner
def is_over_in(i: Ints, p: Ints, stage: int, partial: int, below: int, now_ms: int) -> bool:
    """Whether a partial match is too old at a stage, by its slots below a word."""
    for number in range(p[stage + S_LIMITS]):
        limit = p[stage + S_LIMIT_LIST] + 2 * number
        slot = p[limit + 1]
        if slot >= below or i[0, partial + slot + MARK] != HAS_ROW:
            continue
        first_ms = i[0, partial + slot + FIRST_MS]
        if first_ms != NULL and now_ms - first_ms > i[0, p[limit]]:
            return True
    return False


@inner
def over_at(i: Ints, p: Ints, stage: int, partial: int) -> int:
    """The first time at which a partial match is too old at a stage; NULL before its first row."""
    found = NULL
    for number in range(p[stage + S_LIMITS]):
        limit = p[stage + S_LIMIT_LIST] + 2 * number
        slot = partial + p[limit + 1]
        if i[0, slot + MARK] == HAS_ROW and i[0, slot + FIRST_MS] != NULL:
            over_ms = i[0, slot + FIRST_MS] + i[0, p[limit]] + 1
            found = over_ms if found == NULL else min(found, over_ms)
    return found


@inline
def is_over(i: Ints, p: Ints, stage: int, partial: int, now_ms: int) -> bool:
    """Whether a partial match is too old at a stage."""
    return is_over_in(i, p, stage, partial, p[p[stage + S_MATCH] + M_WORDS], now_ms)
