"""Who reads an archive is not disturbed by who tidies it up."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from cep.archive import Archive, ArchiveError, compact, examine, import_history, ingest_spool
from cep.archive.paths import RETIRED
from cep.archive.replacing import KEEP_MS
from mt5bridge.history.block import TickBlock
from mt5bridge.spool import Spool
from tests.archive.rows import stored
from tests.archive.test_ingest import fill
from tests.backtest.archives import DAY_MS, START_MSC, walk


def shown(batches: Iterable[pa.RecordBatch]) -> list[str]:
    """Rows, in which NaN is NaN."""
    return [repr(row) for batch in batches for row in batch.to_pylist()]


def read_through(archive: Archive) -> list[str]:
    """Every row, as a backtest reads them."""
    return shown(archive.read_batches())


def newest_msc(archive: Archive) -> int:
    """When the last file was replaced."""
    return max(path.stat().st_mtime_ns for path in (archive.directory / RETIRED).iterdir()) // 10**6


def test_who_opened_it_before_a_compaction_reads_on(spool: Spool, archive: Archive) -> None:
    """docs/backtest.md: "Who has opened an archive reads it as it was"."""
    fill(spool)
    ingest_spool(spool.directory, archive)
    reader, expected = Archive(archive.directory), read_through(archive)
    batches = reader.read_batches()
    first = next(batches)
    done = compact(archive)
    assert done.partitions == 2 and done.kept == 4
    again = shown([first, *batches])
    assert again == expected == read_through(reader) == read_through(Archive(archive.directory))


def test_who_reads_the_folders_finds_each_record_once(spool: Spool, archive: Archive) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    compact(archive)
    rows = ds.dataset(archive.directory / "ticks").to_table()["ingest"]
    assert sorted(rows.to_pylist()) == [row[0] for row in stored(archive)]
    assert sorted(archive.directory.rglob("*.parquet")) == sorted(
        archive.path(file) for file in archive.manifest.files
    )


def test_they_are_removed_when_their_time_is_over(spool: Spool, archive: Archive) -> None:
    fill(spool)
    ingest_spool(spool.directory, archive)
    reader = Archive(archive.directory)
    compact(archive)
    now_msc = newest_msc(archive)
    assert compact(archive, now_msc=now_msc + KEEP_MS - 1).kept == 4
    assert read_through(reader) == read_through(archive)
    assert compact(archive, now_msc=now_msc + KEEP_MS + 1).kept == 0
    assert not list((archive.directory / RETIRED).iterdir())
    with pytest.raises(ArchiveError, match="open the archive again"):
        read_through(reader)


def test_the_doctors_marks_disturb_nobody(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    ticks = walk(np.random.default_rng(3), START_MSC, DAY_MS, 500)
    ticks["bid"][250] = 9.0
    import_history(archive, [TickBlock("A", ticks)])
    reader = Archive(tmp_path)
    before = read_through(reader)
    assert examine(archive, mark=True).marked_files == 1
    assert read_through(reader) == before != read_through(Archive(tmp_path))
