"""Damaged files that were kept under other names, for repair by hand: the newest of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loguru import logger

from cep.live.config import Config
from cep.live.quarantine import Complain
from cep.live.state_folder import inbox_folder
from mt5bridge.orders.inbox import BAD
from mt5bridge.spool.disk import Disk


def _kinds(config: Config) -> Iterator[tuple[Path, str]]:
    yield inbox_folder(config), f"*{BAD}"
    yield config.state.folder, f"*{BAD}"
    yield config.state.folder, "orders-*.journal"
    yield config.spool.folder, "*.cut"


def remove_oldest(config: Config, complain: Complain) -> None:
    """Keep `[state] bad_files` of each kind; nothing of the daemon reads them again."""
    most = config.state.bad_files
    for folder, pattern in _kinds(config):
        try:
            found = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)
            for path in found[:-most]:
                Disk().remove(path)
                complain("bad_files_removed", f"{path}: more than {most} of its kind")
        except OSError as problem:  # the next one counts
            logger.warning("{}: {}", folder, problem)
