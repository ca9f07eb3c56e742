"""Worlds by their seeds."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.world.record import Record
from tests.world.world import World

_FAST = Path("/dev/shm")
"""Worlds write much, and wait for nothing."""


def run_seed(seed: int) -> Record:
    """One world, from its beginning to its end."""
    folder = Path(_scratch().name) / "world"
    try:
        return World(folder, seed).run()
    finally:
        shutil.rmtree(folder)


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """This process's, until its end: rules are compiled once for each path."""
    return tempfile.TemporaryDirectory(
        dir=_FAST if _FAST.is_dir() else None, prefix="world-", ignore_cleanup_errors=True
    )


def repeated_by(seed: int) -> str:
    """The command that runs one world again and tells its last events."""
    return f"python -m benchmarks.world --seed {seed}"
