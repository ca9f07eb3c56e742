"""What commands write to: a reader that goes away, a full disk, devices, standard output closed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.cli.errors import UserError
from cep.cli.output import need_apart, output
from tests.waiting import LONG_S

ROOT = Path(__file__).parents[2]
RULES = """\
define stream Tick (symbol string, bid double);
from Tick select symbol, bid insert into Out;
"""
FULL = Path("/dev/full")
FORKS = """
import os, sys, warnings
from cep.cli import main
import cep.cli.replay, cep.cli.check, cep.cli.explain, cep.cli.fmt, cep.engine.native
for line in sys.stdin.read().splitlines():
    way, *arguments = line.split("\\t")
    read, write = os.pipe()
    if way != "head":
        os.close(read)  # before the child writes: nobody reads then
    if (child := os.fork()) == 0:
        if way == "head":
            os.close(read)
        descriptor = 2 if way == "stderr" else 1
        os.dup2(os.open("/dev/full", os.O_WRONLY) if way == "full" else write, descriptor)
        main(arguments, prog_name="mt5cep")
    os.close(write)
    if way == "head":
        os.read(read, 1)
        os.close(read)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""One process that loads everything once; each line is a command of its own."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Rules, and more ticks than a pipe holds rows of."""
    rules, ticks = tmp_path / "r.cep", tmp_path / "t.csv"
    rules.write_text(RULES)
    rows = "".join(f"{1700000000000 + i},A,1.5\n" for i in range(3000))
    ticks.write_text("time_msc,symbol,bid\n" + rows)
    return rules, ticks


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_commands_end_quietly_when_their_reader_goes_and_name_a_full_disk(
    files: tuple[Path, Path],
) -> None:
    rules, ticks = map(str, files)
    replay = ["replay", rules, f"--input=Tick={ticks}", "--plain"]
    lines = [
        *(["closed", *one] for one in (["check", rules], ["fmt", rules], ["explain", rules])),
        *(["closed", *one] for one in (["--help"], ["check", "--help"], replay)),
        ["stderr", "check", rules + ".not"],
        ["head", *replay],
        ["head", *replay, "--out", "/dev/stdout"],
        *(["full", *one] for one in (["check", rules], ["--help"], replay)),
    ]
    done = subprocess.run(
        [sys.executable, "-c", FORKS],
        input="\n".join("\t".join(line) for line in lines),
        cwd=ROOT, capture_output=True, text=True, timeout=LONG_S,
    )  # fmt: skip
    closed = sum(line[0] != "full" for line in lines)
    assert done.stdout.split() == ["141"] * closed + ["2"] * 3, done.stderr
    full = "error: standard output: No space left on device"
    assert done.stderr.splitlines() == [full] * 3


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_out_may_be_standard_output(name: str, files: tuple[Path, Path]) -> None:
    rules, ticks = files
    arguments = ["replay", str(rules), f"--input=Tick={ticks}", "--plain", "--out", name]
    assert CliRunner().invoke(main, arguments).stdout.count("\n") == 3000
    assert not Path("-").exists() and not Path(name + ".part").exists()


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_a_device_is_written_to_and_named_when_it_is_full() -> None:
    with pytest.raises(OSError) as caught, output(FULL) as sink:
        sink.write(b"x")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")
    assert FULL.is_char_device()


def test_a_pipe_by_name_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with output(pipe) as sink:
        sink.write(b"rows")
    assert os.read(reader, 10) == b"rows" and pipe.is_fifo()
    os.close(reader)


def test_a_file_appears_whole_and_keeps_its_mode_and_the_link_to_it(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    target.chmod(0o600)
    link.symlink_to(target)
    with output(link) as sink:
        sink.write(b"after")
        sink.flush()
        assert target.read_text() == "before"
    assert link.is_symlink() and target.read_text() == "after"
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(KeyError), output(target) as sink:
        sink.write(b"half")
        raise KeyError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]
    assert target.read_text() == "after"


def test_a_closed_standard_output_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UserError, match="standard output is closed"), output(None):
        pass


def test_two_options_do_not_name_the_same_file(tmp_path: Path) -> None:
    """A page written over the rows would be all that is left."""
    need_apart({"--out": tmp_path / "a", "--report": tmp_path / "b", "--run": None})
    with pytest.raises(UserError, match="--out and --report name the same file"):
        need_apart({"--out": tmp_path / "a", "--report": tmp_path / "b" / ".." / "a"})
    (tmp_path / "rules.cep").write_text(RULES)
    (tmp_path / "archive").mkdir()
    for name in ("backtest", "sweep"):
        given = [name, str(tmp_path / "rules.cep"), "--archive", str(tmp_path / "archive")]
        found = CliRunner().invoke(main, [*given, "--out", "same.csv", "--report", "same.csv"])
        assert found.exit_code == 2 and "name the same file, same.csv" in found.output
