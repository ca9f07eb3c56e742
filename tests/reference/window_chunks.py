"""Windows by definition: from the whole history of a stream, every chunk that comes out.

An arrival is (time in ms, value); arrivals stand in order of time. A chunk is a list of (kind,
time, value) with kind `+` current, `-` expired, `0` reset (without value). Timers that are due at
the time of an arrival come before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise

Arrival = tuple[int, int]
Out = tuple[str, int, int | None]
Chunks = list[list[Out]]


def came(rows: Iterable[Arrival]) -> list[Out]:
    """Rows as they came."""
    return [("+", time, value) for time, value in rows]


def gone(rows: Iterable[Arrival], time: int) -> list[Out]:
    """Rows that leave at a time."""
    return [("-", time, value) for _, value in rows]


def reset(time: int) -> Out:
    """A reset."""
    return ("0", time, None)


def length(rows: Sequence[Arrival], n: int) -> Chunks:
    """Row i drives out row i - n."""
    return [
        gone(rows[max(i - n, 0) : max(i - n + 1, 0)], rows[i][0]) + came([row])
        for i, row in enumerate(rows)
    ]


def by_time(rows: Sequence[Arrival], moments: Iterable[tuple[int, list[Out]]]) -> Chunks:
    """Chunks of timers among the arrivals, each before the arrivals of its time."""
    events = [(moment, 0, i, chunk) for i, (moment, chunk) in enumerate(moments)]
    events += [(row[0], 1, i, came([row])) for i, row in enumerate(rows)]
    return [chunk for *_, chunk in sorted(events) if chunk]


def time(rows: Sequence[Arrival], t: int) -> Chunks:
    """All rows of one time leave together, t later."""
    leaving = groupby(rows, lambda row: row[0] + t)
    return by_time(rows, [(moment, gone(group, moment)) for moment, group in leaving])


def delay(rows: Sequence[Arrival]) -> Chunks:
    """All rows of one time come together, t later, with the time that they had."""
    coming = groupby(rows, lambda row: row[0])
    return [[("+", moment, value) for _, value in group] for moment, group in coming]


def time_length(rows: Sequence[Arrival], t: int, n: int) -> Chunks:
    """A row leaves t later, unless the n-th row behind it comes earlier."""
    chunks: Chunks = []
    moments = sorted({row[0] for row in rows} | {row[0] + t for row in rows})
    for moment in moments:
        timed = [
            row
            for i, row in enumerate(rows)
            if row[0] + t == moment and (i + n >= len(rows) or rows[i + n][0] >= moment)
        ]
        chunks += [gone(timed, moment)] if timed else []
        for i, row in enumerate(rows):
            if row[0] == moment:
                pushed = i >= n and rows[i - n][0] + t > moment
                chunks.append((gone([rows[i - n]], moment) if pushed else []) + came([row]))
    return chunks


def external_time(rows: Sequence[Arrival], t: int) -> Chunks:
    """The value is the clock: row i drives out those from t before on that i - 1 did not."""
    chunks = []
    for i, (moment, value) in enumerate(rows):
        before = rows[i - 1][1] if i else value
        left = [row for row in rows[:i] if before < row[1] + t <= value]
        chunks.append(gone(left, value) + came([(moment, value)]))
    return chunks


def batches(found: Iterable[tuple[int, list[Arrival], int]]) -> Chunks:
    """Batches (end, rows, time of the reset) one after another, those without any rows left out."""
    chunks: Chunks = []
    previous: list[Arrival] = []
    for end, rows, reset_time in found:
        chunk = gone(previous, end) + ([reset(reset_time)] if rows else []) + came(rows)
        chunks += [chunk] if chunk else []
        previous = rows
    return chunks


def length_batch(rows: Sequence[Arrival], n: int) -> Chunks:
    """Slices of n."""
    slices = [list(rows[i : i + n]) for i in range(0, len(rows) - n + 1, n)]
    return batches((part[-1][0], part, part[-1][0]) for part in slices)


def time_batch(rows: Sequence[Arrival], t: int, start: int | None = None) -> Chunks:
    """Slices of time from the first row, or aligned to `start`."""
    first = rows[0][0] if start is None else start
    begin = first + (rows[0][0] - first) // t * t
    ends = range(begin + t, rows[-1][0] + 3 * t, t)
    slices = [(end, [row for row in rows if end - t <= row[0] < end]) for end in ends]
    return batches((end, part, part[0][0] if part else 0) for end, part in slices)


def hopping(rows: Sequence[Arrival], size: int, hop: int) -> Chunks:
    """Every hop, the slice of time before it."""
    ends = range(rows[0][0] + hop, rows[-1][0] + size + 2 * hop + 1, hop)
    slices = [(end, [row for row in rows if end - size <= row[0] < end]) for end in ends]
    return batches((end, part, end) for end, part in slices)


def external_time_batch(rows: Sequence[Arrival], t: int) -> Chunks:
    """Slices of the value, each sent by the first row of the next."""
    parts = [list(part) for _, part in groupby(rows, lambda row: (row[1] - rows[0][1]) // t)]
    pairs = pairwise(parts)
    return batches((after[0][1], part, after[0][1]) for part, after in pairs)


def sort(rows: Sequence[Arrival], n: int) -> Chunks:
    """Row i drives out the largest of what is held, the newest of equals."""
    held: list[tuple[int, int]] = []
    chunks = []
    for i, (moment, value) in enumerate(rows):
        held.append((value, i))
        worst = [max(held)] if len(held) > n else []
        held = [item for item in held if item not in worst]
        chunks.append(came([(moment, value)]) + [("-", moment, one) for one, _ in worst])
    return chunks


def session(rows: Sequence[Arrival], gap: int) -> Chunks:
    """Sessions end a gap after their last row; that moment belongs to the next session."""
    sessions: list[list[Arrival]] = []
    for row in rows:
        if not sessions or row[0] >= sessions[-1][-1][0] + gap:
            sessions.append([])
        sessions[-1].append(row)
    ends = [(part[-1][0] + gap, [("-", at, value) for at, value in part]) for part in sessions]
    return by_time(rows, [(end, list(chunk)) for end, chunk in ends])


def expression(rows: Sequence[Arrival], holds: Callable[[Sequence[Arrival]], bool]) -> Chunks:
    """The oldest leave until the condition holds for the rest, or nothing is left."""
    chunks = []
    start = 0
    for i, row in enumerate(rows):
        first = start
        while start <= i and not holds(rows[start : i + 1]):
            start += 1
        chunks.append(gone(rows[first:start], row[0]) + came([row]))
    return chunks


def calendar(rows: Sequence[Arrival], seconds: int) -> Chunks:
    """Slices between the multiples of some seconds; without rows nothing happens."""
    step = seconds * 1000
    parts = [list(part) for _, part in groupby(rows, lambda row: row[0] // step)]
    ends = [(part[0][0] // step + 1) * step for part in parts]
    pairs = zip(ends, [[], *parts], parts, strict=False)
    return [gone(before, end) + came(part) for end, before, part in pairs]
