"""Where an archive lies: whole files by their paths in it, written at once and never changed.

What is told of a file has its whole address. A path is relative, with slashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mt5bridge.local import local
from mt5bridge.spool.disk import Disk, make_directories, replace_file


class Store(Protocol):
    """What reading an archive and adding to it needs."""

    @property
    def place(self) -> str:
        """Its address, by which `store_at` finds it, also in another process."""

    def read(self, path: str) -> bytes:
        """A whole file. FileNotFoundError, OSError."""

    def write(self, path: str, data: bytes) -> None:
        """Put a file there, durably and at once: readers find the old or the new. OSError."""

    def remove(self, path: str) -> None:
        """Let a file go; it may be gone already. OSError."""

    def address(self, path: str) -> str:
        """What people call a file."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a disk of this machine, or of one that is mounted."""

    root: Path

    @property
    def place(self) -> str:
        return str(self.root.resolve())

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        target = self.root / path
        make_directories(target.parent)
        replace_file(target, data)

    def remove(self, path: str) -> None:
        Disk().remove(self.root / path)

    def address(self, path: str) -> str:
        return str(self.root / path)


def store_at(place: Path | str) -> Store:
    """The store at an address. AddressError for one that is neither a path nor known."""
    return Folder(local(place))
