"""Where streams stand after groups, taken together or one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.position import START
from mt5bridge.spool import state
from mt5bridge.spool.group import Group, RecordKind, gap
from mt5bridge.spool.state import Ends, Streams, StreamState, fold
from mt5bridge.validate import Quality
from tests.spool.groups import ticks

_FAR = int(Quality.FAR)
_RECORD = st.tuples(st.integers(0, 4), st.sampled_from([0, 1, _FAR]))
_GROUP = st.tuples(st.sampled_from("AB"), st.booleans(), st.lists(_RECORD, min_size=1, max_size=4))


def _groups(drawn: list[tuple[str, bool, list[tuple[int, int]]]]) -> list[Group]:
    found, ingest, taken = [], 1, dict.fromkeys("AB", 0)
    for symbol, is_gap, records in drawn:
        stream, sequence = ("ticks", symbol), taken[symbol] + 1
        taken[symbol] += len(records)
        if is_gap:
            found.append(gap(ingest, ("demo", stream), sequence, taken[symbol], "lost"))
            continue
        times = ticks([time_msc for time_msc, _ in records])
        marks = np.array([mark for _, mark in records], np.uint8)
        kind = RecordKind.TICKS
        found.append(Group(ingest, kind, "demo", stream, sequence, times, 0, marks))
        ingest += len(records)
    return found


@given(st.lists(_GROUP, max_size=12))
def test_groups_together_lead_where_each_leads(
    drawn: list[tuple[str, bool, list[tuple[int, int]]]],
) -> None:
    groups = _groups(drawn)
    together: Streams = {}
    alone: Streams = {}
    assert fold(together, groups) == {group.key for group in groups}
    for group in groups:
        fold(alone, [group])
    assert together == alone


@given(st.lists(st.tuples(st.booleans(), st.lists(_GROUP, max_size=4)), max_size=4))
def test_groups_that_come_a_few_at_a_time_lead_where_all_lead(
    drawn: list[tuple[bool, list[tuple[str, bool, list[tuple[int, int]]]]]],
) -> None:
    """Whenever somebody asks for the positions; sequences are known at once."""
    groups = iter(_groups([one for _, few in drawn for one in few]))
    ends, plain = Ends({}), Streams()
    for asks, few in drawn:
        now = [next(groups) for _ in few]
        keys = fold(plain, now)
        assert ends.take(now) == {key: plain[key].sequence for key in keys}
        assert not asks or ends.streams() == plain
    assert ends.streams() == plain


def test_what_waits_to_be_looked_at_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_GROUPS_MAX", 3)
    ends, kept = Ends({}), []
    for number in range(1, 8):
        ends.take(
            [Group(number, RecordKind.TICKS, "demo", ("ticks", "A"), number, ticks([number]))]
        )
        kept.append(len(ends._groups))
    assert kept == [1, 2, 0, 1, 2, 0, 1]
    (found,) = ends.streams().values()
    assert found.position == START.advanced(7, ticks([7]))


def test_a_gap_moves_the_number_and_not_the_time() -> None:
    stored = Group(1, RecordKind.TICKS, "demo", ("ticks", "A"), 1, ticks([5, 7, 7]))
    streams: Streams = {}
    fold(streams, [stored, gap(4, stored.key, 4, 9, "lost")])
    expected = START.advanced(3, stored.records).advanced(9, stored.records[:0])
    assert streams == {stored.key: StreamState(expected)}
