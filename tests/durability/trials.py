"""Plays a story once for each step of its disk: the step fails, or the process is killed there."""

from __future__ import annotations

import errno
import itertools
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from tests.durability.recording import Fault, Killed, RecordingDisk, recording

ERRORS = (errno.ENOSPC, errno.EIO, None)


class Story(Protocol):
    """Writes below a folder, makes promises, and can tell whether they were kept."""

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        """Write, and go on after an error as the product does; remember what was promised."""

    def check(self, folder: Path) -> None:
        """Assert that all that was promised is found below another folder."""


def play_all(
    make: Callable[[], Story],
    tmp_path: Path,
    errors: Iterable[int | None] = ERRORS,
    call: str = "",
) -> int:
    """Every step of a story (every `call`) fails once in every way; how many steps it has."""
    plain = trial(make(), tmp_path / "plain", None)
    for error in errors:
        for step in itertools.count(1):
            name = f"{errno.errorcode[error] if error else 'killed'}-{step}"
            disk = trial(make(), tmp_path / name, Fault(step, error, call))
            shutil.rmtree(tmp_path / name)
            if disk.steps < step:
                break
    shutil.rmtree(tmp_path / "plain")
    return plain.steps


def trial(story: Story, folder: Path, fault: Fault | None) -> RecordingDisk:
    """One run, and what it leaves after the end of the process and after a loss of power."""
    root = folder / "run"
    root.mkdir(parents=True)
    with recording(root, fault) as disk:
        try:
            story.play(root, disk)
        except Killed:
            while disk.files:
                disk.close(next(iter(disk.files)))
    if fault is None:
        assert not disk.pending_names(), "every new name is synced in the end"
    assert not disk.mistakes, f"{folder.name}: {disk.mistakes}"
    try:
        with recording(folder):  # for it does not wait for the real disk
            story.check(disk.lose_power(folder / "without power"))
            if fault is None or fault.error is None:
                story.check(shutil.copytree(root, folder / "killed"))
    except AssertionError as problem:
        raise AssertionError(f"{folder.name}: {problem}") from problem
    return disk
