"""Many small files -> one file a day and symbol, and what nobody reads any more is removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa

from cep.archive.archive import Archive
from cep.archive.errors import ArchiveError
from cep.archive.manifest import File
from cep.archive.parts import read_part, sorted_by_ingest, write_part
from cep.archive.paths import MANIFEST, PARTS
from cep.archive.replacing import KEEP_MS, forget_replaced, replace_files, tag_of
from mt5bridge.spool.disk import Disk

PARTITIONS_A_COMMIT = 32


class Compacted(msgspec.Struct, frozen=True):
    """Totals of one run; `kept` are replaced files that are there for those who read them."""

    partitions: int
    files_before: int
    files_after: int
    orphans_removed: int
    kept: int


def compact(
    archive: Archive,
    *,
    keep_ms: int = KEEP_MS,
    now_msc: int | None = None,
    on_partition: Callable[[int, int], None] | None = None,
) -> Compacted:
    """Rewrite every day and symbol that has several files as one.

    What was lived and what is sorted history stay files of their own. The old files can be read for
    `keep_ms` more by who has opened the archive before. `now_msc` is the time of the disk's files;
    left out, the machine's.
    """
    with archive.writing():
        orphans = remove_orphans(archive)
        before = len(archive.manifest.files)
        todo = [files for files in by_partition(archive.manifest.files) if len(files) > 1]
        for begin in range(0, len(todo), PARTITIONS_A_COMMIT):
            _replace(archive, todo[begin : begin + PARTITIONS_A_COMMIT])
            if on_partition:
                on_partition(min(begin + PARTITIONS_A_COMMIT, len(todo)), len(todo))
        kept = forget_replaced(archive, keep_ms, now_msc)
        return Compacted(len(todo), before, len(archive.manifest.files), orphans, kept)


def by_partition(files: tuple[File, ...]) -> list[list[File]]:
    """Files grouped by what they hold, each group in order of first ingest."""
    groups: dict[tuple[str, str, str, str, str], list[File]] = {}
    for file in files:
        key = file.stream, file.date, file.symbol, file.name, str(file.mode)
        groups.setdefault(key, []).append(file)
    return [sorted(groups[key], key=lambda file: file.first_ingest) for key in sorted(groups)]


def _replace(archive: Archive, partitions: list[list[File]]) -> None:
    written = [_merge(archive, files) for files in partitions]
    replace_files(archive, [file for files in partitions for file in files], written)


def _merge(archive: Archive, files: list[File]) -> File:
    tables = [read_part(archive.store, file) for file in files]
    table = sorted_by_ingest(pa.concat_tables(tables).unify_dictionaries())
    if table.num_rows != sum(file.rows for file in files):
        raise ArchiveError(f"{files[0].path}: rows differ from the manifest; run archive verify")
    first = files[0]
    assert first.mode is not None, "a manifest that is read has modes"
    tag = tag_of(archive, "c", first.mode)
    merged = write_part(
        archive.store, first.stream, first.symbol, first.date, table, first.mode, tag
    )
    return msgspec.structs.replace(merged, name=first.name)


def remove_orphans(archive: Archive) -> int:
    """Delete files that no manifest entry names: what a killed run left behind."""
    known = {archive.directory / path for path in archive.manifest.paths}
    orphans = [path for path in _leftovers(archive.directory) if path not in known]
    for path in orphans:
        Disk().remove(path)
    return len(orphans)


def _leftovers(directory: Path) -> list[Path]:
    """Everything that a run of this program may have written here, but for the head."""
    found = directory.glob("*/date=*/symbol=*/*.parquet*")
    return [*found, *directory.glob(f"{PARTS}/*.jsonl*"), *directory.glob(f"{MANIFEST}.part")]
