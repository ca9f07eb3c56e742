"""The spool's promises one by one: order, rotation, resume positions, limits, refusals."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.position import Position
from mt5bridge.server import Settings
from mt5bridge.spool import (
    GAP,
    CommitThread,
    Condition,
    Disk,
    Durable,
    Group,
    Kind,
    Spool,
    SpoolError,
    SpoolLockedError,
    State,
    StreamState,
    gap,
    read,
    read_checkpoint,
)
from mt5bridge.spool.block import PAYLOAD_BYTES_MAX
from mt5bridge.spool.identity import is_in_ids
from mt5bridge.spool.segment import HEADER_BYTES, header, path_of
from mt5bridge.spool.state import Checkpoint, Streams
from mt5bridge.troubles import Effect, Troubles
from tests.durability.recording import Fault, recording
from tests.spool.groups import START_MSC, clock_group, deal_group, same, tick_group
from tests.waiting import LONG_S


def opened(directory: Path, **settings: object) -> Spool:
    spool = Spool(directory, **settings)  # type: ignore[arg-type]
    spool.recover()
    return spool


def crashed(directory: Path) -> Path:
    """What the disk holds now, as a process killed at this moment would leave it."""
    return shutil.copytree(directory, directory.with_name(directory.name + "-crashed"))


def put(spool: Spool, sequence: int, count: int = 5, symbol: str = "EURUSD") -> Group:
    group = tick_group(spool, symbol, sequence, START_MSC + sequence * 10 + np.arange(count))
    assert spool.append(group)
    return group


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
        lost = Group(spool.next_ingest, Kind.GAP, source, stream, 1, losses, note="\x01" * 1_000)
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
    spool._streams.update(streams)
    put(spool, 1)
    spool.commit()
    newest = spool.segments()[-1].path
    assert newest.stat().st_size > 9 << 20
    assert (found := read_checkpoint(newest)) is not None and found.as_streams() == streams


def test_segments_rotate_by_size_and_by_time(tmp_path: Path) -> None:
    spool = opened(tmp_path, segment_bytes=2000, segment_ms=1000)
    put(spool, 1)
    spool.commit(now_ms=0)
    assert [s.state for s in spool.segments()] == [State.OPEN]
    spool.commit(now_ms=1000)
    assert [s.state for s in spool.segments()] == [State.SEALED]
    put(spool, 6, 40)
    spool.commit(now_ms=1001)
    assert [s.state for s in spool.segments()] == [State.SEALED, State.SEALED]
    spool.close()


def test_a_segment_is_no_small_file_unless_asked_for(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1, 40_000)
    spool.commit()
    (segment,) = spool.segments()
    assert segment.state is State.OPEN and segment.size_bytes > 2 << 20
    spool.close()


def test_a_segment_that_was_hardly_begun_is_begun_again(tmp_path: Path) -> None:
    """Under its own number: no other segment is hidden by it."""
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    path_of(tmp_path, 2, State.OPEN).write_bytes(header())
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


def test_a_spool_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    path = spool.segments()[0].path
    newer = header().replace((1).to_bytes(4, "little"), (2).to_bytes(4, "little"))
    newer = newer[:-4] + zlib.crc32(newer[:-4]).to_bytes(4, "little")
    path.write_bytes(newer + path.read_bytes()[HEADER_BYTES:])
    with pytest.raises(SpoolError, match=r"written in format 2.*install the newer release"):
        Spool(tmp_path).recover()


# -- bounded disk ------------------------------------------------------------------------------


def test_archived_segments_make_room_oldest_first(tmp_path: Path) -> None:
    spool = opened(tmp_path, segment_bytes=1, bytes_max=4000)
    for i in range(3):
        put(spool, 1 + 5 * i)
        spool.commit()
    for sealed in spool.segments()[:2]:
        spool.mark_archived(sealed)
    put(spool, 16, 40)
    spool.commit()
    assert spool.durable_ingest == 55
    assert [s.number for s in spool.segments()] == [2, 3, 4]
    assert spool.counters.segments_deleted == 1
    spool.close()


def test_a_full_spool_refuses_and_recovers_when_space_returns(tmp_path: Path) -> None:
    spool = opened(tmp_path, segment_bytes=1, bytes_max=2800)
    put(spool, 1, 20)
    spool.commit()
    put(spool, 21, 20)  # taken, does not fit
    assert spool.commit() == 20
    assert spool.condition is Condition.FULL
    assert "no archived segment is left" in spool.problem
    assert not spool.append(tick_group(spool, "EURUSD", 41, [1]))
    assert spool.counters.refused == 1
    spool.mark_archived(spool.segments()[0])
    assert spool.commit() == 40
    assert spool.condition is Condition.READY
    put(spool, 41, 1)
    assert spool.commit() == 41
    spool.close()
    assert [group.ingest for group in read(tmp_path)] == [21, 41]


def test_the_last_byte_that_is_allowed_is_used_and_no_other(tmp_path: Path) -> None:
    spool = opened(tmp_path / "free")
    put(spool, 1)
    put(spool, 6)
    spool.commit()
    (segment,) = spool.segments()
    spool.close()
    for bytes_max, durable in ((segment.size_bytes, 10), (segment.size_bytes - 1, 0)):
        small = opened(tmp_path / str(bytes_max), bytes_max=bytes_max)
        put(small, 1)
        put(small, 6)
        assert small.commit() == durable
        small.close()


class FullDisk(Disk):
    """A device with room for `room` bytes more."""

    room = 1 << 30

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        part = data[: max(self.room, 0)]
        super().write_at(file, part, offset)
        self.room -= len(part)
        if len(part) < len(data):
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_device_is_survived_in_the_same_way(tmp_path: Path) -> None:
    disk = FullDisk()
    spool = opened(tmp_path, disk=disk)
    put(spool, 1)
    spool.commit()
    disk.room = 100
    put(spool, 6)
    assert spool.commit() == 5
    assert "No space left" in spool.problem
    assert not spool.append(tick_group(spool, "EURUSD", 11, [1]))
    assert [group.ingest for group in read(tmp_path)] == [1]
    disk.room = 1 << 30
    assert spool.commit() == 10
    put(spool, 11)
    spool.close()
    assert [group.ingest for group in read(tmp_path)] == [1, 6, 11]


class SmallDisk(FullDisk):
    """What is deleted is free again."""

    def remove(self, path: Path) -> None:
        self.room += path.stat().st_size
        super().remove(path)


def test_a_full_device_costs_archived_segments_the_oldest_first(tmp_path: Path) -> None:
    disk = SmallDisk()
    spool = opened(tmp_path, disk=disk)
    for first, count in ((1, 100), (101, 5), (106, 5)):
        put(spool, first, count)
        spool.commit()
        spool.rotate()
    for sealed in spool.segments()[:2]:
        spool.mark_archived(sealed)
    disk.room = 10
    put(spool, 111)
    assert spool.commit() == 110
    assert spool.counters.segments_deleted == 1
    assert spool.commit() == 115
    assert [group.ingest for group in read(tmp_path)] == [101, 106, 111]
    spool.close()


def test_the_newest_segment_stays_for_it_alone_knows_the_numbering(tmp_path: Path) -> None:
    disk = SmallDisk()
    spool = opened(tmp_path, disk=disk)
    put(spool, 1, 100)
    spool.commit()
    spool.rotate()
    spool.mark_archived(spool.segments()[0])
    disk.room = 10
    put(spool, 101)
    for _ in range(3):
        assert spool.commit() == 100
    name = spool.recovered.spool
    again = opened(crashed(tmp_path))
    assert (again.recovered.spool, again.next_ingest) == (name, 101)
    again.close()


def test_a_disk_that_fails_ends_the_spool_for_good(tmp_path: Path) -> None:
    with recording(tmp_path) as disk:
        spool = opened(tmp_path / "spool")
        put(spool, 1)
        disk.arm(Fault(1, errno.EIO, "sync"))
        with pytest.raises(SpoolError, match="Input/output error"):
            spool.commit()
        assert (spool.condition, spool.durable_ingest) == (Condition.FAILED, 0)
        assert not spool.append(tick_group(spool, "EURUSD", 6, [1]))
        with pytest.raises(SpoolError, match="has failed before"):
            spool.commit()
        spool.close()
    opened(tmp_path / "spool").close()


def test_a_segment_that_could_not_be_renamed_is_sealed_before_the_next_one(tmp_path: Path) -> None:
    with recording(tmp_path, Fault(2, errno.ENOSPC, "rename")):  # the first one names the spool
        spool = opened(tmp_path, segment_bytes=1)
        put(spool, 1)
        spool.commit()
        assert [s.state for s in spool.segments()] == [State.OPEN]
        assert spool.durable_ingest == 5 and "No space" in spool.problem
        put(spool, 6)
        spool.commit()
        assert [s.state for s in spool.segments()] == [State.SEALED] * 2
        assert spool.problem == ""
        spool.close()


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a POSIX feature")
def test_the_operating_systems_own_refusal_is_survived(tmp_path: Path) -> None:
    """A real short write: the kernel takes some bytes of a commit and refuses the rest."""
    import resource

    spool = opened(tmp_path)
    put(spool, 1)
    spool.commit()
    size = spool.segments()[0].size_bytes
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    put(spool, 6)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
    try:
        assert spool.commit() == 5
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert spool.condition is Condition.FULL
    assert spool.segments()[0].size_bytes == size
    assert spool.commit() == 10
    spool.close()
    assert [group.ingest for group in read(tmp_path)] == [1, 6]


def test_a_device_without_room_for_a_new_segment(tmp_path: Path) -> None:
    disk = FullDisk()
    disk.room = 10
    spool = opened(tmp_path, disk=disk)
    put(spool, 1)
    assert spool.commit() == 0
    assert spool.segments() == []
    disk.room = 1 << 30
    assert spool.commit() == 5
    spool.close()


def test_a_segment_without_records_is_not_sealed(tmp_path: Path) -> None:
    """Else a full device would fill with segments, a new one for each attempt."""
    disk = FullDisk()
    disk.room = 200  # for the name and a checkpoint
    spool = opened(tmp_path, disk=disk, segment_bytes=1)
    put(spool, 1)
    for _ in range(2):
        assert spool.commit() == 0
        spool.rotate()
        assert [s.state for s in spool.segments()] == [State.OPEN]
    disk.room = 1 << 30
    assert spool.commit() == 5
    assert [s.number for s in spool.segments()] == [1]
    spool.close()


def test_appends_are_refused_while_too_much_waits_in_memory(tmp_path: Path) -> None:
    spool = opened(tmp_path, pending_bytes_max=500)
    put(spool, 1)
    assert not spool.append(tick_group(spool, "EURUSD", 6, [1, 2, 3, 4, 5]))
    spool.commit()
    put(spool, 6)
    spool.close()


def test_who_waits_for_something_to_commit_is_told_when_it_is_there(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    assert not spool.wait(0)
    put(spool, 1)
    assert spool.wait(0)
    spool.commit()
    assert not spool.wait(0)
    spool.close()


def test_the_operating_system_is_asked_to_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything durable goes through these two; all other tests play a disk behind them."""
    synced: list[int] = []
    for name in ("fdatasync", "fsync"):
        monkeypatch.setattr(os, name, lambda file: synced.append(os.fstat(file).st_ino))
    disk, path = Disk(), tmp_path / "file"
    file = disk.open(path)
    disk.sync(file)
    disk.close(file)
    disk.sync_directory(tmp_path)
    assert synced == [path.stat().st_ino, tmp_path.stat().st_ino]


# -- the committing thread ---------------------------------------------------------------------


def test_a_commit_thread_makes_appends_durable(tmp_path: Path) -> None:
    reached = threading.Event()
    spool = opened(tmp_path, on_durable=lambda done: reached.set() if done.ingest == 50 else None)
    thread = CommitThread(spool, clock_ms=lambda: 0)
    thread.start()
    for i in range(10):
        put(spool, 1 + 5 * i)
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
