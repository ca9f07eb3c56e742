"""A corpus of bad tick files: each is refused with place and remedy, noted, or read as it is meant.

Nothing is silent, and nothing is an internal error.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive
from cep.cli import main
from tests.cli.bad_tick_files import CORPUS, GOOD, Bad

RULES = "define stream Tick ({}bid double, ask double);\nfrom Tick select bid, ask insert into O;\n"


def written(folder: Path, bad: Bad) -> Path:
    path = folder / bad.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bad.content)
    return path


def imported(archive: Path, path: Path, bad: Bad) -> Result:
    given = () if bad.content.startswith(b"time_msc,symbol") else ("--symbol", "EURUSD")
    clock = ("--server-time", bad.server) if bad.server else ()
    return CliRunner().invoke(main, ["archive", "import", str(archive), str(path), *given, *clock])


def replayed(folder: Path, path: Path, bad: Bad) -> Result:
    rules = folder / "rules.cep"
    has_symbol = bad.content.startswith(b"time_msc,symbol")
    rules.write_text(RULES.format("symbol string, " if has_symbol else ""), encoding="utf-8")
    given = (str(rules), "--backend", "reference", "--input", f"Tick={path}")
    return CliRunner().invoke(main, ["replay", *given])


def check_said(result: Result, path: Path, said: str | None) -> bool:
    """Whether rows were taken; a refusal has its place in the file and a remedy."""
    assert result.exit_code in (0, 2), result.output
    assert "internal error" not in result.output and "Traceback" not in result.output
    assert len(result.stderr) < 1_500 + 3 * len(str(path))  # not the file itself
    if said is None or not said.startswith(":"):
        assert result.exit_code == 0, result.output
        assert said is None or (f"{said}" in result.stderr and "note:" in result.stderr)
        return True
    line, _, text = said[1:].partition(":") if said[1:2].isdigit() else ("", "", said[1:])
    assert result.exit_code == 2, result.output
    message = result.stderr.removeprefix("error: ")
    assert message.startswith(f"{path}:{line}:" if line else f"{path}:"), message
    assert text in message and ("; " in message or "\nhelp: " in message), message
    return False


@pytest.mark.parametrize("bad", CORPUS, ids=lambda bad: bad.name)
def test_import_refuses_notes_or_reads_what_is_meant(tmp_path: Path, bad: Bad) -> None:
    """Of what is refused nothing is archived; what is neither refused nor noted is read right."""
    path, archive = written(tmp_path, bad), tmp_path / "archive"
    result = imported(archive, path, bad)
    if not check_said(result, path, bad.imported):
        assert Archive(archive).manifest.files == ()
    elif bad.imported is None:
        assert result.stderr == ""
        rows = [row for part in Archive(archive).read_batches() for row in part.to_pylist()]
        assert [(row["time_msc"], row["bid"], row["ask"]) for row in rows] == plain(bad.content)
        assert {row["quality"] for row in rows} == {0}


@pytest.mark.parametrize("bad", CORPUS, ids=lambda bad: bad.name)
def test_replay_refuses_notes_or_takes_the_rows_as_they_are(tmp_path: Path, bad: Bad) -> None:
    path = written(tmp_path, bad)
    result = replayed(tmp_path, path, bad)
    if check_said(result, path, bad.replayed):
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        header = bad.content.split(b"\n", 1)[0]
        assert len(rows) == 0 if bad.replayed == "no rows" else len(rows) > 0, header


def plain(content: bytes) -> list[tuple[int, float, float]]:
    """The obvious reading of a good file, whatever its encoding, line ends and decimals."""
    encoding = "utf-8-sig"
    if content.startswith(b"\xff\xfe"):
        encoding = "utf-16"
    elif content.startswith(b"\0"):
        encoding = "utf-16-be"
    text = content.decode(encoding).replace("\r\n", "\n")
    if ";" in text:
        text = text.replace(",", ".").replace(";", ",")
    rows = csv.DictReader(io.StringIO(text))
    return [(int(row["time_msc"]), float(row["bid"]), float(row["ask"])) for row in rows]


def test_the_corpus_is_large_and_holds_all_ways() -> None:
    assert len(CORPUS) == len({bad.name for bad in CORPUS}) >= 100
    for said in ([bad.imported for bad in CORPUS], [bad.replayed for bad in CORPUS]):
        assert sum(one is None for one in said) > 5
        assert sum(one is not None and one.startswith(":") for one in said) > 40


# -- what is no file ------------------------------------------------------------------------------


def both(tmp_path: Path, path: str) -> list[Result]:
    rules = tmp_path / "rules.cep"
    rules.write_text(RULES.format(""), encoding="utf-8")
    runs = (
        ["archive", "import", str(tmp_path / "archive"), path, "--symbol", "EURUSD"],
        ["replay", str(rules), "--backend", "reference", "--input", f"Tick={path}"],
    )
    return [CliRunner().invoke(main, run) for run in runs]


@pytest.mark.parametrize("name", ["", "no.csv", "EURUSD.csv/no.csv"])
def test_what_is_no_file_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    """A folder, nothing, a file taken for a folder."""
    (tmp_path / "EURUSD.csv").write_text(GOOD, encoding="utf-8")
    said = "no such file" if name else "a folder, not a file"
    for result in both(tmp_path, str(tmp_path / name))[not name :]:  # folders are imported
        assert result.exit_code == 2 and f"{said}; " in result.stderr, result.output


@pytest.mark.parametrize("address", ["s3://bucket/x.csv", "https://a/b.csv", "file:///x.csv"])
def test_addresses_are_no_paths(tmp_path: Path, address: str) -> None:
    for result in both(tmp_path, address):
        assert result.exit_code == 2 and "is an address, not a path" in result.stderr
    assert not Path(address.partition("/")[0]).exists()


def test_a_file_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Administrators may read all, so that the system's answer is given here."""
    path = tmp_path / "EURUSD.csv"
    path.write_text(GOOD, encoding="utf-8")

    def denied(source: object, **given: object) -> None:
        raise PermissionError(13, "Permission denied", str(source))

    monkeypatch.setattr(pa, "input_stream", denied)
    for result in both(tmp_path, str(path)):
        assert result.exit_code == 2 and f"{path}: cannot be read" in result.stderr, result.output
        assert "Permission denied" in result.stderr


def test_an_export_that_overlaps_the_one_before_is_refused(tmp_path: Path) -> None:
    """`--overlap` is the remedy, and takes each tick once."""
    path, archive = tmp_path / "EURUSD.csv", str(tmp_path / "archive")
    path.write_text(GOOD, encoding="utf-8")
    given = ["archive", "import", archive, str(path), "--symbol", "EURUSD"]
    assert CliRunner().invoke(main, given).exit_code == 0
    again = CliRunner().invoke(main, given)
    assert again.exit_code == 2 and "archive import --overlap new" in again.stderr
    once = CliRunner().invoke(main, [*given, "--overlap", "new"])
    assert once.exit_code == 0 and "nothing is new" in once.stderr


def test_an_export_in_another_unit_than_the_archive_is_noted(tmp_path: Path) -> None:
    """All of it is 100 times off, which only the day before can tell."""
    archive = str(tmp_path / "archive")
    for name, scale, day in (("a.csv", 1, 0), ("b.csv", 100, 1), ("c.csv", 1, 2)):
        rows = [f"{1_709_280_000_000 + day * 86_400_000 + i},{scale * 1.08},{scale * 1.09}\n"
                for i in range(3)]  # fmt: skip
        (tmp_path / name).write_text("time_msc,bid,ask\n" + "".join(rows), encoding="utf-8")
        given = ["archive", "import", archive, str(tmp_path / name), "--symbol", "EURUSD"]
        result = CliRunner().invoke(main, given)
        assert result.exit_code == 0
        assert ("3 prices three times that of the day" in result.stderr) is (name != "a.csv")
