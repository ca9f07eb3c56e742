"""An archive in an object store is the archive of the folder, whenever a publish ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from cep.archive import Archive, ArchiveError, compact, import_history, verify
from cep.archive.publish import Published, publish
from cep.archive.remote import Remote, remote_at
from mt5bridge.history import TickBlock
from mt5bridge.local import AddressError
from tests.archive.rows import Row, stored
from tests.backtest.archives import DAY_MS, START_MSC, walk
from tests.object_store import ObjectStore, object_store

SYMBOLS = ("EURUSD", "XAU/USD.x")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as found:
        yield found


@dataclass(slots=True)
class Counted:
    """A store that counts what is written, and from the n-th on refuses to."""

    remote: Remote
    fails_at: int = -1
    written: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        return self.remote.place

    def write(self, path: str, data: bytes) -> None:
        if len(self.written) == self.fails_at:
            raise OSError("the line is cut")
        self.written.append(path)
        self.remote.write(path, data)

    def read(self, path: str) -> bytes:
        return self.remote.read(path)

    def retire(self, paths: Iterable[str]) -> None:
        self.remote.retire(paths)

    def remove(self, path: str) -> None:
        self.remote.remove(path)

    def address(self, path: str) -> str:
        return self.remote.address(path)

    def absence(self) -> str:
        return self.remote.absence()

    def sizes(self) -> dict[str, int]:
        return self.remote.sizes()


def add(archive: Archive, symbol: str, start_msc: int) -> None:
    """Ticks of an hour whose prices are numbers, which are equal to themselves."""
    ticks = walk(np.random.default_rng(start_msc), start_msc, 3_600_000, 20)
    ticks["bid"] = np.nan_to_num(ticks["bid"])
    import_history(archive, [TickBlock(symbol, ticks)])


def add_day(archive: Archive, day: int) -> None:
    """A day of two symbols, a file each."""
    for name in SYMBOLS:
        add(archive, name, START_MSC + day * DAY_MS)


def add_hours(archive: Archive) -> None:
    """More of the first day, so that it has several files."""
    add(archive, SYMBOLS[0], START_MSC + 13 * 3_600_000)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    found = Archive(tmp_path / "archive")
    add_day(found, 0)
    return found


def rows_at(address: str) -> list[Row]:
    return stored(Archive(address))


def test_what_is_published_is_the_archive(archive: Archive, store: ObjectStore) -> None:
    address = store.new()
    told: list[tuple[int, int]] = []
    done = publish(archive, remote_at(address), on_bytes=lambda *one: told.append(one))
    there = Archive(address)
    assert done.copied == len(archive.manifest.files) == 2 and done.there == done.removed == 0
    assert told[-1] == (done.bytes, done.bytes) and len(told) == 2
    assert there.manifest == archive.manifest
    assert stored(there) == stored(archive) != []
    assert verify(there) == verify(archive) and verify(there).ok
    assert there.symbols() == archive.symbols()


def test_publishing_again_copies_what_is_new(archive: Archive, store: ObjectStore) -> None:
    target = Counted(remote_at(store.new()))
    first = publish(archive, target)
    assert target.written[-1] == "manifest.jsonl" and len(target.written) == 3
    target.written.clear()
    assert publish(archive, target) == Published(0, 0, first.copied, 0)
    assert target.written == []
    add_day(archive, 1)
    assert publish(archive, target).copied == 2 and publish(archive, target).there == 4
    assert len(target.written) == 3 and rows_at(target.place) == stored(archive)


@pytest.mark.parametrize("fails_at", range(3))
def test_a_publish_that_is_cut_leaves_the_old_archive(
    archive: Archive, store: ObjectStore, fails_at: int
) -> None:
    target = Counted(remote_at(store.new()), fails_at)
    with pytest.raises(OSError, match="cut"):
        publish(archive, target, jobs=1)
    with pytest.raises(ArchiveError, match="no archive here"):
        Archive(target.place).require()
    publish(archive, target.remote)
    before = stored(archive)
    assert rows_at(target.place) == before
    add_day(archive, 1)
    target.written.clear()
    with pytest.raises(OSError, match="cut"):
        publish(archive, target, jobs=1)
    assert rows_at(target.place) == before and verify(Archive(target.place)).ok
    assert publish(archive, target.remote).copied == 2 - fails_at
    assert rows_at(target.place) == stored(archive) != before


def test_who_reads_an_archive_reads_on(archive: Archive, store: ObjectStore) -> None:
    """What is replaced goes with the publish after the one that names it no more."""
    target = remote_at(store.new())
    add_hours(archive)
    publish(archive, target)
    reader = Archive(target.place)
    compact(archive)
    assert publish(archive, target).removed == 0
    assert stored(reader) == rows_at(target.place) == stored(archive)
    assert publish(archive, target) == Published(0, 0, 2, 2)
    assert rows_at(target.place) == stored(archive)
    with pytest.raises(ArchiveError, match=r"s3://bucket/.*\.parquet: missing"):
        stored(reader)


def test_a_manifest_in_parts_goes_with_the_files(
    archive: Archive, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every part is there before the head; those that no head names go as files do."""
    monkeypatch.setattr("cep.archive.manifest.FILES_IN_HEAD", 1)
    add_day(archive, 1)
    target = remote_at(store.new())
    assert publish(archive, target).copied == 4
    reader = Archive(target.place)
    assert reader.manifest == archive.manifest and archive.manifest.parts
    add_day(archive, 2)
    publish(archive, target)
    reader.refresh()
    assert stored(reader) == stored(archive)
    named = {*archive.manifest.paths, "manifest.jsonl"}
    assert named < set(target.sizes())
    assert publish(archive, target).copied == 0
    assert named == set(target.sizes())


def test_what_a_cut_publish_has_left_is_removed(archive: Archive, store: ObjectStore) -> None:
    target = Counted(remote_at(store.new()))
    publish(archive, target)
    add_hours(archive)
    target.fails_at = len(target.written) + 1
    with pytest.raises(OSError, match="cut"):
        publish(archive, target, jobs=1)
    assert len(target.sizes()) == 4
    compact(archive)
    assert publish(archive, target.remote).removed == 1
    assert rows_at(target.place) == stored(archive)


def test_damage_is_named_with_its_address_and_mended(archive: Archive, store: ObjectStore) -> None:
    target = remote_at(store.new())
    publish(archive, target)
    path = archive.manifest.files[0].path
    target.write(path, target.read(path)[:-1])
    report = verify(Archive(target.place))
    assert [problem.what for problem in report.problems] == [
        f"{target.address(path)}: its checksum is wrong; restore it from a copy"
    ]
    assert publish(archive, target).copied == 1 and verify(Archive(target.place)).ok


def test_damage_here_is_not_copied(archive: Archive, store: ObjectStore) -> None:
    target = remote_at(store.new())
    path = archive.path(archive.manifest.files[0])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArchiveError, match="its checksum is wrong"):
        publish(archive, target)
    path.unlink()
    with pytest.raises(ArchiveError, match="gone; where others write"):
        publish(archive, target)
    assert "manifest.jsonl" not in target.sizes()


def test_nothing_of_others_is_replaced(
    archive: Archive, store: ObjectStore, tmp_path: Path
) -> None:
    target = remote_at(store.new())
    other = Archive(tmp_path / "other")
    for day in (1, 2):
        add_day(other, day)
    publish(other, target)
    before = target.sizes()
    add_day(archive, 3)
    with pytest.raises(ArchiveError, match=r"s3://bucket/\d+/ticks: another archive is there"):
        publish(archive, target)
    for day in (4, 5):
        add_day(archive, day)  # as new as, and newer than, that one
        with pytest.raises(ArchiveError, match="another archive is there"):
            publish(archive, target)
    assert target.sizes() == before


def test_an_older_copy_does_not_replace_the_newer(archive: Archive, store: ObjectStore) -> None:
    target = remote_at(store.new())
    old = (archive.directory / "manifest.jsonl").read_bytes()
    add_day(archive, 1)
    publish(archive, target)
    (archive.directory / "manifest.jsonl").write_bytes(old)
    with pytest.raises(ArchiveError, match="or this one as it was later"):
        publish(Archive(archive.directory), target)
    assert len(Archive(target.place).manifest.files) == 4


def test_files_in_the_way_are_named(archive: Archive, store: ObjectStore) -> None:
    target = remote_at(store.new())
    target.write("notes/of/somebody.txt", b"mine")
    with pytest.raises(ArchiveError, match=r"ticks/notes/of/somebody\.txt: is there, and no"):
        publish(archive, target)
    assert list(target.sizes()) == ["notes/of/somebody.txt"]
    target.remove("notes/of/somebody.txt")
    target.remove("notes/of/somebody.txt")
    path = archive.manifest.files[0].path
    target.write(path, b"another")
    with pytest.raises(ArchiveError, match=r"\.parquet: is there, and no archive there names it"):
        publish(archive, target)
    assert target.read(path) == b"another"


def test_archives_are_written_here(archive: Archive, store: ObjectStore, tmp_path: Path) -> None:
    target = remote_at(store.new())
    publish(archive, target)
    there = Archive(target.place)
    with pytest.raises(AddressError, match="archive publish"):
        import_history(there, [])
    with pytest.raises(AddressError, match="archive publish"):
        compact(there)
    with pytest.raises(ArchiveError, match="no such archive"):
        publish(Archive(tmp_path / "none"), target)
