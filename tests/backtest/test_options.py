"""Options of a backtest: commands and programs refuse the same, and say what can be."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cep.sweep
from cep.backtest import lookahead, run, stress
from cep.backtest.errors import BacktestError
from cep.backtest.options import DEFAULTS, checked
from cep.cli import main
from cep.cli.errors import UserError
from cep.lang import parameters_of
from cep.sweep.errors import SweepError
from cep.sweep.found import Found
from cep.sweep.trials import axes
from tests.backtest.test_stress import BIDS, POINTS, history

WRONG: list[tuple[str, Any]] = [
    ("fills", "foo"), ("fills", None), ("deals", "foo"), ("deals", 1),
    ("latency", -1), ("latency", 0.5), ("latency", float("nan")), ("latency", True),
    ("latency", 10**20), ("valid_seconds", -5), ("valid_seconds", 10**20),
    ("magic", -1), ("magic", 2**70), ("magic", "77"),
    ("point", {"EURUSD": 0}), ("point", {"EURUSD": -1e-5}), ("point", {"EURUSD": float("nan")}),
    ("point", {"EURUSD": float("inf")}), ("point", {"EURUSD": 1e-320}),
    ("point", {"EURUSD": "0.00001"}), ("point", {"EURUSD": True}), ("point", 0.00001),
    ("point", {1: 0.1}), ("hedging", "false"), ("hedging", 1), ("account", {"balance": 1}),
    ("parameters", [1]), ("symbols", 5), ("symbols", [5]), ("streams", 5), ("reject", 5),
    ("start", "yesterday"), ("start", 1.5), ("end", True), ("end", 2**70), ("start", []),
    ("slippage", -1), ("slippage", float("nan")), ("slippage", "foo=1"), ("slippage", [1]),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    history(folder / "archive", rows=150)
    (folder / "bids.cep").write_text(BIDS)
    return folder


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_no_command_takes_no_program_does(name: str, value: Any) -> None:
    with pytest.raises(BacktestError) as caught:
        checked({name: value})  # type: ignore[misc]
    assert name in str(caught.value) and caught.value.hint


def test_values_of_other_libraries_are_plain_ones() -> None:
    found = checked(
        {
            "start": date(2024, 3, 1), "end": np.int64(1_709_337_600_000), "symbols": "EURUSD",
            "reject": "outlier", "point": {"EURUSD": np.float32(0.5)}, "latency": np.int32(5),
            "magic": np.uint8(7), "hedging": np.True_, "slippage": np.float64(0.5),
            "account": "account.toml",
        }
    )  # type: ignore[typeddict-item]  # fmt: skip
    assert found.keys() == DEFAULTS.keys()
    assert (found["start"], found["end"]) == (1_709_251_200_000, 1_709_337_600_000)
    assert (found["symbols"], found["reject"]) == (("EURUSD",), ("outlier",))
    assert found["point"] == {"EURUSD": 0.5} and found["hedging"] is True
    assert (found["latency"], found["magic"], found["slippage"]) == (5, 7, 0.5)
    assert {type(found[name]) for name in ("latency", "magic")} == {int}
    assert checked({"start": datetime(2024, 3, 1)})["start"] == found["start"]  # noqa: DTZ001


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--latency", "99999999999999999999"), ("--latency", "-1"), ("--magic", "-1"),
        ("--magic", str(2**70)), ("--valid-seconds", "-5"), ("--valid-seconds", "9" * 20),
        ("--point", "EURUSD=1e-320"), ("--point", "EURUSD=0"), ("--point", "EURUSD=1e300"),
        ("--fills", "foo"), ("--deals", "foo"),
    ],
)  # fmt: skip
def test_commands_name_the_option(folder: Path, option: str, value: str) -> None:
    given = ["backtest", str(folder / "bids.cep"), "--archive", str(folder / "archive")]
    found = CliRunner().invoke(main, [*given, option, value])
    assert option in found.output + str(found.exception)
    assert isinstance(found.exception, (SystemExit, UserError))


def test_a_name_of_a_file_is_no_text_of_rules(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(BacktestError, match="the name of a file") as caught:
        run("bids.cep", "archive")
    assert caught.value.hint is not None and "Path('bids.cep')" in caught.value.hint
    with pytest.raises(BacktestError, match=r"rules: nope\.cep cannot be read"):
        run(Path("nope.cep"), "archive")
    with pytest.raises(BacktestError, match="rules: 5 is no rules"):
        run(5, "archive")  # type: ignore[arg-type]


@pytest.mark.parametrize(("told", "times"), [(1e-5, ""), (1e-4, "10 times"), (0.01, "1,000 times")])
def test_a_point_that_prices_contradict_is_noted(folder: Path, told: float, times: str) -> None:
    """A distance of 20 points is then one of 200: no figure in points is what it seems."""
    found = run(folder / "bids.cep", folder / "archive", symbols="EURUSD",
                point={"EURUSD": told, "GBPUSD": told})  # fmt: skip
    notes = [one for one in found.told if "the point of EURUSD is told to be" in one]
    assert len(notes) == bool(times)
    if notes:
        assert "its prices show 0.00001, from 5 decimals of " in notes[0]
        assert times in notes[0] and "--point EURUSD=0.00001" in notes[0]


def test_the_page_names_the_file_of_the_rules(folder: Path) -> None:
    given: dict[str, Any] = {"symbols": "EURUSD"}
    page = run(folder / "bids.cep", folder / "archive", **given).report()
    assert "Backtest of bids.cep" in page
    assert "Backtest of rules" in run(BIDS, folder / "archive", **given).report()
    named = "@app:name('Fader')\n" + BIDS
    (folder / "named.cep").write_text(named)
    page = run(folder / "named.cep", folder / "archive", **given).report()
    assert "Backtest of Fader (named.cep)" in page


def test_one_symbol_may_be_a_text(folder: Path) -> None:
    found = run(folder / "bids.cep", folder / "archive", symbols="EURUSD", point=POINTS)
    listed = run(folder / "bids.cep", folder / "archive", symbols=["EURUSD"], point=POINTS)
    assert found.deals.equals(listed.deals) and set(found.deals["symbol"].to_pylist()) == {"EURUSD"}


def test_what_searches_and_stress_are_given_is_checked_too(folder: Path) -> None:
    rules, archive = folder / "bids.cep", folder / "archive"
    given: dict[str, Any] = {"point": POINTS}
    with pytest.raises(BacktestError, match="jobs: 0 is out of its range"):
        run(rules, archive, jobs=0, **given)
    with pytest.raises(BacktestError, match="cuts: 0 is out of its range"):
        lookahead(rules, archive, cuts=0, **given)
    for axis in ({"spreads": [0]}, {"spreads": ["1e-320"]}, {"latencies": [10**20]},
                 {"latencies": [-5]}, {"slippages": [-3]}):  # fmt: skip
        with pytest.raises(BacktestError, match=r"^(spread|latency|slippage)"):
            stress(rules, archive, **axis, **given)  # type: ignore[arg-type]
    for wrong in ({"random": 0}, {"jobs": 0}, {"limit": 0}):
        with pytest.raises(BacktestError, match=rf"{next(iter(wrong))}: 0 is out of its range"):
            cep.sweep.run(rules, archive, {}, **wrong, **given)
    with pytest.raises(SweepError, match="by: 'foo' is no measure"):
        cep.sweep.run(rules, archive, {}, by="foo", **given)
    with pytest.raises(SweepError, match=r"Width: \[1\.0\] does not say what to try"):
        axes(parameters_of("define parameter Width double = 1;"), {"Width": [1.0]})
    with pytest.raises(BacktestError, match="train_ms: 0 is out of its range"):
        cep.sweep.walkforward(rules, archive, {}, train_ms=0, test_ms=1, **given)
    with pytest.raises(SweepError, match="by: 'foo' is no measure"):
        Found([], 0).best("foo")
