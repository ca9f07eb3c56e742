"""The deflated Sharpe ratio: as its authors reckon it, and as chance has it."""

from __future__ import annotations

import numpy as np
import pytest

from cep.sweep.deflated import deflated, expected_best


def test_the_example_of_the_paper() -> None:
    """100 trials, an annualised variance of 1/2: 0.1132 a day is what the best has by luck."""
    assert expected_best(0.5 / 250, 100) == pytest.approx(0.1132, abs=1e-4)


@pytest.mark.parametrize("trials", [10, 200])
def test_the_best_by_luck_is_what_trials_without_skill_have(trials: int) -> None:
    random = np.random.default_rng(1)
    best = random.normal(0.0, 0.1, (4000, trials)).max(axis=1).mean()
    assert expected_best(0.01, trials) == pytest.approx(best, rel=0.05)


def test_one_trial_is_not_deflated() -> None:
    assert expected_best(0.5, 1) == 0.0 == expected_best(0.0, 100)


def test_more_tries_make_less_of_the_same_best() -> None:
    returns = np.random.default_rng(2).normal(0.2, 1.0, 250)
    sharpes = [0.05, -0.1, 0.2, 0.0]
    found = [deflated(returns, sharpes, trials) for trials in (2, 20, 2000)]
    assert all(value is not None and 0.0 < value < 1.0 for value in found)
    assert found == sorted(found, key=lambda value: -(value or 0.0))


def test_too_little_to_tell_is_none() -> None:
    assert deflated(np.array([1.0, 2.0]), [0.1, 0.2], 2) is None
    assert deflated(np.ones(10), [0.1, 0.2], 2) is None
    assert deflated(np.arange(10.0), [0.1], 1) is None
