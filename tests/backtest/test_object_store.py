"""Backtests and sweeps of an archive in an object store: every byte is that of its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import cep.backtest
from cep.archive import Archive
from cep.archive.publish import publish
from cep.archive.remote import remote_at
from cep.cli import main
from tests.backtest.archives import imported
from tests.object_store import object_store
from tests.sweep.test_sweep import POINTS, RULES

PLACES = [("--master", "none"), ("--jobs", "2")]
OF_POINTS = [f"--point={symbol}={size}" for symbol, size in POINTS.items()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    imported(folder, rows=400)
    (folder / "rules.cep").write_text(RULES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with object_store() as store:
        place = store.new()
        publish(Archive(folder / "archive"), remote_at(place))
        yield place


def run(command: str, folder: Path, archive: str, *options: object) -> Result:
    given = [command, folder / "rules.cep", "--archive", archive, *OF_POINTS, *options]
    result = CliRunner().invoke(main, list(map(str, given)))
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, bytes]:
    """The files of a run over the folder."""
    where = folder / "expected"
    run("backtest", folder, str(folder / "archive"), "--master", "none", "--run", where)
    found = files(where)
    assert pq.read_table(where / "trades.parquet").num_rows >= 3
    assert {"deals.parquet", "rows/Turn.parquet", "report.html", "metrics.json"} < found.keys()
    return found


def files(where: Path) -> dict[str, bytes]:
    """All but what says where the archive was."""
    found = {path.relative_to(where).as_posix(): path for path in where.rglob("*.*")}
    del found["manifest.json"]
    return {name: path.read_bytes() for name, path in found.items()}


@pytest.mark.parametrize("place", PLACES, ids=" ".join)
def test_a_backtest_writes_the_same_bytes(
    folder: Path, address: str, expected: dict[str, bytes], tmp_path: Path, place: tuple[str, str]
) -> None:
    run("backtest", folder, address, *place, "--run", tmp_path / "run")
    assert files(tmp_path / "run") == expected


def test_a_sweep_writes_the_same_bytes(folder: Path, address: str, tmp_path: Path) -> None:
    tried = ["--param=Width=0.5,1,1.5,2", "--param=Stop=5"]
    run("sweep", folder, str(folder / "archive"), *tried, "--out", tmp_path / "here.csv")
    expected = (tmp_path / "here.csv").read_bytes()
    assert expected.count(b"\n") > 4
    for jobs in ("1", "2"):
        out = tmp_path / f"{jobs}.csv"
        run("sweep", folder, address, *tried, "--jobs", jobs, "--out", out)
        assert out.read_bytes() == expected


def test_others_read_it_there_too(folder: Path, address: str) -> None:
    for command, more in (
        ("lookahead", ["--cuts", "1"]),
        ("stress", ["--latency", "0,100", "--slippage", "0", "--spread", "1"]),
        ("walkforward", ["--train", "1h", "--test", "1h", "--param=Width=1,2", "--param=Stop=5"]),
    ):
        here = run(command, folder, str(folder / "archive"), *more)
        assert run(command, folder, address, *more).stdout == here.stdout, command
        assert here.stdout


def test_programs_give_the_address(folder: Path, address: str) -> None:
    there = cep.backtest.run(RULES, address, point=POINTS)
    here = cep.backtest.run(RULES, folder / "archive", point=POINTS)
    assert there.trades.equals(here.trades) and there.trades.num_rows
    assert there.rows.keys() == here.rows.keys()
