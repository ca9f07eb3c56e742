"""One stream's receiver."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.position import Position
from mt5bridge.records import TICK, Records
from mt5bridge.server.stream import Stream, Verdict


def _ticks(first: int, count: int) -> Records:
    ticks = np.zeros(count, TICK)
    ticks["time_msc"] = np.arange(first, first + count) // 4
    return ticks


def test_verdicts() -> None:
    """6.4"""
    stream = Stream.resumed(("deals",), Position(10, 5, 1))
    assert stream.judge(11, 20) is Verdict.NEW
    assert stream.judge(5, 11) is Verdict.NEW
    assert stream.judge(5, 10) is Verdict.DUPLICATE
    assert stream.missing() is None
    assert stream.judge(12, 15) is Verdict.BEYOND
    assert stream.missing() == (11, 15)


def test_asks_once_while_the_stream_moves() -> None:
    """7.2"""
    stream = Stream(("deals",))
    stream.judge(5, 8)
    assert stream.ask(1_000, 50)
    assert not stream.ask(1_049, 50)
    assert stream.ask(1_050, 50)
    stream.take(_ticks(1, 4), 1_090)
    assert stream.missing() == (5, 8)
    assert not stream.ask(1_139, 50)
    assert stream.ask(1_140, 50)
    stream.skip_to(8, 1_141)
    assert stream.missing() is None


def test_never_acknowledges_what_it_has_not_taken() -> None:
    stream = Stream(("deals",))
    stream.take(_ticks(1, 4), 0)
    assert stream.acknowledge(99)
    assert stream.durable.sequence == 4
    assert not stream.acknowledge(3)
    assert not stream.acknowledge(4), "a terminal is told once"


def test_a_loss_is_acknowledged_before_what_follows_it() -> None:
    stream = Stream(("ticks", "A"))
    stream.skip_to(5, 0)
    stream.take(_ticks(6, 4), 0)
    assert stream.acknowledge(3)
    assert stream.durable == Position(3, 0, 0)
    assert stream.acknowledge(9)
    assert stream.durable == Position(3, 0, 0).advanced(9, _ticks(6, 4))


@given(st.lists(st.integers(1, 7), min_size=1, max_size=6), st.data())
def test_durable_position_is_that_of_all_records_up_to_it(
    counts: list[int], data: st.DataObject
) -> None:
    """6.8, for acknowledgements that cut batches anywhere."""
    stream = Stream(("ticks", "A"))
    end = 1
    for count in counts:
        stream.take(_ticks(end, count), 0)
        end += count
    for sequence in sorted(data.draw(st.lists(st.integers(1, end - 1), max_size=5))):
        stream.acknowledge(sequence)
        assert stream.durable == Position().advanced(sequence, _ticks(1, sequence))
    stream.acknowledge(end - 1)
    assert stream.durable.sequence == end - 1
    assert not stream.pending
