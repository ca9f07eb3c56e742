"""The durable spool: appenders never wait for the disk, acknowledgements always do."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from mt5bridge.spool import segment
from mt5bridge.spool.block import HEAD_BYTES
from mt5bridge.spool.disk import Disk, lock, make_directories, named
from mt5bridge.spool.errors import SpoolError
from mt5bridge.spool.group import Group, StreamKey
from mt5bridge.spool.identity import forget, identity
from mt5bridge.spool.recovery import Recovery, examine
from mt5bridge.spool.segment import Segment, SegmentState, list_segments, path_of
from mt5bridge.spool.state import Checkpoint, Ends
from mt5bridge.spool.writer import SegmentWriter
from mt5bridge.troubles import is_full, told

MEBIBYTE = 1 << 20
MUCH_BYTES = MEBIBYTE
"""So much that waits is worth a commit."""


class Condition(StrEnum):
    """Whether appends are taken.

    `FULL`: the disk or `bytes_max` is exhausted, they are refused until space returns. `FAILED`:
    the disk has failed, and no later success could be believed; a restart finds what is safe.
    """

    READY = "ready"
    FULL = "full"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the spool was opened."""

    groups: int = 0
    records: int = 0
    commits: int = 0
    bytes: int = 0
    refused: int = 0
    write_errors: int = 0
    segments_deleted: int = 0


@dataclass(frozen=True, slots=True)
class Durable:
    """What one commit made safe: the last ingest number, and the last sequence by stream."""

    ingest: int
    sequences: dict[StreamKey, int]


class Spool:
    """An append-only log of record groups in `directory`, in segments of about `segment_bytes`.

    `append` and `commit` may be called from different threads; `commit` from one at a time. Who has
    appended lets the thread that commits know by `announce`, when it can do without the processor.
    At most `bytes_max` are kept on disk: the oldest archived segments go first, and when none
    is left, appends are refused until one is archived. `on_durable` is called by `commit`, and
    `before_write` before it writes anything: False, and all of it waits for the next commit.
    """

    def __init__(
        self,
        directory: Path,
        *,
        segment_bytes: int = 64 * MEBIBYTE,
        segment_ms: int = 3_600_000,
        bytes_max: int = 8192 * MEBIBYTE,
        pending_bytes_max: int = 256 * MEBIBYTE,
        on_durable: Callable[[Durable], None] | None = None,
        before_write: Callable[[], bool] = lambda: True,
        disk: Disk | None = None,
    ) -> None:
        self.directory = Path(directory)
        self.segment_bytes, self.segment_ms = segment_bytes, segment_ms
        self.bytes_max, self.pending_bytes_max = bytes_max, pending_bytes_max
        self.counters = Counters()
        self.condition = Condition.READY
        self.problem = ""
        self.recovered = Recovery()
        self._on_durable = on_durable
        self._before_write = before_write
        self._disk = disk or Disk()
        self._writer = SegmentWriter(self.directory, self._disk)
        self._mutex = threading.Lock()
        self._arrived, self._much = threading.Event(), threading.Event()
        self._pending: list[tuple[Group, bytes]] = []
        self._writing: list[tuple[Group, bytes]] = []
        self._pending_bytes = self._sealed_bytes = 0
        self._next_ingest, self._durable_ingest = 1, 0
        self._ends = Ends({})
        self._id = ""
        self._lock: int | None = None

    @property
    def next_ingest(self) -> int:
        """The smallest ingest number the next appended group may begin with."""
        return self._next_ingest

    @property
    def durable_ingest(self) -> int:
        return self._durable_ingest

    @property
    def pending_bytes(self) -> int:
        return self._pending_bytes

    # -- opening -------------------------------------------------------------------------------

    def recover(self) -> Recovery:
        """Lock the directory, cut a torn tail off, and say where every stream stands."""
        make_directories(self.directory, self._disk)
        self._lock = lock(self.directory / "LOCK")
        try:
            self.recovered = self._recover()
        except BaseException:
            os.close(self._lock)
            self._lock = None
            raise
        return self.recovered

    def _recover(self) -> Recovery:
        recovery, tail = examine(self.directory)
        self._id = recovery.spool or identity(self.directory, self._disk)
        self._ends = Ends(recovery.streams)
        self._next_ingest = recovery.last_ingest + 1
        self._durable_ingest = recovery.last_ingest
        if tail is not None:
            self._writer.take_over(tail)
        self._seal_forgotten()
        self._measure()
        return replace(recovery, spool=self._id)

    def _seal_forgotten(self) -> None:
        """Finish renames that failed after their segment was whole, before another one begins."""
        for old in list_segments(self.directory):
            if old.state is SegmentState.OPEN:
                self._disk.rename(
                    old.path, path_of(self.directory, old.number, SegmentState.SEALED)
                )
                self._disk.sync_directory(self.directory)

    def _measure(self) -> None:
        segments = list_segments(self.directory)
        self._sealed_bytes = sum(s.size_bytes for s in segments if s.state is not SegmentState.OPEN)

    # -- appending -----------------------------------------------------------------------------

    def append(self, group: Group) -> bool:
        """Take `group` for the next commit; False when the spool is full and took nothing."""
        data = group.encode()
        with self._mutex:
            if self._lock is None:
                raise SpoolError(f"{self.directory}: call recover() before append()")
            if group.ingest < self._next_ingest:
                raise ValueError(f"ingest {group.ingest} comes after {self._next_ingest - 1}")
            if self._refuses(len(data)):
                self._count(refused=1)
                return False
            self._next_ingest = group.ingest + group.width
            self._pending.append((group, data))
            self._pending_bytes += len(data)
        if self._pending_bytes >= MUCH_BYTES and not self._much.is_set():
            self._much.set()
            self._arrived.set()
        return True

    def announce(self) -> None:
        """Wake the thread that commits, if something waits for it.

        Python runs one thread at a time: one that is woken by each append takes the processor from
        what the appended records lead to. Much that waits wakes it by itself.
        """
        if self._pending and not self._arrived.is_set():  # commit() clears it before it takes them
            self._arrived.set()

    def _refuses(self, size: int) -> bool:
        is_ready = self.condition is Condition.READY
        return not is_ready or self._pending_bytes + size > self.pending_bytes_max

    def _count(self, **added: int) -> None:
        self.counters = replace(
            self.counters, **{name: getattr(self.counters, name) + n for name, n in added.items()}
        )

    def wait(self, timeout_s: float) -> bool:
        """Wait until something was announced since the last commit; False when time ran out."""
        return self._arrived.wait(timeout_s)

    def wait_for_much(self, timeout_s: float) -> bool:
        """Wait until so much waits that a commit is worth its price; False when time ran out."""
        return self._much.wait(timeout_s)

    # -- committing ----------------------------------------------------------------------------

    def commit(self, now_ms: int = 0) -> int:
        """Make everything appended so far durable; the last durable ingest number.

        When the disk is full what was appended stays in memory and the next call tries again.
        SpoolError when the disk fails in another way: nothing is taken any more.
        """
        if self.condition is Condition.FAILED:
            raise SpoolError(f"{self.directory}: has failed before: {self.problem}")
        self._arrived.clear()
        self._much.clear()
        with self._mutex:
            self._writing += self._pending
            self._pending = []
        durable = None
        try:
            with named(self.directory):
                if self._writing and self._before_write():
                    self._write(now_ms)
                    durable = self._written()
                self._rotate_if_due(now_ms)
        except OSError as error:
            self._fail(error)
        else:
            with self._mutex:
                self.condition, self.problem = Condition.READY, ""
        if durable is not None and self._on_durable:
            self._on_durable(durable)
        if self.condition is Condition.FAILED:
            raise SpoolError(f"{self.directory}: {self.problem}")
        return self._durable_ingest

    def _write(self, now_ms: int) -> None:
        needed = segment.format_of({group.stream for group, _ in self._writing})
        if self._writer.is_open and self._writer.format < needed:
            self.rotate()
            self._writer.close()  # one that is empty still
        if not self._writer.is_open:
            self._begin(needed, now_ms)
        payloads = [data for _, data in self._writing]
        self._make_room(HEAD_BYTES * len(payloads) + sum(map(len, payloads)))
        written_bytes = self._writer.append(payloads)
        self._count(commits=1, bytes=written_bytes)

    def _begin(self, needed: int, now_ms: int) -> None:
        self._seal_forgotten()
        first, streams = self._writing[0][0].ingest, self._ends.streams()
        version = max(needed, segment.format_of(stream for _, stream in streams))
        self._writer.begin(Checkpoint.of(self._id, first, streams), now_ms, version)
        forget(self.directory, self._disk)

    def _written(self) -> Durable:
        """All of it is on disk."""
        written, self._writing = self._writing, []
        groups = [group for group, _ in written]
        size, records = sum(len(data) for _, data in written), sum(one.width for one in groups)
        with self._mutex:
            self._pending_bytes -= size
            self._count(groups=len(written), records=records)
        self._durable_ingest = max(self._durable_ingest, groups[-1].last_ingest)
        return Durable(self._durable_ingest, self._ends.take(groups))

    def _fail(self, error: OSError) -> None:
        """Forget the partial write; its groups stay first in line for the next commit."""
        with self._mutex:
            self.problem = told(error)
            self._count(write_errors=1)
            if not is_full(error):
                self.condition = Condition.FAILED
            elif self._writing:
                self.condition = Condition.FULL
        with contextlib.suppress(OSError):  # the next commit overwrites the same place anyway
            self._writer.undo()
            if error.errno == errno.ENOSPC:
                self._free_one()

    def _free_one(self) -> None:
        """Delete the oldest archived segment, if there is one."""
        for old in self._archived():
            self._disk.remove(old.path)
            self._measure()
            self._count(segments_deleted=1)
            return

    def _archived(self) -> list[Segment]:
        """Segments that may go, oldest first; never the newest: it alone knows the numbering."""
        return [
            old for old in list_segments(self.directory)[:-1] if old.state is SegmentState.ARCHIVED
        ]

    def _make_room(self, size: int) -> None:
        """Delete archived segments, oldest first, until `size` bytes more are allowed."""
        if self._excess(size) <= 0:
            return
        self._measure()
        for old in self._archived():
            if self._excess(size) > 0:
                self._disk.remove(old.path)
                self._sealed_bytes -= old.size_bytes
                self._count(segments_deleted=1)
        if self._excess(size) > 0:
            raise OSError(
                errno.EDQUOT,
                f"{self.bytes_max} bytes are in use and no archived segment "
                "is left to delete; archive the spool or let it have more ([spool] max_mib)",
                str(self.directory),
            )

    def _excess(self, size: int) -> int:
        return self._sealed_bytes + self._writer.size + size - self.bytes_max

    # -- segments ------------------------------------------------------------------------------

    def _rotate_if_due(self, now_ms: int) -> None:
        age_ms = now_ms - self._writer.opened_ms
        if self._writer.size >= self.segment_bytes or age_ms >= self.segment_ms:
            self.rotate()

    def rotate(self) -> None:
        """Seal the open segment if it holds anything; what is pending goes to the next one."""
        if self._writer.is_open and self._writer.groups:
            size = self._writer.size
            self._writer.seal()
            self._sealed_bytes += size

    def segments(self) -> list[Segment]:
        return list_segments(self.directory)

    def mark_archived(self, sealed: Segment) -> None:
        segment.mark_archived(sealed, self._disk)

    # -- reading -------------------------------------------------------------------------------

    def read(self, from_ingest: int = 0) -> Iterator[Group]:
        """Durable groups from the one holding `from_ingest` on, in order."""
        return read(self.directory, from_ingest)

    def close(self) -> None:
        """Commit what is pending, seal the open segment, free the lock."""
        if self._lock is None:
            return
        try:
            if self.condition is not Condition.FAILED:
                self.commit()
                self.rotate()
        finally:
            self._writer.close()
            os.close(self._lock)
            self._lock = None


def read(directory: Path, from_ingest: int = 0) -> Iterator[Group]:
    """Groups stored in `directory`, from the one holding `from_ingest` on, in order."""
    for stored in _since(list_segments(directory), from_ingest):
        for group in segment.read_content(stored.path).groups:
            if group.last_ingest >= from_ingest:
                yield group


def _since(segments: list[Segment], from_ingest: int) -> list[Segment]:
    """The segments that may hold `from_ingest` or a later number."""
    for i in range(len(segments) - 1, 0, -1):
        checkpoint = segment.read_checkpoint(segments[i].path)
        if checkpoint and checkpoint.next_ingest <= from_ingest:
            return segments[i:]
    return segments
