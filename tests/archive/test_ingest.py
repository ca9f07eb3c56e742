"""Spool to archive: every record once, in order, whatever happens in between."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.archive import (
    Archive,
    ArchiveError,
    Mode,
    compact,
    import_history,
    ingest_spool,
    manifest,
    verify,
)
from cep.archive.ingest import INGEST_BITS
from cep.archive.merge import merged
from cep.archive.parts import write_part
from cep.archive.paths import DAY_MS, PARTS, decode_name, encode_name
from cep.archive.store import Folder
from cep.archive.tables import as_table
from mt5bridge.history.block import TickBlock
from mt5bridge.spool import Disk, Group, SegmentState, Spool, gap
from mt5bridge.spool.segment import HEADER_BYTES
from tests.archive.rows import expected, stored
from tests.campaign import examples
from tests.spool.groups import START_MSC, clock_group, deal_group, tick_group, ticks

MIDNIGHT = (START_MSC // DAY_MS + 1) * DAY_MS


def fill(spool: Spool) -> list[Group]:
    """Two symbols over midnight, deals, a clock record and a gap, in three segments."""
    groups = []

    def put(group: Group) -> None:
        assert spool.append(group)
        groups.append(group)

    put(tick_group(spool, "EURUSD", 1, MIDNIGHT + np.array([-3000, -2000, -1]), utc_offset_ms=0))
    put(tick_group(spool, "BRK.B/x", 1, MIDNIGHT + np.array([-2, 5]) + 7_200_000,
                   utc_offset_ms=7_200_000))  # fmt: skip
    spool.commit()
    put(tick_group(spool, "EURUSD", 4, MIDNIGHT + np.array([4, 4, -1, 9])))
    put(deal_group(spool, 1, [11, 12]))
    put(clock_group(spool, MIDNIGHT + 60_000))
    spool.commit()
    put(gap(spool.next_ingest, ("terminal", ("ticks", "EURUSD")), 8, 9, "terminal was off"))
    put(tick_group(spool, "EURUSD", 1, MIDNIGHT + np.array([70_000]), source="second"))
    put(tick_group(spool, "EURUSD", 10, MIDNIGHT + np.array([80_000])))
    spool.close()
    return groups


def base_of(archive: Archive) -> int:
    return archive.manifest.origins[0].base


def test_every_tick_is_stored_with_all_its_columns(spool: Spool, archive: Archive) -> None:
    groups = fill(spool)
    told: list[tuple[int, int]] = []
    done = ingest_spool(spool.directory, archive, on_segment=lambda *found: told.append(found))
    assert (done.segments, done.rows, done.duplicates) == (3, 14, 0)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert stored(archive) == expected(groups, base_of(archive))


def test_deals_and_clock_records_are_stored_too(spool: Spool, archive: Archive) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    deals = next(archive.read_batches("deals"))
    assert deals["ticket"].to_pylist() == [11, 12]
    assert deals["comment"].to_pylist() == ["Käufer", "Käufer"]
    assert deals["symbol"].to_pylist() == ["EURUSD", "EURUSD"]
    clock = next(archive.read_batches("clock"))
    assert clock["time_msc"].to_pylist() == [MIDNIGHT + 60_000]


def test_running_again_adds_nothing(spool: Spool, archive: Archive) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    before = stored(archive)
    for segment in spool.segments():
        assert segment.state is SegmentState.ARCHIVED
        segment.path.replace(segment.path.with_suffix(".seg"))
    again = ingest_spool(spool.directory, archive)
    assert (again.segments, again.rows) == (3, 0)
    assert stored(archive) == before


def test_compacting_again_rewrites_nothing(spool: Spool, archive: Archive) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    done = compact(archive)
    assert (done.partitions, done.files_before, done.files_after) == (2, 8, 6)
    files = archive.files()
    assert compact(archive).partitions == 0 and archive.files() == files


def test_open_segments_are_taken_on_request_and_only_their_rest_later(
    tmp_path: Path, archive: Archive
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.recover()
    groups = [tick_group(spool, "EURUSD", 1, [1, 2])]
    spool.append(groups[0])
    spool.commit()
    assert ingest_spool(spool.directory, archive).rows == 0
    assert ingest_spool(spool.directory, archive, include_open=True).rows == 2
    groups.append(tick_group(spool, "EURUSD", 3, [3, 4]))
    spool.append(groups[1])
    spool.close()
    assert ingest_spool(spool.directory, archive).rows == 2
    assert stored(archive) == expected(groups, base_of(archive))


def test_nothing_is_taken_from_behind_an_open_segment(spool: Spool, archive: Archive) -> None:
    """One that could not be renamed: its numbers would count as archived with those behind it."""
    groups = fill(spool)
    first = spool.segments()[0].path
    open_one = first.with_suffix(".open")
    first.rename(open_one)
    assert ingest_spool(spool.directory, archive).rows == 0
    open_one.rename(first)
    ingest_spool(spool.directory, archive)
    assert stored(archive) == expected(groups, base_of(archive))


def test_records_sent_again_under_the_same_sequence_are_dropped(
    spool: Spool, archive: Archive
) -> None:
    kept = tick_group(spool, "EURUSD", 1, [10, 11, 12])
    spool.append(kept)
    spool.commit()
    ingest_spool(spool.directory, archive)
    spool.append(tick_group(spool, "EURUSD", 2, [11, 12, 13]))
    spool.close()
    done = ingest_spool(spool.directory, archive)
    assert (done.rows, done.duplicates) == (1, 2)
    assert [row[2:4] for row in stored(archive)] == [(1, 10), (2, 11), (3, 12), (4, 13)]
    assert verify(archive).ok


def test_a_new_spool_comes_after_the_old_one(tmp_path: Path, archive: Archive) -> None:
    for number, name in enumerate(("one", "two")):
        spool = Spool(tmp_path / name)
        spool.recover()
        spool.append(tick_group(spool, "EURUSD", 1 + 2 * number, [1000 + number, 1005]))
        spool.close()
        ingest_spool(spool.directory, archive)
    ingest = [row[0] for row in stored(archive)]
    assert ingest == [1000 << INGEST_BITS, (1000 << INGEST_BITS) + 1,
                      1001 << INGEST_BITS, (1001 << INGEST_BITS) + 1]  # fmt: skip
    assert verify(archive).ok


def test_a_spool_is_known_by_any_segment_that_can_say_it(spool: Spool, archive: Archive) -> None:
    groups = fill(spool)
    for number, segment in enumerate(spool.segments()):
        data = bytearray(segment.path.read_bytes())
        data[HEADER_BYTES + 30] ^= 1  # in the checkpoint, which comes first
        segment.path.write_bytes(data)
        if number == 1:
            copied = shutil.copytree(spool.directory, archive.directory.with_name("copy"))
    with pytest.raises(ArchiveError, match="no segment has a readable first block"):
        ingest_spool(spool.directory, archive)
    done = ingest_spool(copied, archive)
    assert (done.segments, done.files, done.rows, done.damaged) == (3, 8, 14, 2)
    assert stored(archive) == expected(groups, base_of(archive))


def test_a_missing_spool_is_named(tmp_path: Path, archive: Archive) -> None:
    with pytest.raises(ArchiveError, match="no such spool directory"):
        ingest_spool(tmp_path / "nowhere", archive)


# -- reading -----------------------------------------------------------------------------------


def test_a_range_and_symbols_can_be_chosen(spool: Spool, archive: Archive) -> None:
    groups = fill(spool)
    ingest_spool(spool.directory, archive)
    rows = expected(groups, base_of(archive))
    chosen = [row for row in rows if MIDNIGHT - 2 <= row[3] < MIDNIGHT + 9]
    assert stored(archive, from_msc=MIDNIGHT - 2, to_msc=MIDNIGHT + 9) == chosen
    only = [row for row in rows if row[-1] == "BRK.B/x"]
    assert stored(archive, symbols={"BRK.B/x"}) == only
    assert archive.symbols() == {"EURUSD": rows[0][0], "BRK.B/x": only[0][0]}
    assert list(archive.symbols(from_msc=MIDNIGHT - 2, to_msc=MIDNIGHT - 1)) == ["BRK.B/x"]


def test_symbols_that_begin_together_are_in_order_of_their_names(archive: Archive) -> None:
    """Also when the file of the later name begins earlier, before the range."""
    for symbol, before in (("B", 5), ("A", 6)):
        import_history(archive, [TickBlock(symbol, ticks(np.array([before, 20])))])
    number = 20 << INGEST_BITS
    assert list(archive.symbols(from_msc=10).items()) == [("A", number), ("B", number)]
    assert list(archive.symbols()) == ["B", "A"]


def test_columns_can_be_chosen(spool: Spool, archive: Archive) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    batch = next(archive.read_batches(columns=["bid"]))
    assert batch.schema.names == ["ingest", "time_msc", "bid", "symbol"]


files_of_numbers = st.lists(
    st.tuples(st.sampled_from("AB"), st.sets(st.integers(0, 30), min_size=1)), max_size=5
)


@settings(deadline=None, max_examples=examples(60))
@given(files_of_numbers, st.integers(1, 7))
def test_merging_files_is_sorting_all_their_rows(
    content: list[tuple[str, set[int]]], batch_rows: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for number, (symbol, numbers) in enumerate(content):
            ingest = np.array(sorted(numbers))
            columns = dict.fromkeys(("ingest", "seq", "time_msc", "raw_time_msc"), ingest)
            columns |= dict.fromkeys(("utc_offset_ms", "quality", "source"), ingest * 0)
            table = as_table("ticks", symbol, columns, ticks(ingest), [f"source {number}"])
            day = f"2020-01-{number + 1:02d}"
            files.append(
                write_part(Folder(Path(directory)), "ticks", symbol, day, table, Mode.LIVED)
            )
        files.sort(key=lambda file: (file.first_ingest, file.symbol, file.path))
        tables = list(merged(Folder(Path(directory)), files, None, batch_rows))
        rows = [pair for table in tables
                for pair in zip(table["ingest"].to_pylist(), table["symbol"].to_pylist(),
                                strict=True)]  # fmt: skip
        assert rows == sorted((n, symbol) for symbol, numbers in content for n in numbers)
        assert all(table.num_rows <= batch_rows * len(files) for table in tables)


def test_files_are_partitioned_by_date_and_symbol_with_safe_names(
    spool: Spool, archive: Archive
) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    folders = {Path(file.path).parent.as_posix() for file in archive.files(symbols={"BRK.B/x"})}
    assert folders == {f"ticks/date=2023-11-{day}/symbol=BRK%2EB%2Fx" for day in (14, 15)}
    for file in archive.files():
        assert pq.read_metadata(archive.path(file)).num_rows == file.rows


@given(st.text(max_size=20))
def test_any_symbol_is_one_safe_path_component(symbol: str) -> None:
    name = encode_name(symbol)
    assert decode_name(name) == symbol
    assert name not in ("", ".", "..")
    assert not set(name) & set('/\\:*?"<>|\0 .')


# -- any order of writing, archiving, compacting ------------------------------------------------

steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("ticks"),
            st.sampled_from(["A", "B"]),
            st.lists(st.integers(-5, 5), min_size=1, max_size=4),
        ),
        st.just(("commit",)),
        st.just(("ingest",)),
        st.just(("compact",)),
    ),
    max_size=14,
)


@settings(deadline=None, max_examples=examples(40))
@given(steps)
def test_any_sequence_of_steps_stores_each_tick_once_in_order(
    script: list[tuple[Any, ...]],
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        spool = Spool(Path(directory) / "spool", segment_bytes=1)
        spool.recover()
        archive = Archive(Path(directory) / "archive")
        groups: list[Group] = []
        sequences = {"A": 1, "B": 1}
        for step in [*script, ("commit",), ("ingest",), ("compact",)]:
            if step[0] == "ticks":
                times = MIDNIGHT + np.array(step[2])
                groups.append(tick_group(spool, step[1], sequences[step[1]], times))
                spool.append(groups[-1])
                sequences[step[1]] += len(times)
            elif step[0] == "commit":
                spool.commit()
            elif step[0] == "ingest":
                ingest_spool(spool.directory, archive, include_open=True)
            else:
                compact(archive)
        spool.close()
        if groups:
            assert stored(archive) == expected(groups, base_of(archive))
        assert verify(archive).ok
        assert len(archive.manifest.files) == len(
            {(file.date, file.symbol) for file in archive.manifest.files}
        )


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(st.integers(1, 30), min_size=5, max_size=40), st.integers(1, 6))
def test_a_small_spool_in_front_of_a_slow_archiver_loses_nothing(
    counts: list[int], archive_every: int
) -> None:
    """A sender that offers refused ticks again, as terminals do, and a spool of a few segments."""
    with tempfile.TemporaryDirectory() as directory:
        spool = Spool(Path(directory) / "spool", segment_bytes=1, bytes_max=9000)
        spool.recover()
        archive = Archive(Path(directory) / "archive")
        waiting, sequence, turn = list(counts), 1, 0
        while waiting or spool.pending_bytes:
            turn += 1
            assert turn < 1000
            if waiting and spool.append(
                tick_group(spool, "A", sequence, MIDNIGHT + np.arange(waiting[0]))
            ):
                sequence += waiting.pop(0)
            spool.commit()
            assert sum(segment.size_bytes for segment in spool.segments()) <= 9000 + 1000
            if turn % archive_every == 0:
                ingest_spool(spool.directory, archive)
        spool.close()
        ingest_spool(spool.directory, archive)
        assert [row[2] for row in stored(archive)] == list(range(1, sum(counts) + 1))
        assert verify(archive).ok


# -- killed at every step ----------------------------------------------------------------------


class Killed(BaseException):
    """The process ends here."""


def die_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """Make the `step`-th call that changes the disk do half of its work and kill the process."""
    calls = itertools.count(1)

    def dying(name: str) -> Any:
        original = getattr(Disk, name)

        def call(self: Disk, *arguments: Any) -> Any:
            if next(calls) == step:
                if name == "write_at":
                    original(self, arguments[0], arguments[1][: len(arguments[1]) // 2], 0)
                raise Killed
            return original(self, *arguments)

        return call

    for name in ("open", "write_at", "sync", "rename", "remove", "sync_directory"):
        patch.setattr(Disk, name, dying(name))


@pytest.mark.parametrize("files_in_head", [2_000, pytest.param(3, marks=pytest.mark.campaign)])
def test_ingest_and_compact_killed_at_any_step_and_run_again(
    spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files_in_head: int
) -> None:
    monkeypatch.setattr(manifest, "FILES_IN_HEAD", files_in_head)
    groups = fill(spool)
    for step in itertools.count(1):
        directory = tmp_path / str(step)
        shutil.copytree(spool.directory, directory / "spool")
        killed = run_killed(directory, step)
        archive = Archive(directory / "archive")
        ingest_spool(directory / "spool", archive)
        compact(archive)
        assert stored(archive) == expected(groups, base_of(archive))
        assert verify(archive).ok
        parquet = set((directory / "archive").rglob("*.parquet*"))
        assert parquet == {archive.path(file) for file in archive.manifest.files}
        parts = {directory / "archive" / part.path for part, _ in archive.manifest.parts}
        assert parts == set((directory / "archive" / PARTS).glob("*"))
        if not killed:
            break
    assert step > 50


def run_killed(directory: Path, step: int) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        die_at(step, patch)
        try:
            archive = Archive(directory / "archive")
            ingest_spool(directory / "spool", archive)
            compact(archive)
        except Killed:
            return True
    return False
