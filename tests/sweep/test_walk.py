"""Walk forward: chosen on the training alone, traded behind it by rules that have seen it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import cep.sweep
from cep.backtest.work import Work
from cep.cli import main
from cep.sweep.errors import SweepError
from cep.sweep.sweep import Bench, Job
from cep.sweep.walk import total, windows
from tests.backtest.archives import START_MSC, imported
from tests.sweep.test_sweep import FILLS, POINTS, RULES

HOUR_MS = 3_600_000
TRIED = {"Width": "0.5,1.25", "Stop": "5,25", "Symbol": "EURUSD"}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    imported(folder)
    return folder / "archive"


def test_each_window_is_a_sweep_and_then_a_run_of_its_best(archive: Path) -> None:
    found = cep.sweep.walkforward(
        RULES, archive, TRIED, train_ms=5 * HOUR_MS, test_ms=3 * HOUR_MS, point=POINTS
    )
    assert len(found) > 2 and any(one.trades for one in found)
    for one in found[:2]:
        window = one.window
        trained = cep.sweep.run(
            RULES, archive, TRIED, start=window.from_msc, end=window.test_msc, point=POINTS
        )
        best = trained.best("net", 1)[0]
        assert (one.values, one.trained) == (best.values, best.measures["net"])
        job = Job(
            (RULES, "rules"), str(archive),
            {"start": window.from_msc, "end": window.to_msc, "point": POINTS},
        )  # fmt: skip
        work = Work(Bench(job).variant(dict(best.values)), shows_rows=False, has_report=False)
        work.take(work.in_this_process(), [])
        signals = work.results.signals
        work.results.signals = [pair for pair in signals if pair[1]["time_msc"] >= window.test_msc]
        assert len(work.results.signals) < len(signals)
        assert list(one.trades) == work.finish(is_tried=False).outcome.trades
        assert all(trade.opened_msc >= window.test_msc for trade in one.trades)
    assert total(found).trades == sum(len(one.trades) for one in found)


def test_windows_are_searched_by_optuna_or_draws_as_a_sweep_is(archive: Path) -> None:
    """docs/backtest.md: "each window is then a search of its own"."""
    lengths = {"train_ms": 5 * HOUR_MS, "test_ms": 8 * HOUR_MS}
    for how in ({"optuna": 3}, {"random": 3}):
        wish = {**how, "seed": 5, "by": "points", "point": POINTS}
        found = cep.sweep.walkforward(RULES, archive, TRIED, **lengths, **wish)  # type: ignore[arg-type]
        window = found[0].window
        trained = cep.sweep.run(
            RULES, archive, TRIED, start=window.from_msc, end=window.test_msc, **wish  # type: ignore[arg-type]
        )  # fmt: skip
        best = trained.best("points", 1)[0]
        assert (found[0].values, found[0].trained) == (best.values, best.measures["points"])


def test_processes_say_the_same_of_windows(archive: Path) -> None:
    given_ = {"train_ms": 5 * HOUR_MS, "test_ms": 4 * HOUR_MS, "point": POINTS}
    tried = {**TRIED, "Stop": "5"}
    found, expected = (
        cep.sweep.walkforward(RULES, archive, tried, jobs=jobs, **given_)  # type: ignore[arg-type]
        for jobs in (2, 1)
    )
    assert len(found) > 1
    assert [(one.row(), one.trades) for one in found] == [
        (one.row(), one.trades) for one in expected
    ]


def test_what_comes_later_changes_no_choice(archive: Path, tmp_path: Path) -> None:
    given_ = {"train_ms": 5 * HOUR_MS, "test_ms": 3 * HOUR_MS, "point": POINTS}
    whole = cep.sweep.walkforward(RULES, archive, TRIED, **given_)  # type: ignore[arg-type]
    cut = cep.sweep.walkforward(
        RULES, archive, TRIED, end=whole[1].window.test_msc + 1, **given_  # type: ignore[arg-type]
    )  # fmt: skip
    chosen = [(one.values, one.trained) for one in whole]
    assert [(one.values, one.trained) for one in cut] == chosen[: len(cut)]


@given(st.integers(1, 400), st.integers(1, 100), st.integers(1, 100))
def test_windows_cover_all_behind_the_first_training_once(
    span_ms: int, train_ms: int, test_ms: int
) -> None:
    first, last = START_MSC, START_MSC + span_ms
    if span_ms < train_ms:
        with pytest.raises(SweepError, match="leaves none behind the first training"):
            windows(first, last, train_ms, test_ms)
        return
    some = windows(first, last, train_ms, test_ms)
    assert some[0].from_msc == first and some[-1].to_msc == last + 1
    for before, behind in pairwise(some):
        assert before.to_msc == behind.test_msc
    assert all(one.test_msc - one.from_msc == train_ms for one in some)
    assert all(0 < one.to_msc - one.test_msc <= test_ms for one in some)


def test_rules_that_see_their_fills_are_refused(archive: Path) -> None:
    with pytest.raises(SweepError, match="cannot be walked forward"):
        cep.sweep.walkforward(
            FILLS, archive, TRIED, train_ms=5 * HOUR_MS, test_ms=3 * HOUR_MS, point=POINTS
        )


def test_the_command_lists_windows_and_what_they_come_to(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.cep").write_text(RULES, encoding="utf-8")
    points = [text for name, size in POINTS.items() for text in ("--point", f"{name}={size}")]
    out = tmp_path / "windows.csv"
    given_ = [
        "walkforward", str(tmp_path / "rules.cep"), "--archive", str(archive), *points,
        "--train", "5h", "--test", "3 hours", "--param", "Width=0.5,1.25", "--param", "Stop=5",
        "--param", "Symbol=EURUSD", "--out", str(out),
    ]  # fmt: skip
    found = CliRunner().invoke(main, given_)
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert lines[0].split()[:4] == ["traded", "from", "Width", "Stop"]
    assert lines[-2].startswith("together") and "window" in lines[-1]
    assert len(out.read_text().splitlines()) == len(lines) - 2
    guided = CliRunner().invoke(main, [*given_[:-2], "--optuna", "1"])
    assert guided.exit_code == 0 and guided.output.splitlines()[-2].startswith("together")
    wrong = CliRunner().invoke(main, [*given_[:-2], "--train", "soon"])
    assert wrong.exit_code == 2 and "is no time; write it such as 30d" in wrong.output
