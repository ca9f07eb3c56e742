"""A simple event arrives: admit, enter, match every rule that can end in it, hand over.

The output rows double as the work list: what was found is written first, in definition order, and
only then handed on row by row to later stages and chained engines, whose finds come behind it. No
engine is ever re-entered (rules 13 and 14).
"""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.match import POSITION, match
from cep.engine.kernels.queue import (
    admit,
    bind,
    definition,
    enter,
    place,
    queue_row,
)
from cep.engine.kernels.room import has_room
from cep.engine.kernels.state import (
    CLOCK,
    HEADER,
    KEYS,
    LEVEL,
    LISTS,
    OUT_ATTRIBUTES,
    OUT_CLOCK,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    OUT_TIME,
    READY,
    ROWS,
    STATUS,
    Floats,
    Ints,
    State,
)
from cep.engine.kernels.tables import (
    CLOCK_CELLS,
    DEF_ENDS,
    DEF_ENDS_N,
    DEF_ENGINE,
    DEF_NUMBER,
    DEF_STREAM,
    END_SIZE,
    ENGINE_KEYED,
    ENGINE_QUEUE,
    ENTRY_BITS,
    ENTRY_DEF,
    ENTRY_KEY,
    ENTRY_SEQ,
    ENTRY_TIME,
    LEAF_BIT,
    LEAF_DEF,
    LEAF_SIZE,
    LEAF_WORD,
    RULE_CHAIN,
    RULE_CHAIN_N,
    RULE_HANDED,
    RULE_HANDED_N,
    RULE_KEYED,
    RULE_LEAVES,
    RULE_LEAVES_N,
    RULE_NUMBER,
    RULE_SIZE,
    RULE_STREAM,
    RULES,
    STREAM_DEF,
    STREAM_RULE,
    STRIDE,
)


@inline
def numbered(s: State, base: int, k: int) -> int:
    """The number of a definition on a key row."""
    return base + (k - 1) * s.bt[STRIDE] if k > 0 else base


@inline
def write_row(gi: Ints, oi: Ints, order: int, stream: int, t: int, k: int) -> int:
    """Start an output row; its index."""
    r = gi[0, ROWS]
    gi[0, ROWS] = r + 1
    oi[r, OUT_ORDER] = order
    oi[r, OUT_STREAM] = stream
    oi[r, OUT_TIME] = t
    oi[r, OUT_KEY] = k
    oi[r, OUT_CLOCK] = gi[0, CLOCK]
    return r


@inline
def write_match(
    s: State,
    home: Ints,
    row: int,
    q: int,
    rule: int,
    own: int,
    number: int,
    n: int,
    order: int,
) -> None:
    """Bind the events of a match and write the complex event's row and lists."""
    newest = place(home, row, q, s.mp[1, POSITION])
    oldest = place(home, row, q, s.mp[n, POSITION])
    r = write_row(s.gi, s.oi, order, s.bt[rule + RULE_STREAM], s.qe[newest, ENTRY_TIME], own)
    lists = s.gi[0, LISTS]
    s.gi[0, LISTS] = lists + 2 * n
    s.oi[r, OUT_ATTRIBUTES] = number
    s.oi[r, OUT_ATTRIBUTES + 1] = s.qe[oldest, ENTRY_TIME]
    s.oi[r, OUT_ATTRIBUTES + 2] = lists
    s.oi[r, OUT_ATTRIBUTES + 3] = n
    s.oi[r, OUT_ATTRIBUTES + 4] = rule
    leaves = s.bt[rule + RULE_LEAVES]
    for depth in range(1, n + 1):
        at = place(home, row, q, s.mp[depth, POSITION])
        d = s.qe[at, ENTRY_DEF]
        base = s.bt[definition(s, d) + DEF_NUMBER]
        s.ol[lists + n - depth] = numbered(s, base, s.qe[at, ENTRY_KEY])
        s.ol[lists + 2 * n - depth] = s.qe[at, ENTRY_SEQ]
        bind(s, at, number)
        for leaf in range(leaves, leaves + s.bt[rule + RULE_LEAVES_N] * LEAF_SIZE, LEAF_SIZE):
            if s.bt[leaf + LEAF_DEF] == d:
                s.qe[at, ENTRY_BITS + s.bt[leaf + LEAF_WORD]] |= s.bt[leaf + LEAF_BIT]


@inner
def arrive(s: State, order: int, d: int, k: int, t: int) -> None:
    """Take a raised event of definition d on key row k into its engine and bind what it completes.

    O(rules that can end in d) times the candidates each of them looks at.
    """
    if not admit(s, d, k, t):
        return
    position = enter(s, d, k, t)
    record = definition(s, d)
    engine = s.bt[record + DEF_ENGINE]
    home = s.ki if s.bt[engine + ENGINE_KEYED] else s.gi
    row = queue_row(s, engine, k)
    q = s.bt[engine + ENGINE_QUEUE]
    r = write_row(s.gi, s.oi, order, s.bt[record + DEF_STREAM], t, k)
    s.oi[r, OUT_ATTRIBUTES] = numbered(s, s.bt[record + DEF_NUMBER], k)
    s.oi[r, OUT_ATTRIBUTES + 1] = s.qe[place(home, row, q, position), ENTRY_SEQ]
    ends = s.bt[record + DEF_ENDS]
    for end in range(ends, ends + s.bt[record + DEF_ENDS_N] * END_SIZE, END_SIZE):
        rule = s.bt[RULES] + s.bt[end] * RULE_SIZE
        first = k if s.bt[rule + RULE_KEYED] else 0
        past = first + 1
        if s.bt[end + 1]:
            first = 1
            past = s.gi[0, KEYS] + 1
        for own in range(first, past):
            number = numbered(s, s.bt[rule + RULE_NUMBER], own)
            n = match(s, home, row, q, rule, own, number, position)
            if n > 0:
                write_match(s, home, row, q, rule, own, number, n, order)


@inner
def hand_over(s: State, r: int, rule: int) -> None:
    """Hand the complex event in output row r on to later stages, then to chained engines.

    Where `LEVEL` is 1 the order of a row tells how often something was handed on for it.
    """
    start = s.bt[rule + RULE_HANDED]
    order = s.oi[r, OUT_ORDER] + s.gi[0, LEVEL]
    t = s.oi[r, OUT_TIME]
    k = s.oi[r, OUT_KEY]
    for at in range(start, start + s.bt[rule + RULE_HANDED_N]):
        write_row(s.gi, s.oi, order, s.bt[at], t, k)
    start = s.bt[rule + RULE_CHAIN]
    for at in range(start, start + s.bt[rule + RULE_CHAIN_N]):
        arrive(s, order, s.bt[at], k, t)


@inner
def drain(s: State, r: int) -> None:
    """Hand over every complex event in the output from row r on, and what that finds."""
    while r < s.gi[0, ROWS]:
        rule = s.bt[s.bt[STREAM_RULE] + s.oi[r, OUT_STREAM]]
        if rule >= 0:
            hand_over(s, r, s.bt[RULES] + rule * RULE_SIZE)
        r += 1


@inner
def feed(s: State, ri: Ints, i: int) -> None:
    """Take input row i in: a raised event, or a complex event of an earlier stage to be chained."""
    stream = ri[i, OUT_STREAM]
    d = s.bt[s.bt[STREAM_DEF] + stream]
    if d >= 0:
        arrive(s, ri[i, OUT_ORDER], d, ri[i, OUT_KEY], ri[i, OUT_TIME])
    rule = s.bt[s.bt[STREAM_RULE] + stream]
    if rule >= 0:
        record = s.bt[RULES] + rule * RULE_SIZE
        start = s.bt[record + RULE_CHAIN]
        for at in range(start, start + s.bt[record + RULE_CHAIN_N]):
            arrive(s, ri[i, OUT_ORDER], s.bt[at], ri[i, OUT_KEY], ri[i, OUT_TIME])


@inner
def feed_rows(start: int, stop: int, ri: Ints, rf: Floats, s: State) -> int:
    """Feed input rows in order; the first row not fed, `stop` when all are (else see `status`).

    The whole kernel of a stage in which nothing but engines is at work.
    """
    s.gi[0, STATUS] = READY
    cells = s.bt[CLOCK_CELLS]
    first = ri.shape[1] - cells
    for i in range(start, stop):
        if not has_room(s.gi):
            return i
        r = s.gi[0, ROWS]
        s.gi[0, CLOCK] = ri[i, OUT_CLOCK]
        for cell in range(cells):
            s.gi[0, HEADER + cell] = ri[i, first + cell]
        feed(s, ri, i)
        drain(s, r)
    return stop
