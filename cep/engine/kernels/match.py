"""Matching one complex event backward from the event that has just arrived (rules 6 to 11).

A pattern without its arrangements: the set of leaves still needed (a mask). Going backward, a leaf
may be taken when no leaf that must come after it is still needed; taking it drops the branches of
`or` that were not chosen. The search is depth first over queue positions, newest first, so the
first completion is the match with the latest positions, and the shortest among equal beginnings.
When several leaves of one number could take the same event, all choices are followed together: a
level of the search is a position and a small set of candidates (mask, pending `[not ..]` places).
What was needed once and found in vain with a bound is not searched again with a smaller one
(`mm`), so sequences cost the sum of their candidates, not the product.
"""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.queue import definition, is_listed, latest, place, previous
from cep.engine.kernels.state import EPOCH, Ints, State
from cep.engine.kernels.tables import (
    ABSENT_N,
    ABSENT_REFS,
    ABSENT_SIZE,
    DEF_ENGINE,
    DEF_OPPOSITES,
    DEF_OPPOSITES_N,
    ENGINE_VALIDATE,
    ENTRY_BITS,
    ENTRY_DEF,
    ENTRY_KEY,
    ENTRY_TIME,
    LEAF_AFTER,
    LEAF_BIT,
    LEAF_DEF,
    LEAF_DROPS,
    LEAF_ENDS_ABSENT,
    LEAF_KEY,
    LEAF_SIZE,
    LEAF_STARTS_ABSENT,
    LEAF_WORD,
    OWN,
    QUEUE_UNSORTED,
    REF_SIZE,
    RULE_ABSENT,
    RULE_ABSENT_N,
    RULE_ALL,
    RULE_FORBID,
    RULE_FORBID_N,
    RULE_LEAVES,
    RULE_LEAVES_N,
    RULE_SIMPLE,
    RULE_WITHIN,
)

POSITION = 0
CANDIDATES = 1
BOUND = 2
ENTERED = 3
NEWEST = 4
OLDEST = 5
MATCH_COLUMNS = 6
"""Columns of the scratch `mp`, by depth; NEWEST and OLDEST are times of the events taken so far."""


@inline
def leaf_key(s: State, leaf: int, own: int) -> int:
    """Key row a leaf or reference stands for in the instance of key row `own`."""
    return own if s.bt[leaf] == OWN else s.bt[leaf]


@inner
def latest_forbidden(
    s: State, home: Ints, row: int, q: int, refs: int, n: int, own: int, below: int
) -> int:
    """Position of the newest entry, under `below`, of any event in a list; -1 when none."""
    found = -1
    for ref in range(refs, refs + n * REF_SIZE, REF_SIZE):
        position = latest(s, s.bt[ref], leaf_key(s, ref + 1, own))
        while position >= below:
            at = place(home, row, q, position)
            position = previous(s, at)
        found = max(found, position)
    return found


@inner
def is_valid(s: State, home: Ints, row: int, q: int, position: int, at: int) -> bool:
    """Rule 4 under `validate`: no opposite of this entry stands later in the queue."""
    record = definition(s, s.qe[at, ENTRY_DEF])
    start = s.bt[record + DEF_OPPOSITES]
    for other in range(start, start + s.bt[record + DEF_OPPOSITES_N]):
        if latest(s, s.bt[other], s.qe[at, ENTRY_KEY]) > position:
            return False
    return True


@inline
def candidate(
    s: State,
    home: Ints,
    row: int,
    q: int,
    leaf: int,
    own: int,
    number: int,
    bound: int,
    lowest: int,
    since: int,
    until: int,
    validate: bool,
) -> int:
    """Newest entry for a leaf in [lowest, bound) that is not bound and valid; -1: none.

    Its time is in [since, until]; in a queue that is in the order of time nothing lies behind.
    """
    d = s.bt[leaf + LEAF_DEF]
    k = leaf_key(s, leaf + LEAF_KEY, own)
    word = ENTRY_BITS + s.bt[leaf + LEAF_WORD]
    bit = s.bt[leaf + LEAF_BIT]
    position = latest(s, d, k)
    if position >= bound:
        at = place(home, row, q, bound)
        if s.qe[at, ENTRY_DEF] == d and s.qe[at, ENTRY_KEY] == k:
            position = previous(s, at)
    while position >= lowest:
        at = place(home, row, q, position)
        t = s.qe[at, ENTRY_TIME]
        if t < since and not home[row, q + QUEUE_UNSORTED]:
            return -1
        if position < bound and since <= t <= until:
            taken = s.qe[at, word] & bit if bit else is_listed(s, at, number)
            if not taken and (not validate or is_valid(s, home, row, q, position, at)):
                return position
        position = previous(s, at)
    return -1


@inline
def pending_floor(
    s: State, home: Ints, row: int, q: int, rule: int, leaf: int, own: int, depth: int, c: int
) -> int:
    """Lowest position a leaf may take when it ends the left side of pending `[not ..]` parts."""
    ends = s.bt[leaf + LEAF_ENDS_ABSENT]
    floor = 0
    j = 0
    while ends >> j != 0:
        place_at = s.me[depth, c, 1 + j]
        if (ends >> j) & 1 and place_at >= 0:
            record = s.bt[rule + RULE_ABSENT] + j * ABSENT_SIZE
            refs = s.bt[record + ABSENT_REFS]
            hit = latest_forbidden(s, home, row, q, refs, s.bt[record + ABSENT_N], own, place_at)
            floor = max(floor, hit)
        j += 1
    return floor


@inline
def add_candidate(s: State, rule: int, leaf: int, bit: int, depth: int, c: int, p: int) -> int:
    """Candidate `c` of the level above takes `leaf` at position p; the new mask."""
    absent = s.bt[rule + RULE_ABSENT_N]
    mask = s.me[depth - 1, c, 0] & ~(bit | s.bt[leaf + LEAF_DROPS])
    n = s.mp[depth, CANDIDATES]
    s.me[depth, n, 0] = mask
    for j in range(absent):
        place_at = s.me[depth - 1, c, 1 + j]
        if (s.bt[leaf + LEAF_ENDS_ABSENT] >> j) & 1:
            place_at = -1
        if (s.bt[leaf + LEAF_STARTS_ABSENT] >> j) & 1:
            place_at = p
        s.me[depth, n, 1 + j] = place_at
    for other in range(n):
        same = True
        for j in range(absent + 1):
            same = same and s.me[depth, other, j] == s.me[depth, n, j]
        if same:
            return mask
    s.mp[depth, CANDIDATES] = n + 1
    return mask


@inline
def best_position(
    s: State,
    home: Ints,
    row: int,
    q: int,
    rule: int,
    own: int,
    number: int,
    depth: int,
    lowest: int,
    within: int,
    validate: bool,
) -> int:
    """Newest position under the level's bound that any candidate of the level above can take."""
    best = -1
    bound = s.mp[depth, BOUND]
    since = s.mp[depth - 1, NEWEST] - within
    until = s.mp[depth - 1, OLDEST] + within
    leaves = s.bt[rule + RULE_LEAVES]
    for c in range(s.mp[depth - 1, CANDIDATES]):
        mask = s.me[depth - 1, c, 0]
        bit = 1
        for leaf in range(leaves, leaves + s.bt[rule + RULE_LEAVES_N] * LEAF_SIZE, LEAF_SIZE):
            if mask & bit and not s.bt[leaf + LEAF_AFTER] & mask:
                floor = max(lowest, best + 1)
                if s.bt[leaf + LEAF_ENDS_ABSENT]:
                    above = pending_floor(s, home, row, q, rule, leaf, own, depth - 1, c)
                    floor = max(floor, above)
                found = candidate(
                    s, home, row, q, leaf, own, number, bound, floor, since, until, validate
                )
                best = max(best, found)
            bit <<= 1
    return best


@inline
def take_position(
    s: State, home: Ints, row: int, q: int, rule: int, own: int, depth: int, p: int
) -> bool:
    """Build the candidates of a level whose event is at position p; true when one is complete."""
    at = place(home, row, q, p)
    complete = False
    s.mp[depth, POSITION] = p
    s.mp[depth, CANDIDATES] = 0
    s.mp[depth, NEWEST] = max(s.mp[depth - 1, NEWEST], s.qe[at, ENTRY_TIME])
    s.mp[depth, OLDEST] = min(s.mp[depth - 1, OLDEST], s.qe[at, ENTRY_TIME])
    leaves = s.bt[rule + RULE_LEAVES]
    for c in range(s.mp[depth - 1, CANDIDATES]):
        mask = s.me[depth - 1, c, 0]
        bit = 1
        for leaf in range(leaves, leaves + s.bt[rule + RULE_LEAVES_N] * LEAF_SIZE, LEAF_SIZE):
            if (
                mask & bit
                and not s.bt[leaf + LEAF_AFTER] & mask
                and s.bt[leaf + LEAF_DEF] == s.qe[at, ENTRY_DEF]
                and leaf_key(s, leaf + LEAF_KEY, own) == s.qe[at, ENTRY_KEY]
                and pending_floor(s, home, row, q, rule, leaf, own, depth - 1, c) <= p
            ):
                rest = add_candidate(s, rule, leaf, bit, depth, c, p)
                complete = complete or rest == 0
            bit <<= 1
    return complete


@inline
def failed_bucket(s: State, mask: int) -> int:
    return ((mask ^ (mask >> 17)) * 40503 >> 4) & (len(s.mm) - 1)


@inline
def has_failed(s: State, depth: int) -> bool:
    """Whether this level's residual is known to fail with a bound at least as high."""
    mask = s.me[depth - 1, 0, 0]
    bucket = failed_bucket(s, mask)
    return (
        s.mm[bucket, 0] == mask
        and s.mm[bucket, 1] == s.gi[0, EPOCH]
        and s.mm[bucket, 2] >= s.mp[depth, BOUND]
    )


@inline
def remember_failure(s: State, depth: int) -> None:
    mask = s.me[depth - 1, 0, 0]
    bucket = failed_bucket(s, mask)
    s.mm[bucket, 0] = mask
    s.mm[bucket, 1] = s.gi[0, EPOCH]
    s.mm[bucket, 2] = s.mp[depth, ENTERED]


@inline
def match(s: State, home: Ints, row: int, q: int, rule: int, own: int, number: int, p: int) -> int:
    """Number of events of the match that ends at position p, 0 when there is none.

    The positions stand in `mp[1..n, POSITION]`, newest first.
    """
    at = place(home, row, q, p)
    engine = s.bt[definition(s, s.qe[at, ENTRY_DEF]) + DEF_ENGINE]
    validate = s.bt[engine + ENGINE_VALIDATE] != 0
    within = s.bt[rule + RULE_WITHIN]
    forbidden = s.bt[rule + RULE_FORBID_N]
    lowest = 0
    if forbidden:
        refs = s.bt[rule + RULE_FORBID]
        lowest = latest_forbidden(s, home, row, q, refs, forbidden, own, p + 1) + 1
        if lowest > p:
            return 0
    # What failed once fails again only where times do not depend on the choices made before.
    simple = s.bt[rule + RULE_SIMPLE] != 0 and not home[row, q + QUEUE_UNSORTED]
    s.gi[0, EPOCH] += 1
    s.me[0, 0, 0] = s.bt[rule + RULE_ALL]
    for j in range(s.bt[rule + RULE_ABSENT_N]):
        s.me[0, 0, 1 + j] = -1
    s.mp[0, CANDIDATES] = 1
    s.mp[0, NEWEST] = s.mp[0, OLDEST] = s.qe[at, ENTRY_TIME]
    complete = take_position(s, home, row, q, rule, own, 1, p)
    if s.mp[1, CANDIDATES] == 0:
        return 0
    if complete:
        return 1
    depth = 2
    s.mp[2, BOUND] = p
    s.mp[2, ENTERED] = p
    while depth > 1:
        found = -1
        if not (simple and has_failed(s, depth)):
            found = best_position(
                s, home, row, q, rule, own, number, depth, lowest, within, validate
            )
        if found < 0:
            if simple:
                remember_failure(s, depth)
            depth -= 1
            s.mp[depth, BOUND] = s.mp[depth, POSITION]
            continue
        complete = take_position(s, home, row, q, rule, own, depth, found)
        if complete:
            return depth
        s.mp[depth + 1, BOUND] = found
        s.mp[depth + 1, ENTERED] = found
        depth += 1
    return 0
