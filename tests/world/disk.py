"""A disk that fails, and what is left of it when the power goes."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mt5bridge.spool import Disk
from tests.durability.recording import CALLS, File, Killed, RecordingDisk
from tests.world.record import Record


@dataclass
class Trouble:
    """What this life's disk does, by steps from its start; 0 never comes. Only steps count whose
    path holds `where`.

    `full_for` steps find no room from step `full_at` on; step `fails_at` has an input/output error;
    at step `killed_at` the process ends, in the middle of it.
    """

    full_at: int = 0
    full_for: int = 0
    fails_at: int = 0
    killed_at: int = 0
    where: str = ""


@dataclass(kw_only=True)
class WorldDisk(RecordingDisk):
    """As `RecordingDisk`, with a life's trouble; what a dead process asks for never happens."""

    record: Record
    chance: random.Random
    trouble: Trouble = field(default_factory=Trouble)
    is_dead: bool = False
    pause: Callable[[], None] = lambda: None
    """Where others may make a turn: before a sync, and behind it."""

    def begin(self, trouble: Trouble) -> None:
        """Another life."""
        self.trouble, self.steps, self.is_dead = trouble, 0, False

    def die(self) -> None:
        """The process is gone; its files are closed."""
        self.is_dead = True
        while self.files:
            self.close(next(iter(self.files)))

    def open(self, path: Path) -> int:
        self._live()
        return super().open(path)

    def close(self, number: int) -> None:
        if number in self.files:  # else it was closed when the process died
            super().close(number)

    def write_at(self, number: int, data: bytes, offset: int) -> None:
        self._live()
        super().write_at(number, data, offset)

    def sync(self, number: int) -> None:
        self._live()
        self.pause()
        super().sync(number)
        self.pause()
        self._live()

    def truncate(self, number: int, size: int) -> None:
        self._live()
        super().truncate(number, size)

    def remove(self, path: Path) -> None:
        self._live()
        super().remove(path)

    def make_directory(self, directory: Path, mode: int = 0o777) -> None:
        self._live()
        super().make_directory(directory, mode)

    def _live(self) -> None:
        if self.is_dead:
            raise Killed

    def _step(self, call: str, path: Path, halfway: Callable[[], None] = lambda: None) -> None:
        self._live()
        place, trouble = os.path.relpath(path, self.root), self.trouble
        self.record.note(f"disk {call} {place}")
        if trouble.where not in place:
            return
        self.steps += 1
        at = self.steps
        if at == trouble.killed_at:
            if self.chance.random() < 0.5:
                halfway()
            self.record.note("killed in it")
            self.die()
            raise Killed
        if at == trouble.fails_at:
            self._fail(errno.EIO, halfway)
        if 0 <= at - trouble.full_at < trouble.full_for and call in ("open", "write_at", "sync"):
            self._fail(errno.ENOSPC, halfway)

    def _fail(self, number: int, halfway: Callable[[], None]) -> None:
        halfway()
        self.record.note(f"fails: {errno.errorcode[number]}")
        raise OSError(number, os.strerror(number))

    # -- loss of power ---------------------------------------------------------------------------

    def lose_power_here(self) -> None:
        """Leave what the device has, and of what no sync has confirmed nothing, all or parts."""
        for directory in sorted(self.pending):
            if self.chance.random() < 0.5:
                self.sync_names(directory)
        for path in sorted({*self.names, *self.durable_names}, reverse=True):
            if path not in self.durable_names:
                _wipe(path)
        for path, file in sorted(self.durable_names.items()):
            if file is None:
                path.mkdir(parents=True, exist_ok=True)
            elif path.parent.is_dir():
                path.write_bytes(self._torn(file))
        self.names, self.durable_names, self.pending = {}, {}, {}

    def sync_names(self, directory: Path) -> None:
        for path, file in self.pending.pop(directory, {}).items():
            if isinstance(file, str):
                self.durable_names.pop(path, None)
            else:
                self.durable_names[path] = file

    def _torn(self, file: File) -> bytes:
        left = bytearray(file.durable)
        for start, end in file.dirty:
            first, last = sorted(self.chance.randint(start, end) for _ in range(2))
            for begin, stop in self.chance.choice(
                ((), ((start, end),), ((start, first),), ((start, first), (last, end)))
            ):  # nothing, all, the first part, or all but what is in between
                left.extend(bytes(max(0, stop - len(left))))
                left[begin:stop] = file.data[begin:stop]
        return bytes(left)

    def broken_promises(self) -> list[str]:
        """Files that took another's place before they were on the disk."""
        found = [text for text in self.mistakes if "is renamed" in text]
        self.mistakes.clear()
        return found


def _wipe(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def mounted(disk: WorldDisk) -> Iterator[None]:
    """Every `Disk` is this one, until the end."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(Disk, name, _of(disk, name))
        yield


def _of(disk: WorldDisk, name: str) -> Callable[..., Any]:
    def call(_self: Disk, *arguments: Any) -> Any:
        return getattr(disk, name)(*arguments)

    return call
