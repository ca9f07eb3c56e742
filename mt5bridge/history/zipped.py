"""Tick files that come in a zip file, one in each."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mt5bridge.history.block import HistoryError

ZIP = ".zip"


def member(path: Path, suffixes: tuple[str, ...]) -> str:
    """Name of the file with ticks in a zip file: the only one with the first suffix that one has.

    HistData packs a report, `.txt`, beside its `.csv`.
    """
    with _opened(path) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
    for suffix in suffixes:
        found = [name for name in names if name.lower().endswith(suffix)]
        if len(found) == 1:
            return found[0]
        if found:
            raise HistoryError(
                f"{path}: {len(found)} files of ticks in it ({', '.join(found[:3])}, ...); unpack "
                "it and name the files in order of time"
            )
    raise HistoryError(
        f"{path}: no file of ticks in it; it needs one whose name ends with {' or '.join(suffixes)}"
    )


@contextlib.contextmanager
def open_member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """The content of a file in a zip file, read as it is asked for."""
    with _opened(path) as file:
        try:
            with file.open(name) as stream:
                yield stream
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            raise _unreadable(path, error) from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        file = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise _unreadable(path, error) from error
    with file:
        yield file


def _unreadable(path: Path, error: Exception) -> HistoryError:
    return HistoryError(f"{path}: cannot be unpacked ({error}); download it again, or unpack it")
