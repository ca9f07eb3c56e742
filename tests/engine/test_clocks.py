"""The clock at each source record and whether it is late: decided once, by the records before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.clocks import MODES, Clocks, Mode
from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_CLOCK, OUT_KEY, OUT_STREAM, OUT_TIME

STREAMS = ("Tick", "Quote", "Deal")
OTHERS = (({0, 1}, True), ({0}, False), ({0, 1, 2}, False))
"""Clocks beside those of sources and keys: of Tick and Quote by key, and two of all keys."""
Record = tuple[int, int, int]
"""A stream, a key row and a time; else, in place of the stream, what passes without a record."""
PASSED = ALL_PASS, ALL_IS_COMPLETE, KEY_PASSES, KEY_IS_COMPLETE = -1, -2, -3, -4
RECORDS = st.lists(
    st.tuples(
        st.integers(KEY_IS_COMPLETE, 2), st.integers(0, 70) | st.integers(-1, 2), st.integers(0, 30)
    ),
    max_size=40,
)


def obvious(mode: Mode, records: list[Record]) -> list[list[int]]:
    """The clock and the other clocks, by looking at all that came before, each time."""
    found = []
    for place, (stream, key, time) in enumerate(records):
        if stream < 0:
            continue
        key = max(key, 0)
        lived = mode == "lived"
        told = [(s, max(k, 0), t) for s, k, t in records[:place]]
        of_all = (ALL_PASS, ALL_IS_COMPLETE)
        mine = [(s, t) for s, k, t in told if s in of_all or not lived or k == key]
        mine = [(s, t) for s, t in mine if s != ALL_PASS or not lived]
        if not lived:
            mine = [(s, t) for s, t in mine if s >= min(of_all)]
        delaying = (*range(len(STREAMS)), *of_all)
        if lived:
            delaying = (stream, ALL_IS_COMPLETE, KEY_IS_COMPLETE)
        newest = max((t for s, t in mine if s in delaying), default=-1)
        clock = max(time, *(t for s, t in mine if not lived or s in (*PASSED, stream)), -1)
        own = -clock if time < newest and STREAMS[stream] != "Deal" else clock
        others = [clock] * len(OTHERS)
        if lived:
            others = [other(one, [*told, (stream, key, time)], key) for one in OTHERS]
        found.append([own, *others])
    return found


def other(clock: tuple[set[int], bool], told: list[Record], key: int) -> int:
    """What another clock shows of lived records, by all that has been told so far."""
    sources, is_by_key = clock
    moving = {*sources, ALL_IS_COMPLETE, *((KEY_PASSES, KEY_IS_COMPLETE) if is_by_key else [-1])}
    of_all = (ALL_PASS, ALL_IS_COMPLETE)
    mine = (t for s, k, t in told if s in moving and (k == key or not is_by_key or s in of_all))
    return max(mine, default=-1)


def pass_without(clocks: Clocks, what: int, key: int, time: int) -> None:
    """Let time pass without a record."""
    if what in (ALL_PASS, ALL_IS_COMPLETE):
        clocks.pass_time(time, is_complete=what == ALL_IS_COMPLETE)
    else:
        clocks.pass_time_of([max(key, 0)], time, None, is_complete=what == KEY_IS_COMPLETE)


def marked(mode: Mode, records: list[Record], cuts: set[int], saved: set[int]) -> list[list[int]]:
    """By the clocks, in batches that end at `cuts`; saved and restored at some places."""
    clocks, batch, found = Clocks(mode, STREAMS, OTHERS), [], []

    def feed() -> None:
        ints = np.zeros((len(batch), OUT_ATTRIBUTES + len(OTHERS)), np.int64)
        for row, (stream, key, time) in zip(ints, batch, strict=True):
            row[[OUT_STREAM, OUT_KEY, OUT_TIME]] = stream, max(key, 0), time
        clocks.mark(ints)
        found.extend(ints[:, [OUT_CLOCK, *range(-len(OTHERS), 0)]].tolist())
        batch.clear()

    for place, record in enumerate(records):
        if record[0] < 0:
            feed()
            pass_without(clocks, *record)
        else:
            batch.append(record)
        if place in cuts:
            feed()
        if place in saved:
            feed()
            state, clocks = clocks.state(), Clocks(mode, STREAMS, OTHERS)
            clocks.restore(state)
    feed()
    return found


@pytest.mark.parametrize("mode", MODES)
@given(RECORDS, st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_no_batch_and_no_snapshot_changes_a_clock(
    mode: Mode, records: list[Record], cuts: set[int], saved: set[int]
) -> None:
    streams = [stream for stream, _, _ in records if stream >= 0]
    found, expected = marked(mode, records, cuts, saved), obvious(mode, records)
    for stream, *clocks in zip(streams, found, expected, strict=True):
        # nothing that follows from a record goes by a clock that it does not move
        moved = [0, *(1 + n for n, (sources, _) in enumerate(OTHERS) if stream in sources)]
        assert [clocks[0][n] for n in moved] == [clocks[1][n] for n in moved]


@pytest.mark.parametrize(("mode", "expected"), [("lived", 1_010), ("sorted", -1_400)])
def test_another_keys_records_make_late_in_sorted_history_only(mode: Mode, expected: int) -> None:
    records = [(0, 1, 1_000), (0, 2, 1_000), (0, 1, 1_400), (0, 2, 1_010)]
    assert marked(mode, records, set(), set())[-1][0] == expected


def test_deals_are_never_late() -> None:
    """A fill 5 ms older than the symbol's last tick counts."""
    records = [(2, 1, 1_000), (0, 1, 1_000), (2, 1, 995), (2, 1, 990)]
    assert [own for own, *_ in marked("lived", records, set(), set())] == [
        1_000,
        1_000,
        1_000,
        1_000,
    ]
