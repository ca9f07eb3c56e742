"""The segment being written: begin, append, undo, seal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from mt5bridge.spool import block, segment
from mt5bridge.spool.disk import Disk, confirm, replace_file
from mt5bridge.spool.recovery import Tail
from mt5bridge.spool.segment import SegmentState, path_of
from mt5bridge.spool.state import Checkpoint


class SegmentWriter:
    """At most one open file in `directory`; `size` counts its durable bytes, 0 when none is."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self.number = 0
        self.size = 0
        self.groups = 0
        self.opened_ms = 0
        self.format = segment.VERSION
        self._directory = directory
        self._disk = disk
        self._file: int | None = None

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def take_over(self, tail: Tail) -> None:
        """Cut a newest segment left open after its last whole block, and seal it."""
        self.number = tail.segment.number
        path = tail.segment.path
        if tail.segment.state is not SegmentState.OPEN:
            return
        if tail.keep_bytes <= segment.HEADER_BYTES:
            self._disk.remove(path)
            self.number -= 1
            return
        data = path.read_bytes()
        if tail.keep_bytes < len(data):
            self._set_aside(path, data[tail.keep_bytes :])
        # What no later block says was durable may be in memory only, after a sync that failed.
        sure = tail.durable_bytes
        confirm(path, data[sure : tail.keep_bytes], self._disk, offset=sure)
        self._rename_sealed()

    def begin(self, checkpoint: Checkpoint, now_ms: int, version: int = segment.VERSION) -> None:
        """Create the next segment, durably, with `checkpoint` in it: older ones may go then."""
        path = path_of(self._directory, self.number + 1, SegmentState.OPEN)
        data = segment.header(version) + block.encode(checkpoint.encode(), 0)
        file = self._disk.open(path)
        try:
            self._disk.truncate(file, 0)
            self._disk.write_at(file, data, 0)
            self._disk.sync(file)
            self._disk.sync_directory(self._directory)
        except OSError:
            self._disk.close(file)
            with contextlib.suppress(OSError):
                self._disk.remove(path)
            raise
        self._file, self.size, self.number = file, len(data), self.number + 1
        self.groups, self.opened_ms, self.format = 0, now_ms, version

    def append(self, payloads: Iterable[bytes]) -> int:
        """Write one block a payload and wait for the disk; the number of bytes written."""
        assert self._file is not None, "begin() comes first"
        size, parts = self.size, list[bytes]()
        for payload in payloads:
            parts += block.head(payload, size), payload
        data = b"".join(parts)
        self._disk.write_at(self._file, data, self.size)
        self._disk.sync(self._file)
        self.size += len(data)
        self.groups += len(parts) // 2
        return len(data)

    def undo(self) -> None:
        """Remove what a failed append may have left behind the durable part."""
        if self._file is not None:
            self._disk.truncate(self._file, self.size)

    def seal(self) -> None:
        """Close and rename; a crash before the rename leaves an open segment, which is as good."""
        assert self._file is not None, "nothing is open"
        self.close()
        self._rename_sealed()

    def _rename_sealed(self) -> None:
        path = path_of(self._directory, self.number, SegmentState.OPEN)
        self._disk.rename(path, path_of(self._directory, self.number, SegmentState.SEALED))
        self._disk.sync_directory(self._directory)

    def close(self) -> None:
        if self._file is not None:
            self._disk.close(self._file)
        self._file, self.size, self.groups = None, 0, 0

    def _set_aside(self, path: Path, rest: bytes) -> None:
        """Keep cut-off bytes that still hold whole blocks, for repair by hand."""
        if any(isinstance(item, block.Block) for item in block.scan(rest)):
            replace_file(path.with_suffix(".cut"), rest, self._disk)
