"""What a database has made of records, on disk until a snapshot of our engine holds it.

A database does not make the same twice. So what it has made of a batch is written down before the
next batch; a restart reads it from the snapshot on.
"""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from cep.fragments.rows import DerivedRow
from mt5bridge.spool.disk import Disk, confirm, make_directories, named

_HEAD = struct.Struct("<II")


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """The place of the last record of a batch, and what the database has made of the batch."""

    last: int
    made: list[DerivedRow]


class Outbox:
    """Files `<spool>-<ingest>.made` in a folder, each with the batches after a record.

    `is_durable`: a batch is on disk when `add` returns. Belongs to one thread.
    """

    def __init__(
        self, folder: Path, spool: str, is_durable: bool, disk: Disk | None = None
    ) -> None:
        self._folder = folder
        self._spool = spool
        self._is_durable = is_durable
        self._disk = disk or Disk()
        self._path: Path | None = None
        self._file: int | None = None
        self._size_bytes = 0

    def begin(self, ingest: int) -> None:
        """What comes after this record goes into a file of its own.

        Files that not even the oldest snapshot needs go.
        """
        make_directories(self._folder, self._disk)
        path = self._folder / f"{self._spool}-{ingest}.made"
        size_bytes = path.stat().st_size if path.exists() else 0
        file = self._disk.open(path)
        self.close()
        self._path, self._file, self._size_bytes = path, file, size_bytes
        if self._is_durable:
            self._disk.sync_directory(self._folder)
        snapshots = self._folder.glob(f"{self._spool}-*-*.state")
        oldest = min((int(one.stem.split("-")[-2]) for one in snapshots), default=0)
        paths = self._paths()
        for old, following in pairwise(paths):
            if _start(following) <= oldest:
                self._disk.remove(old)

    def add(self, last: int, made: Sequence[DerivedRow]) -> None:
        """Take the next batch; OSError, and nothing of it is there."""
        assert self._file is not None and self._path is not None, "begin() comes first"
        data = _encode(Batch(last, list(made)))
        whole = _HEAD.pack(len(data), zlib.crc32(data)) + data
        with named(self._path):
            try:
                self._disk.write_at(self._file, whole, self._size_bytes)
                if self._is_durable:
                    self._disk.sync(self._file)
            except OSError:
                with contextlib.suppress(OSError):  # the next one overwrites it anyway
                    self._disk.truncate(self._file, self._size_bytes)
                raise
        self._size_bytes += len(whole)

    def read(self, last: int) -> list[Batch]:
        """The batches up to a record; what is behind them, or torn, is cut off.

        Files of which nothing stays go: the next one that begins is the last one then.
        """
        found: list[Batch] = []
        for path in self._paths():
            kept = 0
            data = path.read_bytes()
            for end, batch in _batches(data):
                if batch.last > last:
                    break
                kept = end
                found.append(batch)
            if not kept and path != self._path:
                self._disk.remove(path)
            else:
                confirm(path, data[:kept], self._disk)
            if path == self._path:
                self._size_bytes = kept
        return found

    def clear(self) -> None:
        """Forget everything."""
        self.close()
        for path in self._paths():
            self._disk.remove(path)

    def close(self) -> None:
        if self._file is not None:
            self._disk.close(self._file)
            self._file = None

    def _paths(self) -> list[Path]:
        """The files of this spool, oldest first."""
        found = self._folder.glob(f"{self._spool}-*.made")
        return sorted(found, key=_start)


def _start(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def _batches(data: bytes) -> Iterator[tuple[int, Batch]]:
    """Each whole batch and where it ends."""
    at = 0
    while at + _HEAD.size <= len(data):
        size, checksum = _HEAD.unpack_from(data, at)
        text = data[at + _HEAD.size : at + _HEAD.size + size]
        if zlib.crc32(text) != checksum:  # also when it is cut short
            return
        at += _HEAD.size + size
        yield at, _decode(text)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode
