"""The recording disk itself: it notices each broken order, and keeps what a device would."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from mt5bridge.spool import Disk
from mt5bridge.spool.disk import confirm, make_directories, replace_file
from tests.durability.recording import Fault, recording


def put(path: Path, data: bytes, *, is_synced: bool = True) -> None:
    disk = Disk()
    file = disk.open(path)
    disk.write_at(file, data, 0)
    if is_synced:
        disk.sync(file)
    disk.close(file)


def kept(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_file_is_kept_when_it_and_its_name_are_synced(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with recording(root) as disk:
        put(root / "a", b"aaa")
        assert disk.unsynced() == ["the name a in root is not synced"]
        Disk().sync_directory(root)
        put(root / "a", b"bbbb", is_synced=False)
        assert disk.unsynced() == ["a is not synced"]
        disk.acknowledged("b")
    assert disk.mistakes == ["b is acknowledged, a is not synced"]
    assert kept(disk.lose_power(tmp_path / "image")) == {"a": b"aaa"}


def test_a_directory_that_is_not_synced_takes_its_files_along(tmp_path: Path) -> None:
    with recording(tmp_path) as disk:
        Disk().make_directory(tmp_path / "new")
        replace_file(tmp_path / "new" / "a", b"a")
        assert disk.unsynced() == [f"the name new in {tmp_path.name} is not synced"]
        assert kept(disk.lose_power(tmp_path / "image")) == {}
        make_directories(tmp_path / "more" / "below")
        replace_file(tmp_path / "more" / "below" / "a", b"a")
    assert kept(disk.lose_power(tmp_path / "again")) == {"new/a": b"a", "more/below/a": b"a"}


def test_a_rename_before_a_sync_and_a_removal_before_both_are_noticed(tmp_path: Path) -> None:
    with recording(tmp_path) as disk:
        replace_file(tmp_path / "old", b"old")
        put(tmp_path / "draft", b"new", is_synced=False)
        Disk().rename(tmp_path / "draft", tmp_path / "new")
        assert disk.mistakes == ["draft is renamed and not synced"]
        Disk().remove(tmp_path / "old")
    assert disk.mistakes[1] == "old is removed, new is not synced"
    assert len(disk.mistakes) == 3, "nor is the name"


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_after_a_failed_sync_another_one_proves_nothing(tmp_path: Path, error: int) -> None:
    with recording(tmp_path, Fault(2, error, call="sync")) as disk:
        replace_file(tmp_path / "a", b"one")
        file = Disk().open(tmp_path / "a")
        Disk().write_at(file, b"two", 3)
        with pytest.raises(OSError, match=r"\[Errno"):
            Disk().sync(file)
        Disk().sync(file)
        Disk().close(file)
        assert kept(disk.lose_power(tmp_path / "image")) == {"a": b"one\0\0\0"}
        confirm(tmp_path / "a", b"onetwo")
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert kept(disk.lose_power(tmp_path / "again")) == {"a": b"onetwo"}


def test_half_of_a_failed_write_is_there(tmp_path: Path) -> None:
    with recording(tmp_path, Fault(1, errno.ENOSPC, call="write_at", path="a")):
        with pytest.raises(OSError, match="No space"):
            put(tmp_path / "a", b"1234")
        assert (tmp_path / "a").read_bytes() == b"12"
