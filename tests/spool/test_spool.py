"""The spool's promises one by one: order, rotation, resume positions, limits, refusals."""

from __future__ import annotations

import errno
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.position import Position
from mt5bridge.records import TICK
from mt5bridge.server import Settings
from mt5bridge.spool import (
    GAP,
    CommitThread,
    Durable,
    Group,
    RecordKind,
    SegmentState,
    Spool,
    SpoolError,
    SpoolLockedError,
    StreamState,
    gap,
    read,
    read_checkpoint,
)
from mt5bridge.spool.block import PAYLOAD_BYTES_MAX, encode
from mt5bridge.spool.identity import is_in_ids
from mt5bridge.spool.segment import header, path_of
from mt5bridge.spool.spool import MUCH_BYTES, Counters
from mt5bridge.spool.state import Checkpoint, Ends, Streams
from mt5bridge.troubles import Effect, Troubles
from tests.durability.recording import Fault, recording
from tests.spool.groups import (
    START_MSC,
    clock_group,
    crashed,
    deal_group,
    opened,
    put,
    same,
    tick_group,
)
from tests.waiting import LONG_S


def test_groups_come_back_in_order(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    written = [put(spool, 1), put(spool, 6)]
    for make in (
        lambda: deal_group(spool, 1, [5, 6]),
        lambda: clock_group(spool, START_MSC),
        lambda: gap(spool.next_ingest, ("terminal", ("ticks", "EURUSD")), 11, 20, "buffer full"),
    ):
        written.append(make())
        assert spool.append(written[-1])
    assert spool.commit() == 13
    found = list(spool.read())
    assert all(same(a, b) for a, b in zip(found, written, strict=True))
    assert [group.ingest for group in spool.read(from_ingest=6)] == [6, 11, 13, 14]
    spool.close()


def test_reading_from_a_number_skips_what_comes_before(tmp_path: Path) -> None:
    spool = opened(tmp_path, segment_bytes=1)
    for i in range(4):
        put(spool, 1 + 5 * i)
        spool.commit()
    spool.close()
    for start in range(25):
        expected = [first for first in (1, 6, 11, 16) if first + 4 >= start]
        assert [group.ingest for group in read(tmp_path, start)] == expected
    for older in spool.segments()[:2]:
        older.path.unlink()
        older.path.mkdir()  # opened, it would be an error
    assert [group.ingest for group in read(tmp_path, 11)] == [11, 16]


def test_nothing_is_durable_before_commit(tmp_path: Path) -> None:
    told: list[Durable] = []
    spool = opened(tmp_path, on_durable=told.append)
    put(spool, 1)
    assert spool.durable_ingest == 0
    assert told == []
    assert list(read(tmp_path)) == []
    spool.commit()
    assert told == [Durable(5, {("terminal", ("ticks", "EURUSD")): 5})]
    spool.close()


def test_what_may_not_be_written_yet_waits_for_the_next_commit(tmp_path: Path) -> None:
    """And what comes meanwhile stays behind it."""
    told: list[Durable] = []
    may = [False, False, True]
    spool = opened(tmp_path, on_durable=told.append, before_write=lambda: may.pop(0))
    put(spool, 1)
    assert spool.commit() == 0
    put(spool, 6)
    assert spool.commit() == 0
    assert told == [] and list(read(tmp_path)) == []
    assert spool.commit() == 10
    assert [group.ingest for group in read(tmp_path)] == [1, 6]
    assert spool.commit() == 10, "nothing is asked when nothing is to be written"
    spool.close()


def test_recovery_says_where_each_stream_stands(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    key = ("terminal", ("ticks", "EURUSD"))
    spool.append(tick_group(spool, "EURUSD", 1, [10, 11, 11]))
    spool.append(tick_group(spool, "EURUSD", 4, [11, 11]))
    spool.append(tick_group(spool, "XAUUSD", 1, [7]))
    spool.append(gap(spool.next_ingest, key, 6, 8, "terminal was off"))
    spool.commit()
    recovery = opened(crashed(tmp_path)).recovered
    state = recovery.streams[key]
    assert state.position == Position(8, 11, 4)
    assert recovery.streams["terminal", ("ticks", "XAUUSD")].sequence == 1
    assert recovery.last_ingest == 6


def test_positions_survive_the_deletion_of_the_segments_they_came_from(tmp_path: Path) -> None:
    spool = opened(tmp_path, segment_bytes=1)
    put(spool, 1)
    spool.commit()
    put(spool, 1, symbol="XAUUSD")
    spool.commit()
    spool.close()
    spool.segments()[0].path.unlink()
    recovery = opened(tmp_path).recovered
    assert recovery.streams["terminal", ("ticks", "EURUSD")].sequence == 5
    assert recovery.last_ingest == 10


def test_texts_of_losses_do_not_fill_checkpoints(tmp_path: Path) -> None:
    """However much terminals say of what they lost: the next segment begins, and is read back."""
    spool = opened(tmp_path)
    losses = np.array([(number, number) for number in range(1, 17)], GAP)
    for number in range(4_500):
        source, stream = f"terminal {number % 9}", ("ticks", f"S{number}")
        lost = Group(
            spool.next_ingest, RecordKind.GAP, source, stream, 1, losses, note="\x01" * 1_000
        )
        assert spool.append(lost)
    put(spool, 1)
    spool.commit()
    spool.rotate()
    put(spool, 6)
    spool.commit()
    newest = spool.segments()[-1].path
    assert newest.stat().st_size < 1 << 20
    assert (found := read_checkpoint(newest)) is not None and len(found.streams) == 4_501
    again = opened(crashed(tmp_path)).recovered
    assert again.streams["terminal 0", ("ticks", "S0")].sequence == 16
    assert again.damages == ()


def _streams(count: int) -> Streams:
    """Streams with the longest names and numbers there may be."""
    position = Position(2**63 - 1, -(2**63), 2**32 - 1)
    names = (f"{number:06d}".ljust(128, '"') for number in range(count))
    return {(name, ("ticks", "\\" * 32)): StreamState(position) for name in names}


def test_as_many_streams_as_a_server_allows_fit_a_checkpoint() -> None:
    stream_bytes = len(Checkpoint.of("", 0, _streams(1_000)).encode()) / 1_000
    assert stream_bytes * Settings().streams_max < PAYLOAD_BYTES_MAX


def test_a_large_checkpoint_is_read_back(tmp_path: Path) -> None:
    """By the archive too, which reads no more of a segment than it has to."""
    streams = _streams(25_000)
    spool = opened(tmp_path)
    spool._ends = Ends(streams)
    put(spool, 1)
    spool.commit()
    newest = spool.segments()[-1].path
    assert newest.stat().st_size > 9 << 20
    assert (found := read_checkpoint(newest)) is not None and found.as_streams() == streams


def test_segments_rotate_by_size_and_by_time(tmp_path: Path) -> None:
    spool = opened(tmp_path, segment_bytes=2000, segment_ms=1000)
    put(spool, 1)
    spool.commit(now_ms=0)
    assert [s.state for s in spool.segments()] == [SegmentState.OPEN]
    spool.commit(now_ms=1000)
    assert [s.state for s in spool.segments()] == [SegmentState.SEALED]
    put(spool, 6, 40)
    spool.commit(now_ms=1001)
    assert [s.state for s in spool.segments()] == [SegmentState.SEALED, SegmentState.SEALED]
    put(spool, 46)
    for now_ms, state in (
        (5_000, SegmentState.OPEN),
        (5_999, SegmentState.OPEN),
        (6_000, SegmentState.SEALED),
    ):
        spool.commit(now_ms)
        assert spool.segments()[-1].state is state
    spool.close()


def test_a_segment_is_no_small_file_unless_asked_for(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1, 40_000)
    spool.commit()
    (segment,) = spool.segments()
    assert segment.state is SegmentState.OPEN and segment.size_bytes > 2 << 20
    spool.close()


def test_a_segment_that_was_hardly_begun_is_begun_again(tmp_path: Path) -> None:
    """Under its own number: no other segment is hidden by it."""
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    path_of(tmp_path, 2, SegmentState.OPEN).write_bytes(header())
    spool = opened(tmp_path)
    assert [s.number for s in spool.segments()] == [1]
    put(spool, 6)
    spool.close()
    assert [s.number for s in spool.segments()] == [1, 2]
    assert [group.ingest for group in read(tmp_path)] == [1, 6]


def test_an_ingest_number_is_never_given_twice(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    group = put(spool, 1)
    with pytest.raises(ValueError, match="ingest 1 comes after 5"):
        spool.append(group)
    spool.close()


def test_append_before_recover_is_refused(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    with pytest.raises(SpoolError, match="call recover"):
        spool.append(tick_group(spool, "EURUSD", 1, [1]))


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    with pytest.raises(SpoolLockedError, match="another process is writing here"):
        Spool(tmp_path).recover()
    spool.close()
    opened(tmp_path).close()


def test_segments_that_go_while_they_are_listed_are_left_out(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    for number in (0, 2):  # as one looks that has gone since its name was read
        path_of(tmp_path, number, SegmentState.SEALED).symlink_to("nothing")
    assert [segment.number for segment in spool.segments()] == [1]


def test_a_whole_block_that_holds_no_group_is_damage(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    (segment,) = spool.segments()
    with segment.path.open("ab") as file:
        file.write(encode(b"no group", segment.size_bytes))
    ((path, damage),) = opened(crashed(tmp_path)).recovered.damages
    assert (path.name, damage.offset) == (segment.path.name, segment.size_bytes)


def test_what_is_on_disk_is_counted(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1)
    put(spool, 6)
    assert spool.counters == Counters()
    spool.commit()
    written = spool.segments()[0].size_bytes - len(header())
    assert 0 < spool.counters.bytes < written, "the checkpoint is none of them"
    assert replace(spool.counters, bytes=0) == Counters(groups=2, records=10, commits=1)
    spool.close()


# -- the committing thread ---------------------------------------------------------------------


def test_who_waits_for_something_to_commit_is_told_when_it_is_there(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    assert not spool.wait(0)
    put(spool, 1)
    assert not spool.wait(0), "nobody is woken before what is appended has led to its signals"
    spool.announce()
    assert spool.wait(0)
    spool.commit()
    spool.announce()
    assert not spool.wait(0)
    spool.close()


def test_a_commit_thread_makes_appends_durable(tmp_path: Path) -> None:
    reached = threading.Event()
    spool = opened(tmp_path, on_durable=lambda done: reached.set() if done.ingest == 50 else None)
    thread = CommitThread(spool, clock_ms=lambda: 0)
    thread.start()
    for i in range(10):
        put(spool, 1 + 5 * i)
    spool.announce()
    assert reached.wait(LONG_S)
    put(spool, 51)
    thread.stop()
    assert spool.durable_ingest == 55
    spool.close()


def test_a_commit_thread_hands_over_the_failure_of_a_callback(tmp_path: Path) -> None:
    def fail(_: Durable) -> None:
        raise RuntimeError("callback")

    spool = opened(tmp_path, on_durable=fail)
    thread = CommitThread(spool, clock_ms=lambda: 0)
    thread.start()
    put(spool, 1)
    with pytest.raises(RuntimeError, match="callback"):
        thread.stop()


def test_a_spool_has_its_name_before_its_first_record_is_on_disk(tmp_path: Path) -> None:
    """What a record that a crash undoes has led to is recognised when it is sent again."""
    directory = tmp_path / "spool"
    name = opened(directory).recovered.spool
    for number in range(2):
        copy = crashed(directory)
        spool = opened(copy)
        assert spool.recovered.spool == name and is_in_ids(name)
        put(spool, 1 + number)
        directory = copy
    spool.close()
    assert opened(directory).recovered.spool == name
    assert not (directory / "IDENTITY").exists()


def test_a_spool_that_lost_its_segments_is_another_one(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1)
    spool.commit()
    for segment in spool.segments():
        segment.path.unlink()
    assert opened(crashed(tmp_path)).recovered.spool != spool.recovered.spool


def test_half_a_name_is_none(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    (tmp_path / "IDENTITY").write_text(spool.recovered.spool[:20])
    name = opened(crashed(tmp_path)).recovered.spool
    assert len(name) == 33 and name != spool.recovered.spool
    assert not is_in_ids("0" * 32)


@pytest.mark.parametrize("call", ["open", "sync_directory"])
def test_too_many_open_files_are_waited_for(tmp_path: Path, call: str) -> None:
    troubles = Troubles()
    with recording(tmp_path) as disk:
        spool = opened(tmp_path)
        thread = CommitThread(spool, lambda: 0, troubles)
        disk.arm(Fault(1, errno.EMFILE, call))
        put(spool, 1)
        thread.commit()
        (told,) = troubles
        assert told.effect is Effect.WAITS and "`ulimit -n`" in told.text
        assert spool.durable_ingest == 0
        thread.commit()
        assert not list(troubles) and spool.durable_ingest == 5
        spool.close()


def test_a_commit_thread_tells_of_a_full_spool_until_there_is_room(tmp_path: Path) -> None:
    troubles = Troubles(lambda: 9)
    turns: list[int] = []
    with recording(tmp_path) as disk:
        spool = opened(tmp_path)
        thread = CommitThread(spool, lambda: 0, troubles, lambda: turns.append(1))
        disk.arm(Fault(1, errno.ENOSPC, "sync"))
        put(spool, 1)
        thread.commit()
        assert [(t.name, t.effect, t.since_msc) for t in troubles] == [
            (str(tmp_path), Effect.WAITS, 9)
        ]
        thread.commit()
        assert not list(troubles) and spool.durable_ingest == 5
        assert len(turns) == 2
        spool.close()


def test_much_that_waits_is_told(tmp_path: Path) -> None:
    """So that it is not gathered any longer."""
    spool = opened(tmp_path)
    put(spool, 1)
    spool.announce()
    assert spool.wait(0) and not spool.wait_for_much(0)
    put(spool, 6, MUCH_BYTES // TICK.itemsize)
    assert spool.wait_for_much(0)
    spool.commit()
    assert not spool.wait_for_much(0) and not spool.wait(0)
