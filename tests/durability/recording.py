"""A disk that knows what a loss of power would leave, names broken orders of syncing, and fails.

While `recording` is on, everything written through `Disk` goes to real files and into a model of
the device: what a sync has confirmed of each file, and which names a directory's sync has. A step
can be made to fail once, as devices do, or to be the last one before the process is killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

import pytest

from mt5bridge.spool import Disk

CALLS = (
    "open", "write_at", "truncate", "sync", "close", "rename", "remove", "make_directory",
    "sync_directory",
)  # fmt: skip
_REAL: dict[str, Callable[..., Any]] = {name: getattr(Disk, name) for name in CALLS}
DRAFT = ".part"


class Killed(BaseException):
    """The process ends here."""


@dataclass(eq=False)
class File:
    """One file: its bytes as the operating system has them, and as the device has them."""

    data: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    dirty: list[tuple[int, int]] = field(default_factory=list)
    is_resized: bool = False

    @property
    def is_clean(self) -> bool:
        return (not self.dirty and not self.is_resized) or self.data == self.durable

    def write(self, data: bytes, offset: int) -> None:
        self.data.extend(bytes(max(0, offset + len(data) - len(self.data))))
        self.data[offset : offset + len(data)] = data
        self.dirty.append((offset, offset + len(data)))

    def truncate(self, size: int) -> None:
        self.is_resized |= size != len(self.data)
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))
        self.dirty = [(start, min(end, size)) for start, end in self.dirty if start < size]

    def sync(self) -> None:
        del self.durable[len(self.data) :]
        self.durable.extend(bytes(len(self.data) - len(self.durable)))
        for start, end in self.dirty:
            self.durable[start:end] = self.data[start:end]
        self.drop()

    def drop(self) -> None:
        """A sync has failed: what was to be written is forgotten, and counts as written."""
        self.dirty, self.is_resized = [], False


@dataclass(frozen=True)
class Fault:
    """What happens at a step: an error number, or the end of the process."""

    step: int
    error: int | None = None
    call: str = ""  # only calls of this name count as steps, if given
    path: str = ""  # only those whose path holds this text, if given
    count: int = 1  # so many steps, one after another


@dataclass
class RecordingDisk:
    """The model of everything below `root`. May be used from several threads."""

    root: Path
    fault: Fault | None = None
    steps: int = 0
    mistakes: list[str] = field(default_factory=list)
    names: dict[Path, File | None] = field(default_factory=dict)  # None: a directory
    durable_names: dict[Path, File | None] = field(default_factory=dict)
    pending: dict[Path, dict[Path, File | str | None]] = field(default_factory=dict)
    files: dict[int, tuple[Path, File]] = field(default_factory=dict)
    mutex: Any = field(default_factory=RLock)

    # -- what the product calls ----------------------------------------------------------------

    def open(self, path: Path) -> int:
        if not path.exists():
            self._step("open", path)
            self._name(path, File())
        number: int = _REAL["open"](Disk(), path)
        self.files[number] = (path, self.known(path))
        return number

    def write_at(self, number: int, data: bytes, offset: int) -> None:
        path, file = self.files[number]

        def half() -> None:
            part = data[: len(data) // 2]
            _REAL["write_at"](Disk(), number, part, offset)
            file.write(part, offset)

        self._step("write_at", path, half)
        _REAL["write_at"](Disk(), number, data, offset)
        file.write(data, offset)

    def truncate(self, number: int, size: int) -> None:
        path, file = self.files[number]
        self._step("truncate", path)
        _REAL["truncate"](Disk(), number, size)
        file.truncate(size)

    def sync(self, number: int) -> None:
        path, file = self.files[number]
        self._step("sync", path, file.drop)
        file.sync()

    def close(self, number: int) -> None:
        self.files.pop(number, None)
        _REAL["close"](Disk(), number)

    def rename(self, old: Path, new: Path) -> None:
        self._step("rename", old)
        file = self.known(old)
        if not file.is_clean:
            self.mistakes.append(f"{old.name} is renamed and not synced")
        _REAL["rename"](Disk(), old, new)
        self._name(old, None, is_gone=True)
        self._name(new, file)

    def remove(self, path: Path) -> None:
        if not path.exists():
            return
        self._step("remove", path)
        if path.suffix != DRAFT:
            self.mistakes += [f"{path.name} is removed, {text}" for text in self.unsynced([path])]
        _REAL["remove"](Disk(), path)
        self._name(path, None, is_gone=True)

    def make_directory(self, directory: Path, mode: int = 0o777) -> None:
        if directory.exists():
            return
        self._step("make_directory", directory)
        _REAL["make_directory"](Disk(), directory, mode)
        self._name(directory, None)

    def sync_directory(self, directory: Path) -> None:
        self._step("sync_directory", directory)  # names are journalled: none is dropped alone
        for path, file in self.pending.pop(directory, {}).items():
            if isinstance(file, str):
                self.durable_names.pop(path, None)
            else:
                self.durable_names[path] = file

    def arm(self, fault: Fault | None) -> None:
        """From now on, counted from here; None: nothing fails any more."""
        with self.mutex:
            self.fault, self.steps = fault, 0

    # -- what tests ask ------------------------------------------------------------------------

    def unsynced(self, but: Container[Path] = ()) -> list[str]:
        """What a loss of power would undo now, but removals, drafts, and some files."""
        found = [
            f"{path.name} is not synced"
            for path, file in self.names.items()
            if file is not None and not file.is_clean and _counts(path, but)
        ]
        for directory, pending in self.pending.items():
            found += [
                f"the name {path.name} in {directory.name} is not synced"
                for path, file in pending.items()
                if not isinstance(file, str) and _counts(path, but)
                if file is None or not self._has_durable_name(file)
            ]
        return found

    def pending_names(self) -> list[Path]:
        """Names that a sync of their directory has not confirmed, however harmless."""
        found = [
            (path, file) for pending in self.pending.values() for path, file in pending.items()
        ]
        return [path for path, file in found if not isinstance(file, str)]

    def _has_durable_name(self, file: File) -> bool:
        """Whether a loss of power leaves a file under another name, as before a renaming."""
        found = self.durable_names.items()
        return any(known is file and path.suffix != DRAFT for path, known in found)

    def acknowledged(self, what: str, but: Container[Path] = ()) -> None:
        """Somebody is told that everything is safe, but some files."""
        self.mistakes += [f"{what} is acknowledged, {text}" for text in self.unsynced(but)]

    def lose_power(self, into: Path) -> Path:
        """What the device holds, as files below another folder."""
        for path, file in sorted(self.durable_names.items()):
            if all(one in self.durable_names or one not in self.names for one in path.parents):
                place = into / path.relative_to(self.root)
                if file is None:
                    place.mkdir(parents=True, exist_ok=True)
                else:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(file.durable)
        return into

    # -- the model -----------------------------------------------------------------------------

    def known(self, path: Path) -> File:
        """A file; one that was written without `Disk` counts as being on the device."""
        if path not in self.names:
            data = path.read_bytes()
            self.names[path] = self.durable_names[path] = File(bytearray(data), bytearray(data))
        file = self.names[path]
        assert file is not None, f"{path} is a directory"
        return file

    def _name(self, path: Path, file: File | None, *, is_gone: bool = False) -> None:
        """A directory's entry changes; its sync makes that durable."""
        if is_gone:
            self.names.pop(path, None)
        else:
            self.names[path] = file
        self.pending.setdefault(path.parent, {})[path] = "gone" if is_gone else file

    def _step(self, call: str, path: Path, halfway: Callable[[], None] = lambda: None) -> None:
        fault = self.fault
        if fault and (fault.call not in ("", call) or fault.path not in str(path)):
            return
        self.steps += 1
        if fault and 0 <= self.steps - fault.step < fault.count:
            halfway()
            if fault.error is None:
                raise Killed
            raise OSError(fault.error, os.strerror(fault.error))


def _counts(path: Path, but: Container[Path]) -> bool:
    return path not in but and path.suffix != DRAFT


@contextmanager
def recording(root: Path, fault: Fault | None = None) -> Iterator[RecordingDisk]:
    """Every `Disk` records, until the end."""
    disk = RecordingDisk(root, fault)
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(Disk, name, _locked(disk, name))
        yield disk


def _locked(disk: RecordingDisk, name: str) -> Callable[..., Any]:
    def call(_self: Disk, *arguments: Any) -> Any:
        with disk.mutex:
            return getattr(disk, name)(*arguments)

    return call
