"""The kill benchmark in short: SIGKILL under load, with and without a loss of power."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kill import Test as Killing
from tests.campaign import either


@pytest.mark.parametrize("power_loss", [False, True])
def test_nothing_is_lost_or_done_twice(tmp_path: Path, power_loss: bool) -> None:
    ticks = either(2_000, 8_000)
    outcome = Killing(tmp_path, seed=7, ticks=ticks, power_loss=power_loss).run(kills=3)
    assert outcome.problems == []
    assert outcome.kills == 3
    assert outcome.ticks == 6 * ticks and outcome.executed > 0
    assert outcome.never_executed == outcome.executed_twice == 0
