"""Machine code does not look whether an address is below 0, so none may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.trader.market import generated
from benchmarks.trader.running import NAMES, compiled
from cep.engine.machine import memory
from cep.engine.machine.kernels.words import Ints
from cep.replay import replay

MARKET = generated(250, 3)


class Watched(np.ndarray):  # type: ignore[type-arg]
    """An array that refuses to count from its end."""

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[above(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        np.asarray(self)[above(key)] = value


def above(key: Any) -> Any:
    """An index whose whole numbers are all 0 or more."""
    for one in key if isinstance(key, tuple) else (key,):
        assert not isinstance(one, int | np.integer) or one >= 0, f"{key} is below 0"
    return key


class WatchedMemory(memory.Memory):
    def _take(self, words: Ints) -> None:
        super()._take(words)
        self.i, self.f = self.i.view(Watched), self.f.view(Watched)


@pytest.mark.parametrize("name", NAMES)
def test_no_address_is_below_zero(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cep.engine.machine.stage.Memory", WatchedMemory)
    rules = compiled(name, jit=False, machine="always")
    assert sum(len(rows) for rows in replay(rules, MARKET.sources(rules.plan))) >= 0


def test_one_that_is_is_noticed() -> None:
    watched = np.zeros((1, 4)).view(Watched)
    with pytest.raises(AssertionError, match="below 0"):
        watched[0, -1] = 1
