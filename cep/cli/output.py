"""Where commands write: standard output, or a file named by an option."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import BinaryIO

from cep.cli.errors import UserError
from cep.cli.streams import NamedFile

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def need_apart(files: Mapping[str, Path | None]) -> None:
    """UserError where two options name the same file: one would be written over the other."""
    known: dict[Path, str] = {}
    for option, path in files.items():
        if path is not None and (other := known.setdefault(path.resolve(), option)) != option:
            raise UserError(f"{other} and {option} name the same file, {path}", "name two")


@contextmanager
def output(path: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears whole or not at all.

    What is no file, as a pipe or a device, is written to as it stands.
    """
    if path is None or str(path) in STDOUT:
        if sys.stdout is None:
            raise UserError("standard output is closed", "name a file with --out")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():
        with BufferedWriter(NamedFile(path, "wb")) as sink:
            yield sink
    else:
        with _draft(path.resolve()) as sink:
            yield sink


@contextmanager
def _draft(path: Path) -> Iterator[BinaryIO]:
    """A file beside the one wanted, which takes its place when it is whole."""
    draft = path.with_name(path.name + ".part")
    try:
        with BufferedWriter(NamedFile(draft, "wb")) as sink:
            yield sink
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
