"""Partial matches and the queues in which they wait.

One may wait in several queues. A queue is a list of links, in order: anything can be taken out or
put in anywhere at O(1).
"""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.match_words import (
    FIRST_MS,
    HAS_ROW,
    M_TEMPLATE,
    M_WORDS,
    MARK,
    NEVER,
    NOTHING,
    REFS,
    S_FIRST,
    S_LIMIT_LIST,
    S_LIMITS,
    S_MATCH,
    S_SLOT,
    S_WORDS,
)
from cep.engine.machine.kernels.memory import allocate, release
from cep.engine.machine.kernels.words import CURRENT, KIND, TIME, Ints

# A queue: its first and last link, how many.
FIRST_LINK, LAST_LINK, LINKS = 0, 1, 2
# A link: the one before and behind it, the partial match.
BEFORE, AFTER, HELD, LINK = 0, 1, 2, 4


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
def link_in(i: Ints, queue: int, partial: int, after: int) -> None:
    """Have a partial match wait in front of a link; 0: behind all."""
    link = allocate(i, LINK)
    before = i[0, queue + LAST_LINK] if after == 0 else i[0, after + BEFORE]
    i[0, link + BEFORE] = before
    i[0, link + AFTER] = after
    i[0, link + HELD] = partial
    i[0, (queue + FIRST_LINK) if before == 0 else (before + AFTER)] = link
    i[0, (queue + LAST_LINK) if after == 0 else (after + BEFORE)] = link
    i[0, queue + LINKS] += 1
    hold(i, partial)


@inner
def link_out(i: Ints, p: Ints, match: int, queue: int, link: int) -> None:
    """A partial match waits no longer in a queue."""
    before, after = i[0, link + BEFORE], i[0, link + AFTER]
    i[0, (queue + FIRST_LINK) if before == 0 else (before + AFTER)] = after
    i[0, (queue + LAST_LINK) if after == 0 else (after + BEFORE)] = before
    i[0, queue + LINKS] -= 1
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
def moved_by_age(i: Ints, p: Ints, match: int, source: int, target: int) -> None:
    """All of one queue, by age, wait behind those of another. O(links) where they are in order."""
    last = i[0, target + LAST_LINK]
    while i[0, source + FIRST_LINK] != 0:
        link = i[0, source + FIRST_LINK]
        partial = i[0, link + HELD]
        after, before = 0, i[0, target + LAST_LINK]
        while before != last and is_older(i, partial, i[0, before + HELD]):
            after, before = before, i[0, before + BEFORE]
        link_in(i, target, partial, after)
        link_out(i, p, match, source, link)


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


@inline
def is_over(i: Ints, p: Ints, stage: int, partial: int, now_ms: int) -> bool:
    """Whether a partial match is too old at a stage."""
    return is_over_in(i, p, stage, partial, p[p[stage + S_MATCH] + M_WORDS], now_ms)


