"""Rule files that do not run: the mark that somebody has stopped them, and their rows.

Rows are written before the spool has what they are made of. After a crash a start makes those of
rules that run anew; those of others are cut back to what the spool proves.
"""

from __future__ import annotations

from pathlib import Path

from loguru import logger

from cep.live.checkpoints import Checkpoints
from cep.live.config import Config
from cep.live.journal import Journal
from cep.live.journal_files import JournalFiles
from mt5bridge.spool import Spool
from mt5bridge.spool.disk import Disk, make_directories, replace_file


def mark_of(config: Config) -> Path:
    """The file that says that somebody has stopped them: behind which record, if it is known."""
    return config.state.folder / "stopped"


def mark(config: Config, ingest: int) -> None:
    """They are stopped behind a record, and at the next start, too; on disk when this returns."""
    make_directories(config.state.folder)
    replace_file(mark_of(config), b"%d\n" % ingest)


def unmark(config: Config) -> None:
    """They run from now on; durably, so that a mark never says that rows of later are known."""
    if mark_of(config).exists():
        disk = Disk()
        disk.remove(mark_of(config))
        disk.sync_directory(config.state.folder)


def keep_proven(config: Config, spool: Spool) -> None:
    """Have rows tell only of records that a recovered spool has: else, of the newest snapshot's.

    What is missing then is found again when the rules are loaded. Rows without a snapshot beside
    this spool are those of another one: loading sets them aside.
    """
    state = config.state
    if state.journal is None or _is_known_to(spool, mark_of(config)):
        return
    checkpoints = Checkpoints(state.folder, spool.recovered.spool)
    kept = checkpoints.proven_bytes(spool.durable_ingest)
    end = JournalFiles(state.journal).end
    if kept is None or end <= kept:
        return
    most = state.journal_mib << 20
    Journal(state.journal, kept, file_bytes=most, files_max=state.journal_files).close()
    logger.warning(
        "{}: {:,} bytes of rows are cut off: a crash may have undone their records",
        state.journal, end - kept,
    )  # fmt: skip


def _is_known_to(spool: Spool, path: Path) -> bool:
    """Whether a spool has all records from before the mark; that of earlier versions is empty."""
    said = path.read_bytes().strip() if path.exists() else b"?"
    return not said or (said.isdigit() and int(said) <= spool.durable_ingest)
