"""The folder of a run: whole or not there, the same bytes again, and what a program gets."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import cep.backtest
from cep.backtest.errors import BacktestError
from cep.cli import main
from mt5bridge.file_lock import lock
from tests.backtest.archives import recorded
from tests.backtest.rules import CHAINED
from tests.waiting import LONG_S, wait_until

NAMES = {"orders", "deals", "trades", "equity", "returns"}
ACCOUNT = "[account]\nbalance = 5000\n[symbols.'*']\ncontract_size = 1\ncommission_per_lot = 10\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    recorded(folder)
    (folder / "rules.cep").write_text(CHAINED)
    (folder / "account.toml").write_text(ACCOUNT)
    assert run(folder, folder / "first", "--account", str(folder / "account.toml")).exit_code == 0
    return folder


def arguments(place: Path, directory: Path, *more: str) -> list[str]:
    given = ["backtest", str(place / "rules.cep"), "--archive", str(place / "archive")]
    return [*given, "--master", "none", "--run", str(directory), *more]


def run(place: Path, directory: Path, *more: str) -> Result:
    return CliRunner().invoke(main, arguments(place, directory, *more))


def content(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def test_the_folder_has_all_about_the_run(place: Path) -> None:
    found = content(place / "first")
    assert {f"{name}.parquet" for name in NAMES} < found.keys()
    assert {"manifest.json", "metrics.json", "report.html", "rows/Fade.parquet"} < found.keys()
    manifest = json.loads(found.pop("manifest.json"))
    assert manifest["files"] == {
        name: hashlib.sha256(data).hexdigest() for name, data in found.items()
    }
    assert manifest["rules"]["sha256"] == hashlib.sha256(CHAINED.encode()).hexdigest()
    assert manifest["account"]["balance"] == 5000.0
    assert manifest["specifications"]["EURUSD"]["commission_per_lot"] == 10.0
    assert manifest["options"]["account"].endswith("account.toml")
    metrics = json.loads(found["metrics.json"])
    trades = pq.read_table(place / "first" / "trades.parquet")
    assert metrics["results"]["all"]["trades"] == trades.num_rows > 0
    assert metrics["equity"]["drawdown"] > 0 and metrics["account"]["start"] == 5000.0


def test_the_same_run_is_the_same_bytes(place: Path, tmp_path: Path) -> None:
    again = run(place, tmp_path / "again", "--account", str(place / "account.toml"))
    assert again.exit_code == 0, again.output
    assert content(tmp_path / "again") == content(place / "first")


def test_a_run_is_never_overwritten(place: Path) -> None:
    before = content(place / "first")
    refused = run(place, place / "first")
    assert refused.exit_code == 2 and "is there already" in refused.stderr
    assert content(place / "first") == before and not (place / "first.part").exists()


def test_what_fails_leaves_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    failed = run(place, tmp_path / "run")
    assert failed.exit_code == 2 and "No space" in failed.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_draft_of_a_killed_run_is_removed_and_told(place: Path, tmp_path: Path) -> None:
    draft = tmp_path / "run.part"
    (draft / "rows").mkdir(parents=True)
    (draft / ".lock").touch()
    (draft / "rows" / "torn.parquet").write_bytes(b"torn")
    result = run(place, tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "removing what a run that was killed has left" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert not (tmp_path / "run" / "rows" / "torn.parquet").exists()


def test_another_run_or_folder_is_left_alone(place: Path, tmp_path: Path) -> None:
    draft = tmp_path / "run.part"
    draft.mkdir()
    (draft / "mine").touch()
    assert "no draft of a run" in run(place, tmp_path / "run").stderr
    assert (draft / "mine").exists()
    held = lock(draft / ".lock")
    try:
        assert "another run is writing it" in run(place, tmp_path / "run").stderr
    finally:
        os.close(held)
    assert (draft / "mine").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_folder(
    place: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """It waits for somebody to read the pipe that its rows shall go into."""
    os.mkfifo(tmp_path / "pipe")
    given = arguments(place, tmp_path / "run", "--out", str(tmp_path / "pipe"))
    process = subprocess.Popen(
        [sys.executable, "-m", "cep", *given],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # a shell has what runs in its background ignore Ctrl-C, these tests as well
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_until(lambda: (tmp_path / "run.part" / "rows" / "Fade.parquet").exists())
        process.send_signal(number)
        assert process.wait(LONG_S) != 0
    finally:
        process.kill()
        process.wait()
    assert not (tmp_path / "run").exists()
    assert (tmp_path / "run.part").exists() is (number == signal.SIGKILL)


def test_a_program_gets_the_same(place: Path) -> None:
    found = cep.backtest.run(place / "rules.cep", place / "archive", account=place / "account.toml")
    for name in NAMES:
        assert getattr(found, name) == pq.read_table(place / "first" / f"{name}.parquet"), name
    for name, table in found.rows.items():
        assert table == pq.read_table(place / "first" / "rows" / f"{name}.parquet"), name
    assert {path.stem for path in (place / "first" / "rows").iterdir()} == found.rows.keys()
    assert found.report() == (place / "first" / "report.html").read_text(encoding="utf-8")
    written = json.loads((place / "first" / "metrics.json").read_bytes())
    assert json.loads(json.dumps(found.metrics)) == written
    assert len(found.to_pandas()["trades"]) == found.trades.num_rows


def test_programs_give_the_options_of_the_command(place: Path) -> None:
    rules = (place / "rules.cep").read_text()
    found = cep.backtest.run(
        rules, place / "archive", start="2023-11-15T12:00", end="2023-11-16", symbols=["EURUSD"],
        streams=["Fade"], point={"EURUSD": 1e-4},
    )  # fmt: skip
    assert found.rows.keys() == {"Fade"} and set(found.trades["symbol"].to_pylist()) == {"EURUSD"}
    assert found.finished.outcome.why_points == {"EURUSD": "given"}
    none = cep.backtest.run(rules, place / "archive", fills="none")
    assert none.trades.num_rows == none.orders.num_rows == 0 < none.rows["Fade"].num_rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symbol": ["EURUSD"]}, "no option symbol"),
        ({"start": "yesterday"}, "'yesterday' is no moment"),
        ({"streams": ["Fadee"]}, "no stream Fadee"),
        ({"reject": ["odd"]}, "no mark odd"),
        ({"symbols": ["EURUSX"]}, "no symbol EURUSX"),
    ],
)
def test_mistakes_of_programs_are_named(
    place: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(BacktestError, match=message):
        cep.backtest.run(CHAINED, place / "archive", **options)  # type: ignore[arg-type]
