"""The clock of a record as it comes, and whether it is late: the kernel of `cep.engine.clocks`."""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.addressed import CLOCKS, CLOCKS_LENGTH, TABLE, words
from cep.engine.kernels.state import OUT_CLOCK, OUT_KEY, OUT_STREAM, OUT_TIME, Ints

# The words of clocks: whether records are sorted; whether all clocks are one; the newest of all;
# the watermark of all keys; how many streams there are, for how many key rows there is room, and
# how many other clocks; where these stand, and where times do. In front of the other clocks stands
# of each stream whether its records may be late. Times are the newest by stream and key row, then
# the watermarks of keys, then up to when time has passed for them.
(IS_SORTED, HAS_ONE, TOP, PASSED, STREAMS, ROOM, OTHERS, OTHERS_AT, TIMES_AT, MAY_BE_LATE) = range(
    10
)
OTHER_BY_KEY, OTHER_TIME, OTHER_FIRST, OTHER_STREAMS, OTHER_WORDS = 0, 1, 2, 3, 4
"""Of another clock: whether it is one by key, its time if it is not, where the numbers of the
streams stand that move it, and how many these are."""


@inner
def moves(c: Ints, other: int, stream: int) -> bool:
    """Whether records of a stream move another clock. O(streams that do)."""
    first, found = c[other + OTHER_FIRST], False
    for place in range(first, first + c[other + OTHER_STREAMS]):
        found = found or c[place] == stream
    return found


@inner
def mark_others(c: Ints, ints: Ints, n: int, passed_ms: int) -> None:
    """Write the other clocks of a record into its last columns; time has passed for its key."""
    count, room, key = c[OTHERS], c[ROOM], ints[n, OUT_KEY]
    for place in range(count):
        other = c[OTHERS_AT] + place * OTHER_WORDS
        clock = c[other + OTHER_TIME]
        if c[HAS_ONE]:
            clock = c[TOP]
        elif c[other + OTHER_BY_KEY]:
            first, clock = c[other + OTHER_FIRST], passed_ms
            for at in range(first, first + c[other + OTHER_STREAMS]):
                clock = max(clock, c[c[TIMES_AT] + c[at] * room + key])
        ints[n, ints.shape[1] - count + place] = clock


@inline
def mark(c: Ints, ints: Ints, n: int) -> None:
    """Write the clocks of the next record, negated if it is late; there is room for its key row."""
    stream, key, time_ms = ints[n, OUT_STREAM], ints[n, OUT_KEY], ints[n, OUT_TIME]
    of_key = c[TIMES_AT] + c[STREAMS] * c[ROOM] + key
    passed_ms = max(c[of_key + c[ROOM]], c[PASSED])
    if c[IS_SORTED]:  # nobody asks for the times of keys
        before_ms = clock = c[TOP]
    else:
        own = c[TIMES_AT] + stream * c[ROOM] + key
        newest_ms = c[own]
        before_ms = max(newest_ms, c[of_key], c[PASSED])
        clock = c[TOP] if c[HAS_ONE] else max(newest_ms, passed_ms)
        for place in range(c[OTHERS]):
            other = c[OTHERS_AT] + place * OTHER_WORDS
            if not c[other + OTHER_BY_KEY] and moves(c, other, stream):
                c[other + OTHER_TIME] = max(c[other + OTHER_TIME], time_ms)
        c[own] = max(newest_ms, time_ms)
    if time_ms > clock:
        clock = time_ms
        c[TOP] = max(c[TOP], clock)
    is_late = time_ms < before_ms and c[MAY_BE_LATE + stream]
    ints[n, OUT_CLOCK] = -clock if is_late else clock
    if c[OTHERS]:
        mark_others(c, ints, n, passed_ms)


@inline
def mark_row(address: int, ints: Ints) -> None:
    """Write the clocks of the one row that came, if the table at an address names some."""
    table = words(address, TABLE)
    if table[CLOCKS] != 0:
        mark(words(table[CLOCKS], table[CLOCKS_LENGTH]), ints, 0)
