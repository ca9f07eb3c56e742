"""The format of a state folder: an earlier version's is taken over, a later one's refused.

What rules remember is rebuilt from the spool where it cannot be read; orders and who may come are
read in each format there was. So the number says one thing: who may write here.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from loguru import logger

from cep.live.config import ConfigError
from mt5bridge.spool.disk import replace_file

FORMAT = 2
"""1: before the folder said so."""
FILE = "format.json"
_BEGUN = ("orders.journal", "*.state", "*.rules", "rules/*/*.state")
"""Files that a daemon has left behind in a folder that it has used."""


class StateFormat(msgspec.Struct, frozen=True):
    """What stands in the file; later versions may add to it."""

    format: int


def format_of(folder: Path) -> int:
    """The format of a state folder; 0: nothing is there yet. ConfigError when the file is none."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=StateFormat).format
    except FileNotFoundError:
        return int(any(any(folder.glob(name)) for name in _BEGUN))
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"{path}: cannot be read ({problem}); restore it from a copy, or remove it if no later "
            "version has run here"
        ) from None


def check_format(folder: Path) -> None:
    """ConfigError, before anything is changed, when a later version has written here."""
    found = format_of(folder)
    if found > FORMAT:
        raise ConfigError(
            f"{folder}: a later version has written here, in format {found}; this one knows up to "
            f"{FORMAT}. Install the later one again, restore the copy of before the upgrade, or "
            "name another [state] folder, which knows nothing of orders that are under way"
        )


def take_over(folder: Path) -> None:
    """Write here from now on; to be called by who holds the folder."""
    check_format(folder)
    found = format_of(folder)
    if found == FORMAT:
        return
    if found:
        what = "states that cannot be read are rebuilt from the spool"
        logger.warning("{}: of format {}, taken over as {}; {}", folder, found, FORMAT, what)
    try:
        replace_file(folder / FILE, msgspec.json.encode(StateFormat(FORMAT)) + b"\n")
    except OSError as problem:  # a full disk keeps nobody from starting; the next start says so
        logger.warning("{}: not written: {}", folder / FILE, problem.strerror)
