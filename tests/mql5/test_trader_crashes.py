"""A slice of benchmarks/orders_crash.py: crashes between signal, send, execution and report."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.orders_world import World, worlds
from mt5bridge.emulator.build import CompilerMissingError


@pytest.mark.parametrize("seed", [1, 2])
def test_at_most_once_and_told(tmp_path: Path, seed: int) -> None:
    try:
        world = World(tmp_path, seed, points=5, wanted=40)
    except CompilerMissingError as missing:
        pytest.skip(str(missing))
    account = world.run()
    assert account.problems == []
    assert account.points == 5
    assert account.executed + account.cancelled > 0
    assert account.deals > 0


def test_points_are_shared_out() -> None:
    assert list(worlds(45, 20, 7)) == [(7, 20), (8, 20), (9, 5)]
