"""The daemon's log: what is in it, where it goes, and what if it cannot be written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from errno import ENOSPC
from io import FileIO, StringIO
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner
from loguru import logger

from cep.cli import main
from cep.live.config import Config, read_config
from cep.live.log import Log, escaped
from cep.live.log_file import RotatedFile
from mt5bridge.clock import now_msc
from tests.live.service import (
    address,
    play,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)  # fmt: skip
from tests.waiting import LONG_S

SECRET = "s3cr3tt0ken"
NO_ROOM = "[Errno 28] No space left on device"


@pytest.fixture(autouse=True)
def _log_is_as_before() -> Iterator[None]:
    yield
    logger.remove()
    logger.add(sys.stderr)


def test_what_peers_say_cannot_look_like_another_entry(tmp_path: Path) -> None:
    config = config_of(tmp_path, 'file = "a.log"')
    log = Log()
    log.begin(config)
    logger.warning("{}", "bad\n2026-01-01 00:00:00.000 | ERROR    | forged \x1b[2J\r\u202e\x00")
    logger.info("after")
    logger.remove()
    first, second, third = (tmp_path / "a.log").read_text(encoding="utf-8").splitlines()
    assert second.startswith("    2026") and first.endswith("bad") and third.endswith("after")
    assert second.endswith(r"forged \x1b[2J\r\u202e\x00")


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x202E, 0xD800])
def test_control_characters_are_escaped(code: int) -> None:
    shown = escaped(f"a{chr(code)}b")
    assert shown in ("a    b", "a\n    b") or re.fullmatch(r"a\\(x..|u....|r)b", shown)


def test_json_lines_hold_everything(tmp_path: Path) -> None:
    Log().begin(config_of(tmp_path, 'file = "a.jsonl"\nformat = "json"'))
    logger.info("{}", 'quote " and\nline \x1b')
    password = SECRET
    try:
        raise ValueError(f"of {len(password)}")
    except ValueError as problem:
        logger.opt(exception=problem).error("it failed")
    logger.info("{}", "half \ud800")
    logger.remove()
    text = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    first, second, third = map(json.loads, text.splitlines())
    assert first["message"] == 'quote " and\nline \x1b' and first["level"] == "INFO"
    assert re.fullmatch(r"\d{4}-..-..T..:..:..\.\d{3}\+00:00", first["time"])
    assert "ValueError: of 11" in second["exception"] and second["message"] == "it failed"
    assert third["message"] == r"half \ud800"
    assert SECRET not in text, "a traceback shows no values"


def test_the_log_is_rotated_and_old_files_go(tmp_path: Path) -> None:
    Log().begin(config_of(tmp_path, 'file = "a.log"\nfile_max_mib = 1\nfiles = 2'))
    for _ in range(5_000):
        logger.debug("not wanted")
        logger.info("x" * 1_000)
    logger.remove()
    files = list(tmp_path.glob("a*.log"))
    assert 2 <= len(files) <= 3
    assert all(file.stat().st_size <= (1 << 20) for file in files)
    assert b"not wanted" not in b"".join(file.read_bytes() for file in files)


FULL = Path("/dev/full")
on_full_disks = pytest.mark.skipif(not FULL.exists(), reason="there is no disk that is full")


@on_full_disks
def test_a_log_that_cannot_be_written_shows_no_values_and_is_counted(tmp_path: Path) -> None:
    """One short line where something else can be written, however many entries are lost."""
    errors = StringIO()
    log = Log(errors)
    log.begin(config_of(tmp_path, f'file = "{FULL}"'))
    for _ in range(3):
        logger.bind(password=SECRET).error("it failed")
    logger.remove()
    first, *rest = errors.getvalue().splitlines()
    assert (
        first == f"{FULL}: cannot be written, entries are lost: [Errno 28] No space left on device"
    )
    assert len(rest) == 3 and all(line.endswith(" - it failed") for line in rest)
    assert log.lost == 3 and SECRET not in errors.getvalue()


@on_full_disks
def test_standard_error_that_cannot_be_written_ends_no_daemon(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    call = ["status", "--config", str(settings)]
    with FULL.open("wb") as full:
        words = [sys.executable, "-m", "cep", "daemon", "--config", str(settings)]
        daemon = subprocess.Popen(words, stderr=full)
    try:
        told = "notice: the log: entries are lost: standard error: [Errno 28]"
        wait_until(lambda: told in CliRunner().invoke(main, call).output)
        play(terminal(walks("A", 200)), address(settings))
        found = status_of(settings)
        assert found is not None and found.counters["log_lost"] > 0
        daemon.terminate()
        assert daemon.wait(LONG_S) == 0
    finally:
        daemon.kill()


def test_a_line_that_had_no_room_whole_spoils_no_other(tmp_path: Path) -> None:
    class Disk:
        left = 3

        def write(self, data: memoryview) -> int:
            if not self.left:
                raise OSError(ENOSPC, "full")
            count = min(len(data), self.left)
            self.left -= count
            return int(file.write(data[:count]))

    path, disk = tmp_path / "a.log", Disk()
    log = RotatedFile(path, 1 << 20, 2)
    file, log._file = log._file, cast("FileIO", disk)
    with pytest.raises(OSError, match="full"):
        log.write("first\n")
    disk.left = 100
    log.write("second\n")
    file.close()
    assert path.read_text().splitlines() == ["fir", "second"]


def test_times_of_the_log_are_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = StringIO()
    monkeypatch.setenv("TZ", "Pacific/Chatham")
    time.tzset()
    try:
        Log(errors).begin(config_of(tmp_path, 'file = "a.log"'))
        logger.info("now")
    finally:
        logger.remove()
        monkeypatch.undo()
        time.tzset()
    for text in (errors.getvalue(), (tmp_path / "a.log").read_text(encoding="utf-8")):
        told = datetime.fromisoformat(text.partition(" | ")[0])
        assert abs(told.timestamp() * 1_000 - now_msc()) < LONG_S * 1_000 and text[23] == "Z"


def config_of(folder: Path, log: str) -> Config:
    path = folder / "c.toml"
    path.write_text(f'[rules]\nfile = "r"\n[log]\n{log}\n', encoding="utf-8")
    return read_config(path)
