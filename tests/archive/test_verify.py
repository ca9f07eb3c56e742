"""Verification names what is wrong: gaps, duplicates, disorder, damaged files, versions."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.archive import Archive, ArchiveError, Mode, ingest_spool, verify
from cep.archive.manifest import Lost
from cep.archive.parts import checksum, read_part, write_part
from cep.archive.paths import MANIFEST
from cep.archive.verify import Run, _runs, _sequence_problems
from mt5bridge.spool import Group, RecordKind, Spool, gap
from mt5bridge.spool.group import CLOCK
from tests.archive.rows import stored
from tests.spool.groups import tick_group


def stored_ticks(spool: Spool, archive: Archive, *first_sequences: int) -> None:
    """Segments of three ticks each, from the given sequence numbers."""
    for number, first in enumerate(first_sequences):
        spool.append(tick_group(spool, "EURUSD", first, 1000 * (number + 1) + np.arange(3)))
        spool.commit()
    spool.close()
    ingest_spool(spool.directory, archive)


def problems(archive: Archive) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in verify(archive).problems]


def test_a_whole_archive_has_no_problems(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1, 4, 7)
    report = verify(archive)
    assert report.ok
    assert (report.files, report.rows, report.streams) == (3, 9, 1)


def test_an_empty_archive_has_no_problems(archive: Archive) -> None:
    assert verify(archive).ok


def test_a_hole_is_named(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1, 7)
    assert problems(archive) == [
        "terminal ticks EURUSD: sequence 4-6 is missing and was not declared lost"
    ]


def test_a_hole_at_the_start_is_named(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 3)
    assert "sequence 1-2 is missing at the start" in problems(archive)[0]


def test_a_declared_hole_is_reported_and_is_no_problem(spool: Spool, archive: Archive) -> None:
    key = ("terminal", ("ticks", "EURUSD"))
    spool.append(gap(spool.next_ingest, key, 1, 2, "history deleted"))
    stored_ticks(spool, archive, 3)
    report = verify(archive)
    assert report.ok
    assert report.lost == (Lost("terminal", ("ticks", "EURUSD"), 1, 2, "history deleted"),)


def test_part_of_a_hole_that_was_not_declared_is_named(spool: Spool, archive: Archive) -> None:
    key = ("terminal", ("ticks", "EURUSD"))
    spool.append(gap(spool.next_ingest, key, 5, 5, "history deleted"))
    stored_ticks(spool, archive, 1, 8)
    assert [text.split("sequence ")[1].split(" is")[0] for text in problems(archive)] == [
        "4-4", "6-7",
    ]  # fmt: skip


def test_a_damaged_file_is_named(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1, 4)
    victim = archive.path(archive.files()[1])
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    assert any(victim.name in text and "checksum" in text for text in problems(archive))


def test_damage_is_noticed_while_reading(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1)
    victim = archive.path(archive.files()[0])
    whole = victim.read_bytes()
    for place in range(0, len(whole), 97):
        victim.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ArchiveError, match="checksum"):
            stored(archive)


def test_a_missing_file_is_named(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1)
    victim = archive.path(archive.files()[0])
    victim.unlink()
    assert any(victim.name in text and "missing" in text for text in problems(archive))


def test_files_that_left_the_manifest_are_missed(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1, 4)
    manifest = archive.manifest
    archive.manifest = msgspec.structs.replace(manifest, files=manifest.files[:1])
    assert problems(archive) == ["terminal ticks EURUSD: sequence 4-6 was archived and is missing"]


def test_one_record_that_left_is_missed(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1)
    manifest = archive.manifest
    ends = [msgspec.structs.replace(end, sequence=4) for end in manifest.ends]
    archive.manifest = msgspec.structs.replace(manifest, ends=tuple(ends))
    assert problems(archive) == ["terminal ticks EURUSD: sequence 4-4 was archived and is missing"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 4}, "3 rows, the manifest says 4"),
        ({"rows": 2}, "3 rows, the manifest says 2"),
        ({"first_ingest": 1}, "its ingest numbers are not those of the manifest"),
        ({"last_ingest": 1}, "its ingest numbers are not those of the manifest"),
    ],
)
def test_a_file_that_is_not_what_the_manifest_says(
    spool: Spool, archive: Archive, changes: dict[str, int], message: str
) -> None:
    stored_ticks(spool, archive, 1)
    manifest = archive.manifest
    file = msgspec.structs.replace(manifest.files[0], **changes)
    archive.manifest = msgspec.structs.replace(manifest, files=(file,))
    assert problems(archive) == [f"{file.path}: {message}"]


@pytest.mark.parametrize("numbers", [[2, 1, 3], [1, 1, 3], [1, 2, 2]])
def test_rows_out_of_order_are_named(spool: Spool, archive: Archive, numbers: list[int]) -> None:
    stored_ticks(spool, archive, 1)
    manifest = archive.manifest
    table = read_part(archive.store, manifest.files[0])
    place = table.column_names.index("ingest")
    table = table.set_column(place, "ingest", pa.array(np.array(numbers) + 10**9))
    date = manifest.files[0].date
    file = write_part(archive.store, "ticks", "EURUSD", date, table, Mode.LIVED)
    archive.manifest = msgspec.structs.replace(manifest, files=(file,))
    assert problems(archive) == [f"{file.path}: its rows are not in ingest order"]


def test_files_that_stand_in_the_wrong_order_are_named(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1, 4)
    manifest = archive.manifest
    table = read_part(archive.store, manifest.files[1])
    place = table.column_names.index("ingest")
    table = table.set_column(place, "ingest", pa.array(np.arange(3) - 100))
    date = manifest.files[1].date
    file = write_part(archive.store, "ticks", "EURUSD", date, table, Mode.LIVED)
    archive.manifest = msgspec.structs.replace(manifest, files=(manifest.files[0], file))
    assert problems(archive) == [f"terminal ticks EURUSD: sequence 4 ({file.path}) stands before 3"]


def test_what_one_source_lost_excuses_no_other(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1, 7)
    manifest = archive.manifest
    for source, stream, is_ok in (
        ("other", ("ticks", "EURUSD"), False),
        ("terminal", ("ticks", "GBPUSD"), False),
        ("terminal", ("ticks", "EURUSD"), True),
    ):
        lost = (Lost(source, stream, 4, 6, "off"),)
        archive.manifest = msgspec.structs.replace(manifest, lost=lost)
        assert verify(archive).ok is is_ok


def test_records_of_the_clock_have_no_sequence(spool: Spool, archive: Archive) -> None:
    clock = np.zeros(2, CLOCK)
    clock["time_msc"] = [5, 6]
    for sequence in (7, 7):
        spool.append(Group(spool.next_ingest, RecordKind.CLOCK, "", ("clock",), sequence, clock))
        spool.commit()
    spool.close()
    ingest_spool(spool.directory, archive)
    assert verify(archive).ok and verify(archive).files > 0


def test_a_damaged_spool_segment_is_named(spool: Spool, archive: Archive) -> None:
    spool.append(tick_group(spool, "EURUSD", 1, [1, 2, 3]))
    spool.append(tick_group(spool, "EURUSD", 4, [4]))
    spool.close()
    path = spool.segments()[0].path
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    ingest_spool(spool.directory, archive)
    assert any(path.stem in text and "could not be read" in text for text in problems(archive))


def edit_manifest(archive: Archive, **changes: object) -> None:
    path = archive.directory / MANIFEST
    head, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps({**json.loads(head), **changes}) + "\n" + rest)


def test_an_archive_of_a_newer_version_is_refused(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1)
    edit_manifest(archive, version=5)
    with pytest.raises(ArchiveError, match=r"written in version 5.*install the newer release"):
        Archive(archive.directory)


def test_a_cut_manifest_is_refused(spool: Spool, archive: Archive) -> None:
    stored_ticks(spool, archive, 1)
    path = archive.directory / MANIFEST
    lines = path.read_bytes().splitlines()
    for wrong in (lines[:-1], [*lines, lines[-1]]):
        path.write_bytes(b"\n".join(wrong))
        with pytest.raises(ArchiveError, match="entries where"):
            Archive(archive.directory)


@pytest.mark.parametrize("content", [b"", b"{}\n", b"not json\n", b'{"format":"x","version":1}\n'])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(ArchiveError, match=MANIFEST):
        Archive(tmp_path)


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=14),
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), max_size=3),
    st.integers(0, 14),
)
def test_run_checks_agree_with_counting(
    sequence: list[int], declared: list[tuple[int, int]], cut: int
) -> None:
    """No problem exactly when each number up to the last is there once, in order, or declared."""
    lost = [Lost("s", ("ticks", "A"), first, first + more, "") for first, more in declared]
    seq, ingest = np.array(sequence), np.arange(len(sequence))
    runs = [
        run
        for part in (slice(0, cut), slice(cut, None))
        if len(seq[part])
        for run in _runs(seq[part], ingest[part], "file")
    ]
    covered = {n for gap_ in lost for n in range(gap_.first, gap_.last + 1)}
    complete = set(range(1, max(sequence))) <= set(sequence) | covered
    assert (not list(_sequence_problems(runs, lost))) == (
        complete and sequence == sorted(set(sequence))
    )


def test_what_is_there_twice_is_named_exactly() -> None:
    """Also within a long run; what that holds is not missing between the others."""

    def said(*ranges: tuple[int, int]) -> list[str]:
        runs = [Run(first, last, first, last, f"{first}") for first, last in ranges]
        return [what.split(" is ")[0] for what in _sequence_problems(runs, [])]

    assert said((1, 3), (2, 6)) == ["sequence 2-3"]
    assert said((1, 9), (2, 3), (5, 6), (11, 12)) == [
        "sequence 2-3", "sequence 5-6", "sequence 10-10",
    ]  # fmt: skip


def test_checksums_are_those_of_archives_written_before() -> None:
    assert checksum(b"a part") == "12b4530d186b8f6765a47e2a0e2de5ae"
