"""Archives fed from two spools, with records sent again: each once, whatever fails or is killed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from cep.archive import Archive, compact, ingest_spool, verify
from cep.archive.compact import remove_orphans
from mt5bridge.spool import Group, Spool, SpoolError
from tests.archive.rows import expected, stored
from tests.durability.recording import RecordingDisk
from tests.durability.trials import play_all
from tests.spool.groups import START_MSC, tick_group

SPOOLS = ("one", "two")


class Archivist:
    """Archives two spools, twice, and compacts; then the first needs room.

    Its daemon lost the first spool and began the second; the terminal sent the last records again.
    """

    def __init__(self) -> None:
        self.groups: list[Group] = []

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        self.disk = disk
        self._fill(folder / "one", [(1, 3), (4, 2)])
        self._fill(folder / "two", [(3, 5)])
        for _ in range(2):  # after an error, as after the end of the process: once more
            try:
                archive = Archive(folder / "archive")
                for name in (*SPOOLS, *SPOOLS):
                    ingest_spool(folder / name, archive)
                self._archived(archive)
                compact(archive)
                self._archived(archive)
                self._need_room(folder / "one")
                break
            except (OSError, SpoolError):
                continue

    def _fill(self, folder: Path, intervals: list[tuple[int, int]]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.disk, "fault", None)
            spool = Spool(folder, segment_bytes=1)
            spool.recover()
            for sequence, count in intervals:
                times = START_MSC + 10 * np.arange(sequence, sequence + count)
                self.groups.append(tick_group(spool, "EURUSD", sequence, times))
                spool.append(self.groups[-1])
                spool.commit()
            spool.close()
        self.disk.steps = 0

    def _archived(self, archive: Archive) -> None:
        """Everything that the manifest names is safe."""
        known = {archive.path(file) for file in archive.manifest.files}
        orphans = set(archive.directory.rglob("*.parquet")) - known
        self.disk.acknowledged("the archive", but=orphans)

    def _need_room(self, folder: Path) -> None:
        """Archived segments go; the newest stays, for it knows the numbering."""
        spool = Spool(folder, bytes_max=1)
        try:
            spool.recover()
            spool.append(tick_group(spool, "EURUSD", 99, [START_MSC]))
            spool.commit()
            assert spool.durable_ingest <= 5 and len(spool.segments()) >= 1
        finally:
            if spool._lock is not None:
                os.close(spool._lock)

    def check(self, folder: Path) -> None:
        archive = Archive(folder / "archive")
        for name in SPOOLS:
            ingest_spool(folder / name, archive, include_open=True)
        remove_orphans(archive)
        assert verify(archive).ok, verify(archive).problems
        found = [(row[1], row[2], row[3]) for row in stored(archive)]
        wanted = {row[1:4] for group in self.groups for row in expected([group])}
        assert len(set(found)) == len(found), "each record once"
        assert wanted <= set(found), sorted(wanted - set(found))
        assert [row[1] for row in found] == sorted(row[1] for row in found), "in order"
        parquet = set((folder / "archive").rglob("*.parquet*"))
        assert parquet == {archive.path(file) for file in archive.manifest.files}


def test_killed_at_any_step_each_record_is_archived_once(tmp_path: Path) -> None:
    assert play_all(Archivist, tmp_path, (None,)) > 60


def test_nothing_is_built_on_a_name_that_may_be_undone(tmp_path: Path) -> None:
    """Everything is there when a directory's sync fails, and the next attempt finds it."""
    assert play_all(Archivist, tmp_path, (errno.ENOSPC,), call="sync_directory") > 60
