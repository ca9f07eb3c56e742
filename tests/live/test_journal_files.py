"""The files of the journal: full ones, the oldest of them gone, cut back, followed, set aside."""

from __future__ import annotations

import json
from contextlib import closing
from errno import EIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.live.journal import PIECE_BYTES, Journal, set_aside
from cep.live.journal_files import parts_of
from cep.live.journal_reader import JournalReader
from mt5bridge.spool.disk import Disk
from tests.live.service import (
    Service,
    address,
    play,
    terminal,
    walks,
    write_settings,
)  # fmt: skip
from tests.live.test_restart import play_through_kills

NAME = "events.jsonl"


def rows(first: int, last: int) -> list[dict[str, Any]]:
    return [{"stream": "Odd" if n % 2 else "Even", "number": n} for n in range(first, last)]


def opened(folder: Path, keep_bytes: int = 0, files_max: int = 100) -> Journal:
    return Journal(folder / NAME, keep_bytes, file_bytes=100, files_max=files_max)


class FailsOnce(Disk):
    """The first sync fails."""

    syncs = 0

    def sync(self, number: int) -> None:
        self.syncs += 1
        if self.syncs == 1:
            raise OSError(EIO, "gone")
        super().sync(number)


def test_nothing_is_on_disk_behind_a_sync_that_failed(tmp_path: Path) -> None:
    """Else a snapshot would count rows that a loss of power takes."""
    disk = FailsOnce()
    with closing(Journal(tmp_path / NAME, disk=disk)) as journal:
        journal.add(rows(0, 3))
        with pytest.raises(OSError, match="a sync failed: gone"):
            journal.sync()
        journal.add(rows(3, 6))
        with pytest.raises(OSError, match="a sync has failed before"):
            journal.sync()
    assert disk.syncs == 1


def filled(folder: Path, count: int, files_max: int = 100) -> int:
    """Write so many rows, one at a time; how many bytes they take."""
    with closing(opened(folder, files_max=files_max)) as journal:
        for number in range(count):
            journal.add(rows(number, number + 1))
            journal.write()
        return journal.size_bytes


def whole(folder: Path) -> bytes:
    parts = [part.path for part in parts_of(folder / NAME)]
    return b"".join(path.read_bytes() for path in [*parts, folder / NAME])


def numbers(lines: list[tuple[int, bytes]]) -> list[int]:
    return [json.loads(line)["number"] for _, line in lines]


def all_of(reader: JournalReader) -> list[int]:
    found: list[int] = []
    while lines := reader.read():
        found += numbers(lines)
    return found


def test_full_files_are_named_by_where_they_begin_and_hold_whole_lines(tmp_path: Path) -> None:
    size = filled(tmp_path, 30)
    parts = parts_of(tmp_path / NAME)
    assert len(parts) > 5 and parts[0].start == 0
    assert all(one.end == other.start for one, other in pairwise(parts))
    assert parts[-1].end + (tmp_path / NAME).stat().st_size == size
    assert all(100 <= part.end - part.start < 200 for part in parts)
    assert whole(tmp_path).count(b"\n") == 30


def test_the_oldest_full_files_go(tmp_path: Path) -> None:
    size = filled(tmp_path, 100, files_max=3)
    parts = parts_of(tmp_path / NAME)
    assert len(parts) == 3 and parts[0].start > 0
    assert parts[-1].end + (tmp_path / NAME).stat().st_size == size


def test_nothing_is_rotated_without_a_size(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / NAME)) as journal:
        journal.add(rows(0, 1_000))
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("files_max", [1, 3, 100])
def test_cut_back_to_any_row_it_becomes_what_it_was(tmp_path: Path, files_max: int) -> None:
    size = filled(tmp_path, 30, files_max)
    lines = [json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows(0, 30)]
    expected, ends = b"".join(lines), [len(b"".join(lines[:count])) for count in range(31)]
    for number, keep_bytes in enumerate(ends):
        with closing(opened(tmp_path, keep_bytes, files_max)) as journal:
            assert journal.size_bytes == keep_bytes
            for left in range(number, 30):
                journal.add(rows(left, left + 1))
                assert journal.repeats
                journal.write()
            assert journal.size_bytes == size
        assert whole(tmp_path) and expected.endswith(whole(tmp_path))
        assert all_of(JournalReader(tmp_path / NAME, ends[number]))[-1:] == (
            [29] if number < 30 else []
        )


def test_files_that_were_removed_leave_positions_as_they_were(tmp_path: Path) -> None:
    size = filled(tmp_path, 30)
    for path in tmp_path.iterdir():
        path.unlink()
    with closing(opened(tmp_path, size)) as journal:
        assert journal.size_bytes == size
        journal.add(rows(30, 31))
        journal.sync()
    with closing(opened(tmp_path, size)):
        pass
    assert parts_of(tmp_path / NAME)[-1].end == size


def test_a_reader_goes_on_over_full_files(tmp_path: Path) -> None:
    reader, found = JournalReader(tmp_path / NAME), []
    assert reader.read() == []
    with closing(opened(tmp_path)) as journal:
        for number in range(100):
            journal.add(rows(number, number + 1))
            journal.write()
            if number % 7 == 0:
                found += all_of(reader)
    found += all_of(reader)
    assert found == list(range(100)) and not reader.missed_bytes


def test_a_reader_that_comes_too_late_is_told_what_it_missed(tmp_path: Path) -> None:
    filled(tmp_path, 100, files_max=2)
    reader = JournalReader(tmp_path / NAME)
    found = all_of(reader)
    assert found == list(range(found[0], 100)) and found[0] > 50
    assert reader.missed_bytes == parts_of(tmp_path / NAME)[0].start


def test_a_reader_repeats_nothing_when_the_journal_is_cut_back(tmp_path: Path) -> None:
    filled(tmp_path, 30)
    reader = JournalReader(tmp_path / NAME)
    assert all_of(reader) == list(range(30))
    with closing(opened(tmp_path, 0)) as journal:
        assert reader.read() == []
        journal.add(rows(0, 20))
        journal.write()
        assert reader.read() == []
        journal.add(rows(20, 35))
    assert all_of(reader) == list(range(30, 35))


@pytest.mark.parametrize("count", [0, 1, 3, 10, 29, 30, 99])
def test_a_reader_begins_with_the_last(tmp_path: Path, count: int) -> None:
    filled(tmp_path, 30)
    reader = JournalReader(tmp_path / NAME)
    reader.go_to_last(count)
    assert all_of(reader) == list(range(30))[30 - min(count, 30) :]


def test_a_reader_goes_on_with_the_rows_of_other_rules(tmp_path: Path) -> None:
    filled(tmp_path, 10)
    reader = JournalReader(tmp_path / NAME)
    assert all_of(reader) == list(range(10))
    set_aside(tmp_path / NAME)
    with closing(opened(tmp_path)) as journal:
        journal.add(rows(50, 60))
    assert all_of(reader) == list(range(50, 60))


def test_a_long_line_is_read_whole(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as journal:
        journal.add([{"stream": "A", "number": 1, "text": "x" * 3_000_000}])
        journal.add(rows(2, 3))
    assert all_of(JournalReader(tmp_path / NAME)) == [1, 2]


def test_full_files_are_set_aside_too_and_count_among_those_kept(tmp_path: Path) -> None:
    filled(tmp_path, 30)
    before, parts = whole(tmp_path), parts_of(tmp_path / NAME)
    assert set_aside(tmp_path / NAME) == tmp_path / "events-1.jsonl"
    names = [f"events-1.{part.start:015d}.jsonl" for part in parts]
    files = [*(tmp_path / name for name in names), tmp_path / "events-1.jsonl"]
    assert b"".join(path.read_bytes() for path in files) == before
    with closing(opened(tmp_path, files_max=2)) as journal:
        assert journal.size_bytes == 0
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([names[-1], "events-1.jsonl", NAME])
    assert set_aside(tmp_path / NAME) is None


def test_many_rows_at_once_go_into_files_of_the_same_size(tmp_path: Path) -> None:
    """As where a start runs over all that was stored while its rules warmed up."""
    with closing(Journal(tmp_path / NAME, 0, file_bytes=100_000, files_max=100)) as journal:
        journal.add(rows(0, 20_000))
        journal.write()
        size_bytes = journal.size_bytes
    parts = parts_of(tmp_path / NAME)
    assert size_bytes == len(whole(tmp_path)) and len(parts) >= 4
    assert all(part.path.stat().st_size < 100_000 + 2 * PIECE_BYTES for part in parts)
    lines = whole(tmp_path).splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(20_000))


def test_after_kills_the_rotated_journal_is_that_of_an_uninterrupted_run(tmp_path: Path) -> None:
    ticks = walks("A", 30_000)
    keys = {
        "signals": {"send": False},
        "state": {"snapshot_records": 3_000, "journal_mib": 1, "journal_files": 100},
    }
    settings = write_settings(tmp_path / "killed", {**keys, "rules": {"streams": ["Mid", "Band"]}})
    state = settings.parent / "state"

    def has_rotated(daemons: int) -> bool:
        return len(parts_of(state / NAME)) >= daemons

    play_through_kills(settings, terminal(ticks), [9_000, 18_000], has_rotated, begins_warm=True)
    plain = write_settings(tmp_path / "plain", {**keys, "rules": {"streams": ["Mid", "Band"]}})
    with Service(plain):
        play(terminal(ticks), address(plain))
    assert whole(state) == whole(plain.parent / "state")
    assert len(parts_of(state / NAME)) >= 3
    shown = CliRunner().invoke(main, ["rows", "--config", str(settings)])
    assert shown.stdout_bytes == whole(state)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], range(30)),
        (["--last", "4"], range(26, 30)),
        (["--last", "0"], range(0)),
        (["--streams", "Odd"], range(1, 30, 2)),
        (["--streams", "Odd,Even", "--last", "2"], range(28, 30)),
    ],
)
def test_rows_are_printed(tmp_path: Path, options: list[str], expected: range) -> None:
    settings = write_settings(tmp_path)
    filled(tmp_path / "state", 30)
    found = CliRunner().invoke(main, ["rows", "--config", str(settings), *options])
    assert found.exit_code == 0, found.output
    assert [json.loads(line)["number"] for line in found.stdout.splitlines()] == list(expected)


def test_rows_can_be_asked_for_from_a_position(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    filled(tmp_path / "state", 30)
    call = ["rows", "--config", str(settings), "--positions"]
    first = [json.loads(line) for line in CliRunner().invoke(main, call).stdout.splitlines()]
    assert all(set(one) == {"position", "row"} for one in first), "no attribute can hide a place"
    place = first[12]["position"]
    again = CliRunner().invoke(main, [*call, "--from", str(place)]).stdout.splitlines()
    assert [json.loads(line) for line in again] == first[12:]


def test_rows_that_are_gone_are_told_and_options_that_exclude_each_other(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    filled(tmp_path / "state", 100, files_max=2)
    call = ["rows", "--config", str(settings)]
    found = CliRunner().invoke(main, call)
    assert "bytes are not there any more" in found.stderr
    assert (
        "which of both?" in CliRunner().invoke(main, [*call, "--from", "1", "--last", "1"]).stderr
    )
