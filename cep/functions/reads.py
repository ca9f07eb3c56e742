"""What functions of the user read besides their arguments: files, folders, databases, addresses."""

from __future__ import annotations

import os
import sys
import sysconfig
import zoneinfo
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from cep.functions.files import loaded_files
from cep.plan.functions import user_places

IMPORTS = "<frozen importlib"
VERBS = {
    "open": "reads",
    "os.listdir": "lists",
    "os.scandir": "lists",
    "sqlite3.connect": "opens the database",
    "socket.connect": "connects to",
    "subprocess.Popen": "runs",
}
"""Python's audit events, and what they are called."""
SEEN_MOST = 1000


class Read(NamedTuple):
    """Something that a function read: `place` is file and line of it, `what` is read."""

    place: str
    verb: str
    what: str

    @property
    def text(self) -> str:
        return f"{self.place} {self.verb} {self.what}"


class _Watch:
    """Python's hooks stay for good, so there is one, which looks where anybody watches."""

    def __init__(self) -> None:
        self.found: dict[Read, None] | None = None
        self.is_hooked = False

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called by Python at each of its audit events."""
        if self.found is None or event not in VERBS or len(self.found) >= SEEN_MOST:
            return
        if event == "open" and not _is_reading(*arguments):
            return
        line = _place(sys._getframe(1))
        what = arguments[1] if event == "socket.connect" else arguments[0]
        if line is not None and not isinstance(what, int):
            self.found.setdefault(Read(line, VERBS[event], _text(what)))


_watch = _Watch()


@contextmanager
def watched() -> Iterator[Collection[Read]]:
    """Inside, what functions of the user read, as far as Python is asked for it, each once.

    What libraries read by themselves (Arrow, DuckDB) is not seen. Modules that are imported, time
    zones and what belongs to installed packages are no reading.
    """
    if not _watch.is_hooked:
        sys.addaudithook(_watch.hook)
        _watch.is_hooked = True
    before, _watch.found = _watch.found, {}
    try:
        yield _watch.found.keys()
    finally:
        _watch.found = before


def is_below(path: str, folders: Collection[Path]) -> bool:
    """Whether a path is one of `folders`, or in one."""
    own = Path(os.path.realpath(path))
    return any(own.is_relative_to(os.path.realpath(folder)) for folder in folders)


@cache
def _installed() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple(Path(one) for one in (*(paths[name] for name in names), *zoneinfo.TZPATH))


def _is_reading(path: Any, mode: str | None, flags: int) -> bool:
    """Whether a file is opened for reading that is no part of an installed package."""
    writes = flags & os.O_ACCMODE == os.O_WRONLY if mode is None else not set(mode) & set("r+")
    return not writes and not isinstance(path, int) and not is_below(_text(path), _installed())


def _place(frame: FrameType | None) -> str | None:
    """The line of a function of the user that has led here; None when an import has, or none."""
    files = {file.path for file in loaded_files()} | set(user_places().values())
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(IMPORTS):
            return None
        if name in files:
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def _text(what: Any) -> str:
    return os.fsdecode(what) if isinstance(what, (str, bytes, os.PathLike)) else str(what)
