"""Fixed work that none of our code does, one for each nature of figure: seconds it takes now."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import median_seconds, seconds
from benchmarks.w1 import echo

ECHO_RATE, ECHO_S = 10_000, 1.0
BLOCK, BLOCKS = bytes(1 << 18), 20
_NUMBERS = np.random.default_rng(1).random(400_000)


def machine(_folder: Path) -> float:
    """Machine code over arrays: sorting, running sums and a gather, beyond the inner caches."""

    def work() -> None:
        places = np.argsort(_NUMBERS)
        np.cumsum(_NUMBERS[places]).sum()

    return median_seconds(work, 3)


def python(_folder: Path) -> float:
    """Python's own pace: calls, dictionaries, small integers."""

    def step(number: int, known: dict[int, int]) -> int:
        known[number & 255] = known.get(number & 127, 0) + 1
        return number * 7 & 1023

    def work() -> None:
        known: dict[int, int] = {}
        number = 1
        for _ in range(150_000):
            number = step(number + 1, known)

    return median_seconds(work, 3)


def disk(folder: Path) -> float:
    """Blocks appended to a file, each synced."""

    def work() -> None:
        file = os.open(folder / "calibration", os.O_WRONLY | os.O_CREAT)
        try:
            for _ in range(BLOCKS):
                os.write(file, BLOCK)
                os.fdatasync(file)
        finally:
            os.close(file)

    return seconds(work)


def echoed(_folder: Path) -> float:
    """The median way there and back of W1's frames, by W1's plan, with a bare ROUTER."""
    return echo(ECHO_RATE, ECHO_S)[0] / 1e6


CALIBRATIONS: dict[str, Callable[[Path], float]] = {
    "machine": machine,
    "python": python,
    "disk": disk,
    "echo": echoed,
}
