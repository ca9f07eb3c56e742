"""The rules of the benchmark `t1` answer as the program written by hand does."""

from __future__ import annotations

import pytest

from benchmarks.t1 import ByHand, Engine, batches, rules, timed


@pytest.mark.parametrize(("size", "symbols"), [(1, 2), (200, 3), (10_000, 2)])
def test_answers_are_those_of_a_plain_program(size: int, symbols: int) -> None:
    given = list(batches(4_000, size, symbols, 12))
    hand = ByHand()
    assert timed(Engine(rules(jit=False)), given)[1] == timed(hand, given)[1]
    advice = {kind for one in hand.newest.crossovers.values() for _, kind in one}
    assert advice == {"BUY", "SELL"}
