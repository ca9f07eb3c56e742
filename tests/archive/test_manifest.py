"""The manifest of a large archive: parts by stream and month, and a head that stays small."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.archive import Archive, ArchiveError, File, Manifest, Mode, verify
from cep.archive import manifest as module
from cep.archive.manifest import load, save
from cep.archive.paths import MANIFEST, PARTS, date_of
from cep.archive.store import Folder
from mt5bridge.spool import Spool
from tests.archive.test_verify import stored_ticks
from tests.campaign import examples


@dataclass(frozen=True, slots=True)
class Counted(Folder):
    """A folder that knows what was written."""

    written: dict[str, int] = field(default_factory=dict)

    def write(self, path: str, data: bytes) -> None:
        self.written[path] = len(data)
        Folder.write(self, path, data)


def file(number: int, day: int, stream: str = "ticks") -> File:
    date = date_of(day)
    return File(
        stream=stream, symbol=f"S{number % 100}", date=date, mode=Mode.LIVED, rows=1, bytes=1_234,
        path=f"{stream}/date={date}/symbol=S{number % 100}/{number:020d}-{number:020d}.parquet",
        checksum=f"{number:032x}", first_ingest=number, last_ingest=number, first_msc=number,
        last_msc=number, sequences=(),
    )  # fmt: skip


changes = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 120), st.sampled_from(["ticks", "deals"])), max_size=6),
        st.lists(st.integers(0, 30), max_size=4),  # places of files that go
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=examples(100))
@given(changes)
def test_it_is_read_as_it_was_written(steps: list[tuple[list[tuple[int, str]], list[int]]]) -> None:
    """Beside one that is one file: the same entries, and of the parts only new ones are written."""
    number = 0
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FILES_IN_HEAD", 3)
        store, now = Counted(Path(folder)), Manifest()
        for new, gone in steps:
            files = [one for place, one in enumerate(now.files) if place not in gone]
            for day, stream in new:
                number += 1
                files.append(file(number, day, stream))
            before = {part.path for part, _ in now.parts}
            store.written.clear()
            now = save(store, msgspec.structs.replace(now, files=tuple(files)))
            assert set(load(store).files) == set(files)
            parts = {part.path for part, _ in now.parts}
            assert bool(parts) == (len(files) > 3)
            assert set(store.written) == {MANIFEST} | (parts - before)
            assert {path.name for path in (Path(folder) / PARTS).glob("*")} == {
                Path(path).name for path in parts
            }
            months = [{(one.stream, one.date[:7]) for one in listed} for _, listed in now.parts]
            assert all(len(found) == 1 for found in months)


def test_the_head_of_100_000_files_stays_small(tmp_path: Path) -> None:
    """docs/backtest.md: "a commit writes the parts of the months that it changes"."""
    store = Counted(tmp_path)
    files = tuple(file(number, 15_000 + number // 60) for number in range(100_000))
    whole = save(store, Manifest(files=files))
    assert store.written[MANIFEST] < 16 << 10 and len(whole.parts) > 50
    store.written.clear()
    one = save(store, msgspec.structs.replace(whole, files=(*files, file(100_000, 16_666))))
    assert len(store.written) == 2 and sum(store.written.values()) < 2 << 20
    assert load(store).files == one.files


def test_a_small_one_is_one_file_that_earlier_releases_read(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    save(store, Manifest(files=tuple(file(number, 1) for number in range(50))))
    assert b'"version":1' in store.read(MANIFEST) and not (tmp_path / PARTS).exists()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda path: path.unlink(), "missing; restore"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "its checksum is wrong"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"S1", b"S2")), "its checksum"),
    ],
)
def test_a_part_that_is_damaged_is_named(tmp_path: Path, spoil: object, told: str) -> None:
    save(Folder(tmp_path), Manifest(files=tuple(file(n, n) for n in range(2_001))))
    victim = sorted((tmp_path / PARTS).iterdir())[0]
    assert callable(spoil)
    spoil(victim)
    with pytest.raises(ArchiveError, match=f"{victim.name}: {told}"):
        Archive(tmp_path)


def test_what_a_parted_archive_holds_is_proven(
    spool: Spool, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FILES_IN_HEAD", 0)
    stored_ticks(spool, archive, 1)
    assert (archive.directory / PARTS).is_dir()
    assert archive.files() == Archive(archive.directory).files()
    assert verify(Archive(archive.directory)).ok
