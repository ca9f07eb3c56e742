"""Since when complex events and rows are numbered, over all rule files, as programs are told it.

A rule file that comes has names of its own, so nothing that a program knows changes. Where one that
was there begins anew, its numbers do, too, and all is numbered anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

import msgspec
from loguru import logger

from mt5bridge.spool.disk import replace_file

FILE = "numbering.json"


class _Known(msgspec.Struct, frozen=True):
    """What was told last, and the numbering that each rule file had then."""

    numbering: int
    files: dict[str, int]


class Numbering:
    """Belongs to the server's thread, which waits for the disk when a rule file comes or begins."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._known: _Known | None = None

    def of(self, files: Mapping[str, int]) -> int:
        """What is told where rule files have these numberings of their own, the main one first."""
        known = (
            self._known
            or self._read()
            or _Known(next(iter(files.values()), secrets.randbits(63) or 1), {})
        )
        has_begun = any(known.files.get(name, own) != own for name, own in files.items())
        numbering = secrets.randbits(63) or 1 if has_begun else known.numbering
        told = _Known(numbering, {**known.files, **files})
        if told != self._known:
            self._known = told
            self._write(told)
        return numbering

    def _read(self) -> _Known | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Known)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            logger.warning("{}: {}; events are numbered anew", self._path, problem)
            return _Known(secrets.randbits(63) or 1, {})

    def _write(self, told: _Known) -> None:
        """Without room for it the next start numbers anew, or goes on with what is there."""
        try:
            replace_file(self._path, msgspec.json.encode(told) + b"\n")
        except OSError as problem:
            logger.warning("{}: not written: {}", self._path, problem.strerror)
