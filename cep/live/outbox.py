"""What a database has made of records, on disk until a snapshot of our engine holds it.

A database does not make the same twice. So what it has made of a batch is written down before the
next batch; a restart reads it from the snapshot on.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from errno import ENOSPC
from io import FileIO
from itertools import pairwise
from pathlib import Path

import msgspec

from cep.hybrid import Made

_HEAD = struct.Struct("<II")


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """The place of the last record of a batch, and what the database has made of the batch."""

    last: int
    made: list[Made]


class Outbox:
    """Files `<spool>-<ingest>.made` in a folder, each with the batches after a record.

    `is_durable`: a batch is on disk when `add` returns. Belongs to one thread.
    """

    def __init__(self, folder: Path, spool: str, is_durable: bool) -> None:
        self._folder = folder
        self._spool = spool
        self._is_durable = is_durable
        self._path: Path | None = None
        self._file: FileIO | None = None

    def begin(self, ingest: int) -> None:
        """What comes after this record goes into a file of its own.

        Files that not even the oldest snapshot needs go.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._spool}-{ingest}.made"
        file = path.open("ab", buffering=0)
        self.close()
        self._path, self._file = path, file
        snapshots = self._folder.glob(f"{self._spool}-*-*.state")
        oldest = min((int(one.stem.split("-")[-2]) for one in snapshots), default=0)
        paths = self._paths()
        for old, following in pairwise(paths):
            if _start(following) <= oldest:
                old.unlink(missing_ok=True)

    def add(self, last: int, made: Sequence[Made]) -> None:
        """Take the next batch; OSError, and nothing of it is there."""
        assert self._file is not None, "begin() comes first"
        data = _encode(Batch(last, list(made)))
        whole = _HEAD.pack(len(data), zlib.crc32(data)) + data
        before = os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(whole) < len(whole):
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            if self._is_durable:
                os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(before)
            raise

    def read(self, last: int) -> list[Batch]:
        """The batches up to a record; what is behind them, or torn, is cut off.

        Files of which nothing stays go: the next one that begins is the last one then.
        """
        found: list[Batch] = []
        for path in self._paths():
            kept = 0
            for end, batch in _batches(path.read_bytes()):
                if batch.last > last:
                    break
                kept = end
                found.append(batch)
            os.truncate(path, kept)
            if not kept and path != self._path:
                path.unlink()
        return found

    def clear(self) -> None:
        """Forget everything."""
        self.close()
        for path in self._paths():
            path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
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
        if len(text) < size or zlib.crc32(text) != checksum:
            return
        at += _HEAD.size + size
        yield at, _decode(text)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode
