"""Our side of the benchmark `backtesters` trades as the plain program that is its reference."""

from __future__ import annotations

import venv
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.backtesters import by_us, reference
from benchmarks.backtesters.__main__ import main
from benchmarks.backtesters.contestants import US, AbsentError, Contestant, Program, python_of
from benchmarks.backtesters.job import POINT, Job, Quotes, trade, write
from mt5bridge.simulator import Walk, random_walk

TICKS, FAST, SLOW = 20_000, 20, 100


def quotes() -> Quotes:
    ticks = random_walk(Walk(TICKS, seed=3))
    return Quotes(*(ticks[name].copy() for name in ("time_msc", "bid", "ask")))


def test_our_trades_are_those_of_the_reference(tmp_path: Path) -> None:
    given, work = quotes(), Job(tmp_path, TICKS, FAST, SLOW)
    write(given, tmp_path)
    by_us.prepare(work)
    program = Program(python_of(US, tmp_path), US, work)
    program.run()
    program.stop()
    wanted = reference.trades(given, FAST, SLOW)
    assert len(wanted) > 100
    assert not reference.difference(wanted, program.answers[0].trades)


def test_the_reference_decides_at_a_tick_and_is_filled_at_the_next() -> None:
    bids = POINT * np.array([10, 10, 10, 14, 14, 9, 9, 9], np.float64)
    given = Quotes(np.arange(8), bids, bids + 2 * POINT)
    assert reference.trades(given, 1, 3) == [trade(4, bids[4] + 2 * POINT, 6, bids[6])]
    # decided at the last tick of all: nothing fills it
    assert not reference.trades(given.first(4), 1, 3)
    assert not reference.trades(given.first(6), 1, 3)


def test_differences_are_told() -> None:
    one = trade(1, 1.1, 2, 1.2)
    assert not reference.difference([one], [one])
    assert reference.difference([one], []) == "0 trades, to be 1"
    later = one._replace(closed_msc=5)
    assert reference.difference([one], [later]) == "closed_msc of 1, by 3 at most"
    dearer = one._replace(open_price=1.1 + POINT)
    assert "open_price" in reference.difference([one], [dearer])
    assert not reference.difference([one], [dearer], but=("open_price",))


def test_ticks_of_one_ms_have_times_of_their_own() -> None:
    prices = np.ones(4)
    times = Quotes(np.array([5, 5, 6, 6]), prices, prices).times_ns()
    assert times.tolist() == [5_000_000, 5_000_001, 6_000_000, 6_000_001]


def test_a_program_that_cannot_be_run_is_told_with_the_reason(tmp_path: Path) -> None:
    absent = Contestant("absent", "by_absent", "nothing")
    program = Program(python_of(absent, tmp_path), absent, Job(tmp_path, TICKS, FAST, SLOW))
    with pytest.raises(AbsentError, match=r"cannot be run: .*by_absent"):
        program.run()
    program.stop()


def test_a_package_that_cannot_be_had_is_told_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Contestant("absent", "by_absent", "nothing", "1.0")
    without_pip = partial(venv.create, clear=True)
    monkeypatch.setattr(venv, "create", lambda home, **_: without_pip(home))
    for _ in range(2):  # what was begun is not taken for complete
        with pytest.raises(AbsentError, match=r"cannot be installed: .*pip"):
            python_of(absent, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(AbsentError, match=r"has no environment: .*file"):
        python_of(absent, tmp_path / "file")


def test_means_and_ticks_that_make_no_run_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--ticks", "20000"], ["--fast", "2000"], ["--fast", "0"]):
        with pytest.raises(SystemExit):
            main(words)
        assert "20,010 ticks or more" in capsys.readouterr().err
