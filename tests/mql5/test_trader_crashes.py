"""A slice of benchmarks/orders_crash.py: crashes between signal, send, execution and report."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.orders_faults import closes, life
from benchmarks.orders_world import World, worlds
from mt5bridge.emulator.build import CompilerMissingError
from mt5bridge.emulator.script import parse_script
from tests.mql5 import matrix

TRADERS = ["5001@Crash/trader", "5002@Other/trader"]


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
    assert (account.account_switches > 0) is (len(world.traders) > 1)
    assert world.traders == TRADERS[: 1 + seed % 2]


def test_points_are_shared_out() -> None:
    assert list(worlds(45, 20, 7)) == [(7, 20), (8, 20), (9, 5)]


def test_lives_have_every_fault() -> None:
    """Each reason of OnDeinit, logins to both accounts, each failure of files, a late login."""
    source = random.Random(1)
    lives = [list(life(source, switches=number % 2 == 1)) for number in range(200)]
    drawn = "\n".join(line for lines in lives for line in lines)
    drawn += "\n".join(filter(None, (closes(source) for _ in lives)))
    for reason in matrix.ALL:
        assert f"reinit=Trader reason={reason}" in drawn, reason
    for fault in ("login=5001", "login=5002", "open=", "move=", "delete=", "write=", "login_ms="):
        assert fault in drawn, fault
    for number, lines in enumerate(lives):
        assert parse_script("\n".join(lines)) is not None
        assert any('account="login=' in line for line in lines) is (number % 2 == 1)


def test_the_last_life_has_no_fault_but_both_accounts() -> None:
    assert list(life(random.Random(1), switches=False, last=True)) == []
    assert all(
        'account="login=' in line for line in life(random.Random(1), switches=True, last=True)
    )
