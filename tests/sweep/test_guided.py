"""Trials that Optuna chooses: of the grid, each once, repeatable, and better than chance."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cep.sweep
from cep.lang import parameters_of
from cep.lang.parameters import Value
from cep.sweep.errors import SweepError
from cep.sweep.found import Found
from cep.sweep.guided import BATCH, Guide
from cep.sweep.trials import axes
from cep.sweep.tried import Tried
from tests.backtest.archives import imported
from tests.sweep.test_sweep import POINTS, RULES, TRIED, command
from tests.sweep.test_trials import KNOWN

NUMBERS = parameters_of(
    "define parameter X double = 0.0 range -1.0 to 1.0 step 0.05;\n"
    "define parameter Y double = 0.0 range -1.0 to 1.0;\n"
)
Measure = Callable[[dict[str, Value]], float | None]


def chosen(guide: Guide, by: str, measure: Measure, batches: int) -> list[dict[str, Value]]:
    """Trials in the order in which they were asked for, with a measure in place of a backtest."""
    found = []
    for _ in range(batches):
        batch = guide.batch(BATCH)
        trials = [guide.trial(values) for values in batch]
        guide.tell(batch, [Tried(0, one, {by: measure(one)}, np.zeros(0)) for one in trials])
        found += trials
    return found


def from_best(trial: dict[str, Value]) -> float:
    return abs(float(trial["X"]) - 0.6) + abs(float(trial["Y"]) + 0.4)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guided")
    imported(folder, rows=400)
    return folder / "archive"


@pytest.mark.parametrize("by", ["net", "drawdown"])
def test_later_trials_are_nearer_to_the_best(by: str) -> None:
    """The most of `net`, the least of `drawdown`; trials without a measure are kept away from."""

    def measure(trial: dict[str, Value]) -> float | None:
        if float(trial["X"]) < 0.0:
            return None
        return -from_best(trial) if by == "net" else from_best(trial)

    found = chosen(Guide(axes(NUMBERS, {}), by, 1), by, measure, 6)
    first, last = found[:BATCH], found[-BATCH:]
    assert np.mean(list(map(from_best, last))) < 0.5 * np.mean(list(map(from_best, first)))
    assert sum(float(one["X"]) < 0.0 for one in last) < sum(float(one["X"]) < 0 for one in first)


def test_trials_are_values_that_parameters_may_have() -> None:
    found = axes(KNOWN, {"N": "4,1,2"})
    trials = chosen(Guide(found, "net", 3), "net", lambda one: float(one["W"]), 3)
    for axis in found:
        values = {one[axis.of.name] for one in trials}
        assert len(values) > 1
        assert values <= set(axis) or all(0.0 <= float(value) <= 1.0 for value in values)
        assert {type(value) for value in values} == {type(axis.of.value)}
        assert not any(axis.of.misfit(value) for value in values)


def test_rows_are_those_of_a_grid_and_the_same_for_a_seed(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cep.sweep.guided.BATCH", 4)
    grid = cep.sweep.run(RULES, archive, TRIED, point=POINTS)
    known = {tuple(one.values.items()): one.measures for one in grid.rows}

    def guided(seed: int) -> Found:
        return cep.sweep.run(RULES, archive, TRIED, optuna=9, by="points", seed=seed, point=POINTS)

    found = guided(1)
    assert [one.number for one in found.rows] == list(range(9)) and found.wanted == 9
    assert len({tuple(one.values.items()) for one in found.rows}) == 9
    assert all(one.measures == known[tuple(one.values.items())] for one in found.rows)
    assert found.luck("net") is None or 0.0 <= found.luck("net") <= 1.0
    monkeypatch.setattr("cep.sweep.blocks.BLOCK", 3)
    assert guided(1).rows == found.rows
    assert [one.values for one in guided(2).rows] != [one.values for one in found.rows]


def test_a_search_ends_where_there_is_no_more(archive: Path) -> None:
    tried = {"Width": "0.5,1", "Stop": "5", "Symbol": "EURUSD"}
    found = cep.sweep.run(RULES, archive, tried, optuna=100, point=POINTS)
    assert len(found.rows) == found.wanted == 2


def test_values_that_make_no_rules_are_rows_and_no_end(archive: Path) -> None:
    tried = {"Wait": "9 min, 2 hour", "Width": "0.5,1", "Stop": "5", "Symbol": "EURUSD"}
    found = cep.sweep.run(RULES, archive, tried, optuna=4, point=POINTS)
    assert len(found.rows) == 4 and sum(bool(one.error) for one in found.rows) == 2


def test_the_command_says_it_as_of_any_sweep(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    found = command(tmp_path, "--optuna", "6", "--seed", "4", "--out", str(out))
    assert found.exit_code == 0, found.output
    assert "6 variants of 6, best by net:" in found.output
    assert "the best of 6 tries is biased" in found.output
    assert len(out.read_text().splitlines()) == 1 + 6


def test_one_search_at_a_time(tmp_path: Path) -> None:
    found = command(tmp_path, "--optuna", "6", "--random", "4")
    assert found.exit_code == 2 and "--random and --optuna exclude each other" in found.output


def test_where_optuna_is_missing_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(SweepError, match="Optuna is not installed") as told:
        Guide(axes(NUMBERS, {}), "net", 1)
    assert "pip install '.[optuna]'" in told.value.hint


def test_nothing_to_try_is_said() -> None:
    with pytest.raises(SweepError, match="there is nothing to try"):
        Guide([], "net", 1)
