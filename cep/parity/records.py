"""The records of a spool as an archive, without a trace in the spool."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cep.archive import Archive, ingest_spool
from mt5bridge.spool import SegmentState, list_segments
from mt5bridge.spool.segment import path_of


def archived(spool: Path, folder: Path) -> Archive:
    """All of a spool, also while a daemon writes it, as an archive in a folder. ArchiveError,
    OSError.

    Archiving marks segments by their names, and a daemon deletes those that are marked: so it is
    given other names of the same files, or copies.
    """
    own = folder / "spool"
    own.mkdir()
    for segment in list_segments(spool):
        if segment.state is SegmentState.OPEN:
            shutil.copyfile(segment.path, path_of(own, segment.number, SegmentState.OPEN))
        else:
            _name_again(segment.path, path_of(own, segment.number, SegmentState.SEALED))
    archive = Archive(folder / "archive")
    ingest_spool(own, archive, include_open=True)
    return archive


def _name_again(file: Path, name: Path) -> None:
    try:
        os.link(file, name)
    except OSError:  # of another file system, or of one without links
        shutil.copyfile(file, name)
