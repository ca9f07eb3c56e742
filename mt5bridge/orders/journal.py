"""A durable, append-only file of what was asked, sent and answered.

A line is the CRC-32 of its text in 8 hexadecimal digits, a blank, and one record as JSON, with its
number `n` before all else: 1, 2, 3 for the life of the journal (left out by earlier versions, who
read it all the same). Whoever
adds does not wait for the disk; `sync` takes everything that was added so far (group commit). A
line is let go when a sync has confirmed it: one that failed may have dropped what was written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple
from zlib import crc32

import msgspec
from loguru import logger

from mt5bridge.orders.records import Halted, Record
from mt5bridge.spool.disk import Disk, confirm, make_directories, named, replace_file
from mt5bridge.troubles import is_full

_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
_NAMED = 3


class _Number(msgspec.Struct):
    n: int = -1


_number = msgspec.json.Decoder(_Number)


class Content(NamedTuple):
    """A file's records, how many of its bytes are whole lines, and which of these are damaged."""

    records: list[Record]
    whole_bytes: int
    damaged_lines: list[int]
    numbers: list[int]
    """Of the records, one each: 0 for those that a rewritten journal only sums up."""

    @property
    def last(self) -> int:
        """The last number that was given."""
        return max(self.numbers, default=0)


def read_lines(lines: Iterable[bytes], number: int = 0) -> Iterator[tuple[int, Record | None]]:
    """Each line's number and record, None where it is damaged; `number` is that before them."""
    for line in lines:
        record = _record(line)
        if record is not None:
            told = _number.decode(line[9:]).n
            number = number + 1 if told < 0 else told or number
            yield (number if told else 0), record
        else:
            yield number, None


def read_journal(path: Path) -> Content:
    """What a journal holds; also while a daemon writes it, and with its end torn off.

    A crash leaves the last line without its end: nobody was told that it is safe, and it is left
    out. A whole line that is no record is damage, the last one too: it may have been a halt, or
    what was sent today. So the last record is a halt then, until somebody has looked.
    """
    *lines, torn = path.read_bytes().split(b"\n") if path.exists() else [b""]
    found = list(read_lines([*lines, torn[:-1]]))
    bad = [at for at, (_, record) in enumerate(found[:-1], 1) if record is None]
    if found[-1][1] is not None:  # not torn: one byte, its end, is damaged
        bad.append(len(found))
    numbers = [number for number, record in found if record is not None]
    records = [record for _, record in found if record is not None]
    if bad:
        records.append(_halt(path, bad, records))
        numbers.append(max(numbers, default=0) + 1)
    return Content(records, sum(map(len, lines)) + len(lines), bad, numbers)


def _halt(path: Path, bad: list[int], records: list[Record]) -> Halted:
    """What a damaged journal means; its time is that of the newest record."""
    time_msc = max((getattr(record, "time_msc", 0) for record in records), default=0)
    lines = ", ".join(map(str, bad[:_NAMED])) + ", .." * (len(bad) > _NAMED)
    reason = (
        f"damaged order journal {path.name}, line {lines}: it may have been a halt, or sent today; "
        "look what the terminals did, then `mt5cep orders resume`"
    )
    return Halted(time_msc, True, reason)


def _record(line: bytes) -> Record | None:
    text = line[9:]
    if line[:9] != b"%08x " % crc32(text):
        return None
    try:
        return _decoder.decode(text)
    except (msgspec.MsgspecError, ValueError):
        return None


class OrderJournal:
    """The one writer of a journal; `records` is what it held when it was opened.

    One thread adds; any thread writes and syncs. `added` is set by `announce` when there is
    something to sync, and `awaited` when somebody waits for that.
    `is_new` where there was no file before: what was done then, it does not know.
    Beyond `bytes_max` (0: no limit) it `is_full`: who adds is to add no more than must be.
    """

    def __init__(self, path: Path, disk: Disk | None = None, bytes_max: int = 0) -> None:
        content = read_journal(path)
        self.is_new = not path.exists()
        self.path = path
        self._disk = disk or Disk()
        self.records = content.records
        self._numbers = {
            id(one): n for one, n in zip(content.records, content.numbers, strict=True)
        }
        self._before = content.last  # the number before the first that is added
        self.last = self.durable = 0  # numbers of records added, and of those on disk
        self.added, self.awaited = Event(), Event()
        self._waiting: deque[bytes] = deque()
        self._unsynced: deque[bytes] = deque()  # written behind `_durable_bytes`
        self._durable_bytes = self._written_bytes = self.size_bytes = content.whole_bytes
        self._bytes_max = bytes_max
        self._mutex = Lock()
        self._syncing = Lock()
        self._file: int | None = None
        self._failure: OSError | None = None
        if content.damaged_lines:
            self._set_aside(content.damaged_lines)
        elif path.exists():
            confirm(path, path.read_bytes()[: content.whole_bytes], self._disk)

    @property
    def is_full(self) -> bool:
        """Whether it has come to its limit, with what was added."""
        return bool(self._bytes_max) and self.size_bytes >= self._bytes_max

    @property
    def durable_number(self) -> int:
        """The number `n` of the newest record that is on disk."""
        return self._before + self.durable

    def add(self, *records: Record) -> int:
        """Take records for the next `sync`; how many that makes since the journal was opened."""
        next_number = self._before + self.last + 1
        data = b"".join(map(_line, records, count(next_number)))
        self._waiting.append(data)
        self.size_bytes += len(data)
        self.last += len(records)
        return self.last

    def open(self) -> None:
        """Make the file now: who writes first would wait for the disk to know its name."""
        with self._mutex, named(self.path):
            if self._file is None:
                self._file = self._opened()

    @property
    def has_more(self) -> bool:
        """Whether something was added that is not on disk."""
        return self.last > self.durable

    def announce(self) -> None:
        """Wake the thread that syncs, if there is something for it: when what was added is on its
        way to a terminal, which a thread that is woken before would hold up.
        """
        if self.has_more and not self.added.is_set():  # `sync` clears it before it takes that
            self.added.set()

    def write(self) -> None:
        """Hand what was added to the operating system: it survives this process."""
        with self._mutex:
            self._write()

    def has_written(self) -> bool:
        """`write`, some 20 us, and whether it could: the thread that syncs tells why not."""
        try:
            self.write()
        except OSError:
            return False
        return True

    def sync(self) -> None:
        """Wait until what was added is on disk: it survives the power too. OSError if not.

        After a failure for another reason than room, no later call succeeds.
        """
        with self._syncing:  # not `_mutex`: who writes does not wait for the disk
            self.awaited.clear()
            self.added.clear()
            last = self.last
            try:
                with self._mutex:
                    self._write()
                    written_bytes = self._written_bytes
                if self._file is not None and last > self.durable:
                    with named(self.path):
                        self._disk.sync(self._file)
            except OSError as problem:
                self._take_back(problem)
                self.added.set()
                raise
            self._confirmed(written_bytes)
            self.durable = last

    def rewrite(self, records: Iterable[Record]) -> None:
        """Replace the whole file; to be called before it is open and anything was added.

        Records that it held keep their numbers, and no number is given again.
        """
        assert self._file is None and not self.last, "numbers go on behind those of the file"
        kept = [(record, self._numbers.get(id(record), 0)) for record in records]
        if kept and max(numbers := [number for _, number in kept]) < self._before:
            at = numbers.index(0) if 0 in numbers else len(kept) - 1  # one that nobody is told
            kept[at] = kept[at][0], self._before
        data = b"".join(_line(record, number) for record, number in kept)
        replace_file(self.path, data, self._disk)
        self._durable_bytes = self._written_bytes = self.size_bytes = len(data)

    def close(self) -> None:
        """Sync, and let go of the file. OSError if what was added is not all on disk."""
        try:
            self.sync()
        finally:
            file, self._file = self._file, None
            if file is not None:
                self._disk.close(file)

    def _write(self) -> None:
        if self._failure is not None:
            raise self._failure
        with named(self.path):
            if self._waiting and self._file is None:
                self._file = self._opened()
            if self._waiting and self._file is not None:
                waiting = [self._waiting[at] for at in range(len(self._waiting))]
                data = b"".join(waiting)
                self._disk.write_at(self._file, data, self._written_bytes)
                self._written_bytes += len(data)
                for _ in waiting:
                    self._unsynced.append(self._waiting.popleft())

    def _opened(self) -> int:
        make_directories(self.path.parent, self._disk)
        file = self._disk.open(self.path)
        try:
            self._disk.sync_directory(self.path.parent)
        except OSError:
            self._disk.close(file)
            raise
        return file

    def _confirmed(self, written_bytes: int) -> None:
        """A sync has taken so much of the file."""
        with self._mutex:
            while self._durable_bytes < written_bytes:
                self._durable_bytes += len(self._unsynced.popleft())

    def _take_back(self, problem: OSError) -> None:
        """Write again, in the same place, what no sync has confirmed; if there will be room."""
        with self._mutex:
            if not is_full(problem):
                self._failure = problem
            self._waiting.extendleft(reversed(self._unsynced))
            self._unsynced.clear()
            self._written_bytes = self._durable_bytes

    def _set_aside(self, lines: list[int]) -> None:
        """Keep the damaged file under another name; there is a whole journal at every moment."""
        number = 1
        while (other := self.path.with_stem(f"{self.path.stem}-{number}")).exists():
            number += 1
        logger.error("{}: lines {} are damaged; the file is kept as {}", self.path, lines, other)
        replace_file(other, self.path.read_bytes(), self._disk)
        self.rewrite(self.records)


def _line(record: Record, number: int) -> bytes:
    text = b'{"n":%d,' % number + _encode(record)[1:]
    return b"%08x %s\n" % (crc32(text), text)
