"""What a spool may take, and disks that are full, fail, or are asked to sync."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from mt5bridge.spool import (
    Condition,
    Disk,
    SegmentState,
    SpoolError,
    read,
)
from mt5bridge.spool.disk import confirm, replace_file
from tests.durability.recording import Fault, recording
from tests.spool.groups import (
    crashed,
    opened,
    put,
    tick_group,
)


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
        assert [s.state for s in spool.segments()] == [SegmentState.OPEN]
        assert spool.durable_ingest == 5 and "No space" in spool.problem
        put(spool, 6)
        spool.commit()
        assert [s.state for s in spool.segments()] == [SegmentState.SEALED] * 2
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
        assert [s.state for s in spool.segments()] == [SegmentState.OPEN]
    disk.room = 1 << 30
    assert spool.commit() == 5
    assert [s.number for s in spool.segments()] == [1]
    spool.close()


def test_appends_are_refused_while_too_much_waits_in_memory(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    size = len(tick_group(spool, "EURUSD", 1, [1, 2, 3, 4, 5]).encode())
    spool.pending_bytes_max = size
    put(spool, 1)
    assert spool.pending_bytes == size
    assert not spool.append(tick_group(spool, "EURUSD", 6, [1, 2, 3, 4, 5]))
    spool.commit()
    put(spool, 6)
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


def test_a_file_ends_with_what_is_put_there_and_is_let_go(tmp_path: Path) -> None:
    """A descriptor left open for each snapshot would end the daemon in a day or two."""
    path = tmp_path / "file"
    with recording(tmp_path) as disk:
        for data in (b"abcdef", b"xyz"):
            replace_file(path, data)
            assert path.read_bytes() == data
        confirm(path, b"xy")
        assert path.read_bytes() == b"xy"
        confirm(path, b"ab", offset=1)
        assert path.read_bytes() == b"xab"
        assert not disk.files
