"""Where an archive lies: whole files by their paths in it, written at once and never changed.

What is told of a file has its whole address. A path is relative, with slashes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cep.archive.paths import MANIFEST, RETIRED
from cep.archive.remote import Remote, remote_at
from mt5bridge.local import is_address, local
from mt5bridge.spool.disk import Disk, make_directories, replace_file


class Store(Protocol):
    """What reading an archive and adding to it needs."""

    @property
    def place(self) -> str:
        """Its address, by which `store_at` finds it, also in another process."""

    def read(self, path: str) -> bytes:
        """A whole file. FileNotFoundError, OSError, ArchiveError."""

    def write(self, path: str, data: bytes) -> None:
        """Put a file there, durably and at once: readers find the old or the new.

        OSError, ArchiveError.
        """

    def retire(self, paths: Iterable[str]) -> None:
        """No manifest names the files any more, but who opened the archive before reads on."""

    def remove(self, path: str) -> None:
        """Let a file go; it may be gone already. OSError, ArchiveError."""

    def address(self, path: str) -> str:
        """What people call a file."""

    def absence(self) -> str:
        """What to tell who wants to read an archive where none is."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a disk of this machine, or of one that is mounted."""

    root: Path

    @property
    def place(self) -> str:
        return str(self.root.resolve())

    def read(self, path: str) -> bytes:
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError as error:
            try:
                return self._retired(path).read_bytes()
            except FileNotFoundError:
                raise error from None

    def write(self, path: str, data: bytes) -> None:
        target = self.root / path
        make_directories(target.parent)
        replace_file(target, data)

    def retire(self, paths: Iterable[str]) -> None:
        """Move files to where `read` finds them, and nobody who reads the folders themselves.

        Their times say when that was. What is open cannot be moved on Windows: it stays where it
        is, and goes with what killed runs left behind.
        """
        disk, touched = Disk(), {self.root / RETIRED}
        make_directories(self.root / RETIRED)
        for path in paths:
            source = self.root / path
            touched.add(source.parent)
            with contextlib.suppress(PermissionError, FileNotFoundError):
                os.utime(source)
                disk.rename(source, self._retired(path))
        for folder in sorted(touched):
            disk.sync_directory(folder)

    def remove(self, path: str) -> None:
        Disk().remove(self.root / path)

    def address(self, path: str) -> str:
        return str(self.root / path)

    def absence(self) -> str:
        if not self.root.is_dir():
            return f"no such archive; {_FILL}"
        lost = any(self.root.glob("*/date=*/symbol=*/*.parquet"))
        remedy = f"restore {MANIFEST} from a copy" if lost else f"check the path, or {_FILL}"
        return f"no archive here (no {MANIFEST}); {remedy}"

    def _retired(self, path: str) -> Path:
        return self.root / RETIRED / checksum(path.encode())


def checksum(data: bytes) -> str:
    """Of a file's content, in manifests."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


_FILL = "fill one with `mt5cep archive import` or `mt5cep archive ingest`"


def store_at(place: Path | str) -> Folder | Remote:
    """The store at an address. AddressError for one that is neither a path nor known."""
    if is_address(place) and not str(place).lower().startswith("file:"):
        return remote_at(str(place))
    return Folder(local(place))
