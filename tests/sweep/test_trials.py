"""Which values a sweep tries."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.lang import parameters_of
from cep.sweep.errors import SweepError
from cep.sweep.trials import axes, draws, grid

RULES = """
define parameter W double = 2.0 range 1.0 to 3.0 step 0.1;
define parameter N int = 2 range 1 to 4;
define parameter F double = 0.5 range 0.0 to 1.0;
define parameter T time = 4 min range 1 min to 10 min step 3 min;
define parameter B bool = true in (true, false);
define parameter Fixed int = 7;
"""
KNOWN = parameters_of(RULES)


def test_limits_of_the_rules_are_what_is_tried() -> None:
    found = {axis.of.name: list(axis) for axis in axes(KNOWN, {"F": "0,1"})}
    assert found == {
        "W": [round(1 + n / 10, 1) for n in range(21)],
        "N": [1, 2, 3, 4],
        "F": [0.0, 1.0],
        "T": [60_000, 240_000, 420_000, 600_000],
        "B": [True, False],
    }


def test_texts_narrow_and_fix_them() -> None:
    given_ = {"W": "1.5:2:0.5", "N": "3", "F": "0:1:0.25", "T": "4min,10 min", "Fixed": "7:9"}
    found = {axis.of.name: list(axis) for axis in axes(KNOWN, given_)}
    assert found["W"] == [1.5, 2.0] and found["N"] == [3]
    assert found["F"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert found["T"] == [240_000, 600_000] and found["Fixed"] == [7, 8, 9]


def test_a_grid_is_every_combination() -> None:
    found = axes(KNOWN, {"W": "1:1.3", "F": "0,1"})
    trials = grid(found)
    assert len(trials) == 4 * 4 * 2 * 4 * 2
    expected = product(*(list(axis) for axis in found))
    assert [tuple(trial.values()) for trial in trials] == list(expected)
    assert list(trials[0]) == ["W", "N", "F", "T", "B"]


def test_a_grid_without_a_step_or_beyond_the_limit_is_refused() -> None:
    with pytest.raises(SweepError, match="a grid needs a step of F"):
        grid(axes(KNOWN, {}))
    with pytest.raises(SweepError, match=r"1,344 combinations \(W 21 x N 4 x F 2 x T 4 x B 2\)"):
        grid(axes(KNOWN, {"F": "0,1"}), 1_000)
    with pytest.raises(SweepError, match="there is nothing to try"):
        grid(axes(parameters_of("define parameter P int = 1;"), {}))


@given(st.integers(1, 60), st.integers(0, 5))
def test_draws_are_of_the_grid_each_once_and_the_same_for_a_seed(count: int, seed: int) -> None:
    found = axes(KNOWN, {"W": "1:1.2", "F": "0,1", "T": "4 min"})
    trials = draws(found, count, seed)
    everything = grid(found)
    assert all(trial in everything for trial in trials)
    assert len({tuple(trial.values()) for trial in trials}) == min(count, len(everything))
    assert draws(found, count, seed) == trials


def test_draws_of_a_range_without_a_step_are_within_it() -> None:
    trials = draws(axes(KNOWN, {}), 50, 1)
    assert len(trials) == 50 and all(0.0 <= float(trial["F"]) <= 1.0 for trial in trials)
    assert not any(math.isclose(float(trial["F"]), 0.5) for trial in trials[:3])
