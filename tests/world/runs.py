"""Worlds by their seeds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.world.record import Record
from tests.world.world import World

_FAST = Path("/dev/shm")
"""Worlds write much, and wait for nothing."""


def run_seed(seed: int) -> Record:
    """One world, from its beginning to its end."""
    folder = _FAST if _FAST.is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder, prefix="world-") as scratch:
        return World(Path(scratch) / "world", seed).run()


def repeated_by(seed: int) -> str:
    """The command that runs one world again and tells its last events."""
    return f"python -m benchmarks.world --seed {seed}"
