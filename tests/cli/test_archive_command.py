"""`mt5cep archive` on a spool and an archive in a temporary directory."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive
from cep.cli import main
from cep.cli.text import aligned, counted
from mt5bridge.spool import Spool, gap
from tests.spool.groups import START_MSC, tick_group


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["archive", *map(str, arguments)])


def write_spool(folder: Path, *, second_sequence: int = 4) -> Path:
    """Two segments of EURUSD; the second begins with `second_sequence`."""
    spool = Spool(folder / "spool", segment_bytes=1)
    spool.recover()
    assert spool.append(tick_group(spool, "EURUSD", 1, START_MSC + np.arange(3)))
    spool.commit()
    if second_sequence > 4:
        missing = ("terminal", ("ticks", "EURUSD")), 4, 4, "terminal was off"
        assert spool.append(gap(spool.next_ingest, *missing))
    assert spool.append(tick_group(spool, "EURUSD", second_sequence, START_MSC + np.arange(9, 12)))
    spool.close()
    return folder / "spool"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    assert run("ingest", write_spool(tmp_path), tmp_path / "archive").exit_code == 0
    return tmp_path / "archive"


def test_ingest_twice_moves_everything_once(tmp_path: Path) -> None:
    spool = write_spool(tmp_path)
    first = run("ingest", spool, tmp_path / "archive")
    again = run("ingest", spool, tmp_path / "archive")
    assert first.stdout == "6 rows of 2 segments in 2 files\n", first.stderr
    assert again.stdout == "0 rows of 0 segments in 0 files\n"


@pytest.mark.campaign
@pytest.mark.spark
def test_ingest_with_spark_is_the_same(tmp_path: Path) -> None:
    spool = write_spool(tmp_path)
    result = run("ingest", "--spark", "local[2]", spool, tmp_path / "archive")
    assert result.exit_code == 0, result.output
    assert result.stdout == "6 rows of 2 segments in 2 files\n"
    assert run("verify", tmp_path / "archive").exit_code == 0


def test_spark_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("cep.spark")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run("ingest", "--spark", "local", write_spool(tmp_path), tmp_path / "archive")
    assert result.exit_code == 2 and "pip install '.[spark]'" in result.stderr


def test_ingest_of_a_missing_spool_is_refused(tmp_path: Path) -> None:
    result = run("ingest", tmp_path / "nowhere", tmp_path / "archive")
    assert result.exit_code == 2 and "nowhere: no such spool directory" in result.stderr


def test_verify_proves_a_good_archive(archive: Path) -> None:
    result = run("verify", archive)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "6 rows, 2 files, 1 stream: each record once, in order\n"


def test_verify_names_a_damaged_file(archive: Path) -> None:
    damaged = Archive(archive).manifest.files[0].path
    (archive / damaged).write_bytes(b"not parquet")
    result = run("verify", archive)
    assert result.exit_code == 2 and damaged in result.stderr


def test_verify_names_what_was_declared_lost(tmp_path: Path) -> None:
    run("ingest", write_spool(tmp_path, second_sequence=5), tmp_path / "archive")
    result = run("verify", tmp_path / "archive")
    assert result.exit_code == 0
    assert "declared lost: terminal ticks EURUSD 4-4: terminal was off" in result.stdout


def test_compact_and_ls(archive: Path) -> None:
    done = run("compact", archive).stdout.splitlines()
    assert done[0] == "2 files before, 1 now"
    assert done[1:] == [
        "2 replaced files kept for 24 hours, for those who read the archive meanwhile"
    ]
    assert run("compact", "--keep-hours", "0", archive).stdout == "1 file before, 1 now\n"
    listed = run("ls", archive).stdout.splitlines()
    assert listed[0].split() == ["stream", "symbol", "from", "to", "rows", "files"]
    assert listed[1].split()[:2] == ["ticks", "EURUSD"] and listed[1].split()[-2:] == ["6", "1"]
    files = run("ls", "--files", archive).stdout.splitlines()
    assert len(files) == 2 and files[1].split()[0].endswith(".parquet")


@pytest.mark.parametrize("verb", ["compact", "verify", "ls"])
def test_a_missing_archive_is_refused(verb: str, tmp_path: Path) -> None:
    result = run(verb, tmp_path / "nowhere")
    assert result.exit_code == 2 and "nowhere: no such archive" in result.stderr


def test_columns_line_up() -> None:
    rows = [["symbol", "rows"], ["EURUSD", "1,200"], ["X", "7"]]
    assert aligned(rows) == ["symbol  rows", "EURUSD  1,200", "X           7"]


def test_nouns_count() -> None:
    assert [counted(1, "query"), counted(2000, "query"), counted(0, "row")] == [
        "1 query", "2,000 queries", "0 rows",
    ]  # fmt: skip
