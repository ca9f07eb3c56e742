"""What terminals tell of symbols and accounts, on its way to a file in the spool's folder.

The archive takes it from there. Neither ticks nor signals wait for it: the server's thread only
remembers the newest of each, and the thread that commits compares it with what is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import msgspec
from loguru import logger

from cep.account.account_file import OTHERS
from cep.account.specifications import FILE, Version, decode, encode, news, without_nulls
from cep.live.told import words_of
from mt5bridge.server import Specified
from mt5bridge.spool.disk import Disk, confirm, named

PARTS_A_TURN = 256
"""Compared at once: neither acknowledgements nor signals are to wait for thousands."""

Words: TypeAlias = dict[str, Any]


class Specifications:
    """The one writer of the file, of `bytes_max` at most. What a source has told already is not
    written again, also after a restart.
    """

    def __init__(self, folder: Path, bytes_max: int, disk: Disk | None = None) -> None:
        """OSError when the file of an earlier run cannot be read. What a crash has torn is cut."""
        self.path = folder / FILE
        self._bytes_max = bytes_max
        self._disk = disk or Disk()
        self._mutex = Lock()
        self._waiting: dict[tuple[str, str, type], Specified] = {}
        self._known: dict[tuple[str, str], tuple[int, bytes]] = {}  # since when, and JSON
        self._refused: deque[str] = deque()
        self._file: int | None = None
        self._size_bytes = self._read()

    def take(self, parts: Sequence[Specified]) -> None:
        """A terminal has told these; of what waits already the newest counts."""
        with self._mutex:
            for one in parts:
                self._waiting[one.identity, one.symbol, type(one.part)] = one

    def look(self, complain: Callable[[str, str], None]) -> None:
        """Complain of what there was no room for, in the thread of whom it is told."""
        while self._refused:
            complain("specifications_reached", self._refused.popleft())

    def write(self) -> bool:
        """Bring some of what waits to the disk, in any one thread; whether all is there.

        OSError when it could not: then the next call begins with the same.
        """
        with self._mutex:
            some = dict(islice(self._waiting.items(), PARTS_A_TURN))
            for key in some:
                del self._waiting[key]
        try:
            self._append(self._news(some.values()))
        except OSError:
            with self._mutex:
                self._waiting = some | self._waiting
            raise
        return not self._waiting

    def close(self) -> None:
        """Write all that waits, and let go of the file. OSError when not all is written."""
        try:
            while not self.write():
                pass
        finally:
            file, self._file = self._file, None
            if file is not None:
                self._disk.close(file)

    def _read(self) -> int:
        """Know what was told before; so many bytes of it are sound."""
        data = self.path.read_bytes() if self.path.exists() else b""
        size_bytes = 0
        for line in data.split(b"\n")[:-1]:
            try:
                self._know(decode(line))
            except ValueError as problem:
                logger.warning("{}: {}; terminals will tell it again", self.path, problem)
                break
            size_bytes += len(line) + 1
        if size_bytes < len(data):
            logger.warning("{}: cut {} bytes", self.path, len(data) - size_bytes)
            confirm(self.path, data[:size_bytes], self._disk)
        return size_bytes

    def _know(self, version: Version) -> None:
        key = version.symbol, version.source
        words = without_nulls(self._held(key) | version.told)
        self._known[key] = version.since_msc, msgspec.json.encode(words)

    def _held(self, key: tuple[str, str]) -> Words:
        _, raw = self._known.get(key, (0, b"{}"))
        found: Words = msgspec.json.decode(raw)
        return found

    def _news(self, parts: Iterable[Specified]) -> list[Version]:
        """What of these differs from what is known, a version for a symbol of a terminal."""
        told: dict[tuple[str, str], tuple[int, Words]] = {}
        for one in parts:
            if one.symbol == OTHERS:  # which in an account's file is all symbols
                continue
            key = one.symbol, one.identity
            since_msc, words = told.get(key) or (self._since(key), self._held(key))
            spoken = words_of(one.part, one.currency)
            kept = {name: words[name] for name in words if name not in spoken.names}
            told[key] = max(since_msc, one.arrival_msc), kept | spoken.words
        found = (news(self._held(key), words, key[0], since_msc, key[1])
                 for key, (since_msc, words) in told.items())  # fmt: skip
        return [version for version in found if version is not None]

    def _since(self, key: tuple[str, str]) -> int:
        """A clock that was set back puts nothing before what was told earlier."""
        return self._known.get(key, (0, b""))[0]

    def _append(self, versions: Iterable[Version]) -> None:
        data, taken = bytearray(), []
        for version in versions:
            line = encode(version)
            if self._size_bytes + len(data) + len(line) > self._bytes_max:
                what = version.symbol or "its account"
                self._refused.append(f"{version.source}: {what}: {self.path} is full")
                continue
            data += line
            taken.append(version)
        if not taken:
            return
        with named(self.path):
            file = self._opened()
            self._disk.write_at(file, bytes(data), self._size_bytes)
            self._disk.sync(file)
        self._size_bytes += len(data)
        for version in taken:
            self._know(version)

    def _opened(self) -> int:
        if self._file is None:
            self._file = self._disk.open(self.path)
            self._disk.sync_directory(self.path.parent)
        return self._file
