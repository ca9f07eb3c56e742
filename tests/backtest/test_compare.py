"""Two runs compared: nothing that differs is left out, and nothing else is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import cep.backtest
from cep.backtest.compare import TRADES, WHICH, Run, compare, pairs, read_run
from cep.backtest.errors import BacktestError
from cep.backtest.trades import Trade
from cep.cli import main
from tests.backtest.archives import recorded
from tests.backtest.rules import CHAINED
from tests.backtest.test_metrics import trade


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    recorded(folder)
    (folder / "rules.cep").write_text(CHAINED)
    for name, *options in (("one",), ("same",), ("later", "--latency", "60000")):
        given = ["backtest", str(folder / "rules.cep"), "--archive", str(folder / "archive")]
        command = [*given, "--master", "none", "--run", str(folder / name), *options]
        assert CliRunner().invoke(main, command).exit_code == 0
    return folder


def told(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_the_same_run_does_not_differ(place: Path) -> None:
    found = told(place / "one", place / "same")
    assert found.exit_code == 0 and found.stdout.startswith("the same: ")


def test_what_differs_is_told_and_the_exit_code_is_1(place: Path) -> None:
    found = told(place / "one", place / "later")
    assert found.exit_code == 1, found.output
    assert "options.latency" in found.stdout and "60000" in found.stdout
    assert "results.all.points" in found.stdout and "files that differ: " in found.stdout
    whole = told(place / "one", place / "later", "--json")
    data = json.loads(whole.stdout)
    assert whole.exit_code == 1 and data["differs"] and data["results_differ"]
    assert {"name": "options.latency", "a": 0, "b": 60000} in data["manifest"]
    trades = data["trades"]
    counts = [read_run(place / name).trades.num_rows for name in ("one", "later")]
    both = trades["same"] + len(trades["different"])
    assert [both + len(trades[f"only_{which}"]) for which in "ab"] == counts
    assert f"trades: {trades['same']:,} the same, {len(trades['different']):,} diff" in found.stdout


def test_another_make_is_no_other_result(place: Path, tmp_path: Path) -> None:
    copytree(place / "one", tmp_path / "updated")
    path = tmp_path / "updated" / "manifest.json"
    path.write_text(path.read_text().replace('"version": "0', '"version": "9'))
    found = told(place / "one", tmp_path / "updated")
    assert found.exit_code == 1 and "code.version" in found.stdout
    assert "metrics: 0 differences" in found.stdout and "only in A:" not in found.stdout
    assert told(place / "one", tmp_path / "updated", "--results").exit_code == 0


def test_what_is_no_run_or_damaged_is_named(place: Path, tmp_path: Path) -> None:
    missing = told(place / "one", tmp_path)
    assert missing.exit_code == 2 and "no folder of a run (no manifest.json)" in missing.stderr
    damaged = tmp_path / "damaged"
    copytree(place / "one", damaged)
    (damaged / TRADES).write_bytes((place / "later" / TRADES).read_bytes())
    assert "not as its run has written it" in told(damaged, place / "one").stderr
    for text, message in (
        ("{", "damaged"), ("{}", "not that of a run"), ("[]", "damaged"),
        ('{"format": "mt5cep-run", "version": 99, "files": {}}', "written in version 99"),
    ):  # fmt: skip
        (damaged / "manifest.json").write_text(text)
        with pytest.raises(BacktestError, match=message):
            read_run(damaged)


def of(trades: list[Trade]) -> Run:
    """As a run that has made these."""
    from cep.backtest.account_tables import trades_table

    return Run({"files": {}}, {}, trades_table(trades))


@st.composite
def two_runs(draw: st.DrawFn) -> tuple[list[Trade], list[Trade]]:
    one = st.builds(trade, st.integers(-2, 2), st.integers(0, 3), st.integers(4, 6),
                    st.sampled_from(["Go", "Also"]))  # fmt: skip
    both = st.lists(one, max_size=8)
    return draw(both), draw(both)


@given(two_runs())
def test_each_trade_is_told_once(runs: tuple[list[Trade], list[Trade]]) -> None:
    """Against counts: as many are the same or different as both runs have of each kind."""
    a, b = runs
    found = compare(of(a), of(b))

    def kinds(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
        return Counter(tuple(row[name] for name in WHICH) for row in rows)

    ours, theirs = (kinds(of(rows).trades.to_pylist()) for rows in (a, b))
    assert kinds(found.only_a) == ours - theirs and kinds(found.only_b) == theirs - ours
    assert found.same + len(found.different) == (ours & theirs).total()
    for pair in found.different:
        assert pair.columns == tuple(name for name in pair.a if pair.a[name] != pair.b[name]) != ()
    turned = compare(of(b), of(a))
    assert (turned.same, turned.only_a, turned.only_b) == (found.same, found.only_b, found.only_a)
    assert compare(of(a), of(a)).same == len(a)


def test_nested_values_are_paired_by_their_path() -> None:
    found = {pair.name: (pair.a, pair.b) for pair in pairs({"x": {"y": 1}, "z": [1]}, {"x": {}})}
    assert found == {"x.y": (1, None), "z": ([1], None)}


def test_the_run_of_a_program_is_as_that_of_the_command(place: Path) -> None:
    found = cep.backtest.run(place / "rules.cep", place / "archive", latency=60_000)
    assert found.trades == read_run(place / "later").trades
