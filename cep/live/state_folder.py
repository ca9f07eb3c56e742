"""The state folder of a daemon: who may write there, and whether a daemon runs with it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Event

from cep.live.config import Config, ConfigError
from mt5bridge.credential import others_can_write
from mt5bridge.spool import SpoolLockedError
from mt5bridge.spool.disk import lock, make_directories

STATE_LOCK = "daemon.lock"
"""Not LOCK, that of the spool: both folders may be one."""
TRIES, BETWEEN_S = 5, 0.02
"""To take it: asking takes microseconds."""


def inbox_folder(config: Config) -> Path:
    """Where commands for the daemon are put."""
    return config.state.folder / "inbox"


def check_access(config: Config) -> None:
    """ConfigError when others can write where orders are handed over: they could trade."""
    for folder in (config.state.folder, inbox_folder(config)):
        if folder.is_dir() and others_can_write(folder):
            raise ConfigError(
                f"{folder}: others than its owner can write there, and so hand over orders; run "
                f"`chmod 700 {folder}`, and look at what is in it"
            )


def hold(folder: Path) -> int:
    """Take the folder for this daemon alone: the file to close in the end. SpoolLockedError.

    It is tried for a moment, as who asks whether a daemon runs holds the lock meanwhile.
    """
    make_directories(folder, mode=0o700)
    for _ in range(TRIES - 1):
        with suppress(SpoolLockedError):
            return lock(folder / STATE_LOCK)
        Event().wait(BETWEEN_S)
    return lock(folder / STATE_LOCK)


def was_left(folder: Path) -> bool:
    """Whether the daemon of this folder has ended, whatever its status says: its lock is free."""
    try:
        return (folder / STATE_LOCK).exists() and not is_held(folder)
    except OSError:  # of another user: it cannot be told
        return False


def is_held(folder: Path) -> bool:
    """Whether a daemon runs with this folder."""
    if not (folder / STATE_LOCK).exists():
        return False
    try:
        os.close(lock(folder / STATE_LOCK))
    except SpoolLockedError:
        return True
    return False
