"""Folders that are no archive and addresses that are no paths are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive, ArchiveError
from cep.cli import main
from cep.inputs import rows
from cep.live.config import ConfigError, read_config
from mt5bridge.history import read_ticks
from mt5bridge.local import AddressError, local

RULES = "define stream Tick (symbol string, bid double);\nfrom Tick select bid insert into A;\n"
TICKS = "time_msc,bid,ask\n1709280000000,1.1,1.2\n"
ADDRESS = "s3://bucket/x"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with a rule file and ticks."""
    lay_out(tmp_path, monkeypatch, TICKS)
    return tmp_path


def lay_out(folder: Path, monkeypatch: pytest.MonkeyPatch, ticks: str) -> None:
    """Make it the working folder, with rules, ticks and an empty folder."""
    monkeypatch.chdir(folder)
    Path("a.cep").write_text(RULES)
    Path("ticks.csv").write_text(ticks)
    Path("empty").mkdir()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize(
    "command",
    ["archive verify", "archive ls", "archive compact", "backtest a.cep --master none --archive"],
)
def test_a_folder_without_an_archive_is_refused(here: Path, command: str) -> None:
    messages = {
        "empty": "empty: no archive here (no manifest.jsonl)",
        ".": "no archive here",
        "none": "none: no such archive",
    }
    for folder, message in messages.items():
        result = run(*command.split(), folder)
        assert result.exit_code == 2, result.output
        assert message in result.stderr and "archive import" in result.stderr
        assert "once" not in result.output
    assert not list(Path("empty").iterdir())


def test_an_archive_that_lost_its_manifest_is_not_called_new(here: Path) -> None:
    assert run("archive", "import", "there", "ticks.csv", "--symbol", "A").exit_code == 0
    Path("there/manifest.jsonl").unlink()
    result = run("archive", "verify", "there")
    assert result.exit_code == 2 and "restore manifest.jsonl from a copy" in result.stderr


def test_nothing_is_filled_into_somebodys_folder(here: Path) -> None:
    for arguments in (["import", ".", "ticks.csv", "--symbol", "A"], ["ingest", "empty", "."]):
        before = sorted(here.iterdir())
        result = run("archive", *arguments)
        assert result.exit_code == 2, result.output
        assert sorted(here.iterdir()) == before
    assert "not empty (a.cep is there)" in run("archive", "import", ".", "ticks.csv").stderr


@pytest.mark.parametrize("names", [[], [".gitkeep", "lost+found"], ["ticks", "deals"]])
def test_an_archive_begins_in_a_new_or_empty_folder(here: Path, names: list[str]) -> None:
    for name in names:
        Path("empty", name).mkdir()
    result = run("archive", "import", "empty", "ticks.csv", "--symbol", "A")
    assert result.exit_code == 0, result.output


def test_a_folder_without_segments_is_no_spool(here: Path) -> None:
    result = run("archive", "ingest", "empty", "archive")
    assert result.exit_code == 2 and "empty: no spool here" in result.stderr
    assert not Path("archive").exists()


PLACES = [
    "archive import a {} --symbol A", "archive ingest {} a", "backtest {} --archive a",
    "backtest a.cep --archive a --out {}", "backtest a.cep --archive a --report {}",
    "backtest a.cep --archive a --run {}", "backtest a.cep --archive a --work {}",
    "replay a.cep --input Tick={}", "replay a.cep --input Tick=ticks.csv --out {}", "replay {}",
    "check {}", "explain {}", "daemon --config {}", "simulate --symbol A --ticks {}",
    "demo --out {}",
]  # fmt: skip


@pytest.mark.parametrize("command", PLACES)
@pytest.mark.parametrize("address", [ADDRESS, "hdfs://host:9000/x", "file:///tmp/x"])
def test_addresses_are_no_paths(here: Path, command: str, address: str) -> None:
    before = sorted(here.rglob("*"))
    result = run(*command.format(address).split())
    assert result.exit_code == 2, result.output
    assert "is an address, not a path" in result.stderr, result.stderr
    assert ("leave out file://" if "file" in address else "mount it") in result.stderr
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    "text", ['[spool]\nfolder = "{}"', '[archive]\nfolder = "{}"', '[state]\nfolder = "{}"']
)
def test_addresses_in_settings_are_refused(here: Path, text: str) -> None:
    path = here / "daemon.toml"
    path.write_text('[rules]\nfile = "a.cep"\n' + text.format(ADDRESS))
    with pytest.raises(ConfigError, match=r"folder`: .* address, not a path"):
        read_config(path)


def test_addresses_are_refused_in_programs_too(here: Path) -> None:
    for use in (read_ticks, lambda at: rows(at, [])):
        with pytest.raises(AddressError, match="mount it"):
            use(ADDRESS)
    assert not Path("s3:").exists()
    for path in ("C:\\ticks", "C:/ticks", "a/b", "./s3:/b", "a:b", "/x"):
        assert local(path) == Path(path)


def test_a_folder_that_is_not_new_is_refused_in_programs_too(here: Path) -> None:
    with pytest.raises(ArchiveError, match="no such archive"):
        Archive(here / "none").require()
    with pytest.raises(ArchiveError, match="not empty"), Archive(here).writing():
        pass
