"""The doctor reads in a terminal's own files why a program does not reach the daemon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mt5bridge.terminal.findings import Finding
from mt5bridge.terminal.folders import DataFolder, given
from mt5bridge.terminal.install import install
from mt5bridge.terminal.reachable import CONNECTED, failure_texts, judge_reach
from mt5bridge.terminal.sources import sources_folder
from tests.terminal.machines import data_folder

NOW_MSC = 1_700_000_000_000
TEXTS = failure_texts(sources_folder())
REFUSED = TEXTS["LINK_NOT_ALLOWED"]


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = given(data_folder(tmp_path / "MT5"))
    install(made, sources_folder())
    return made


def journal(folder: DataFolder, lines: list[tuple[str, str]], day: str = "20231114") -> Path:
    """A journal of experts as the terminal writes it."""
    path = folder.mql5 / "Logs" / f"{day}.log"
    path.parent.mkdir(exist_ok=True)
    text = "".join(f"KG\t0\t22:13:20.001\t{program}\t{said}\r\n" for program, said in lines)
    path.write_bytes(("\ufeff" + text).encode("utf-16-le"))
    os.utime(path, (NOW_MSC // 1000, NOW_MSC // 1000))
    return path


def settings(folder: DataFolder, text: str) -> None:
    path = folder.path / "config" / "common.ini"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(("\ufeff" + text).encode("utf-16-le"))


def found(folder: DataFolder, now_msc: int = NOW_MSC) -> list[Finding]:
    return list(judge_reach([folder], sources_folder(), now_msc))


def test_every_failure_of_a_link_has_its_text() -> None:
    assert len(TEXTS) > 15 and "not allowed" in REFUSED
    publisher = (sources_folder() / "Include/Mt5Bridge/Publisher.mqh").read_text(encoding="utf-8")
    assert f'PrintFormat("{CONNECTED} to ' in publisher, "and what ends it"


def test_an_address_that_is_refused_is_a_problem(folder: DataFolder) -> None:
    journal(folder, [
        ("Publisher (EURUSD,H1)", f"127.0.0.1:5655: {REFUSED} (error 4014)"),
        ("Trader (EURUSD,M1)", TEXTS["LINK_CONNECT_FAILED"]),
        ("Other (EURUSD,M1)", REFUSED),
    ])  # fmt: skip
    refused, fails = found(folder)
    assert refused.name == "address refused" and "Publisher (EURUSD,H1)" in refused.seen
    assert "error 4014" in refused.seen and "Allow WebRequest" in refused.remedy
    assert fails.name == "link fails" and "is the daemon running?" in fails.seen


def test_what_was_mended_since_is_no_finding(folder: DataFolder) -> None:
    lines = [
        ("Publisher (EURUSD,H1)", REFUSED),
        ("Publisher (EURUSD,H1)", "connected to 127.0.0.1"),
    ]
    journal(folder, lines)
    assert found(folder) == []
    journal(folder, lines[::-1])
    assert [one.name for one in found(folder)] == ["address refused"]
    journal(folder, lines, day="20231115")
    assert found(folder) == [], "the newest journal counts"


def test_an_old_journal_is_no_news(folder: DataFolder) -> None:
    journal(folder, [("Publisher (EURUSD,H1)", REFUSED)])
    assert found(folder, NOW_MSC + 23 * 3_600_000)
    assert found(folder, NOW_MSC + 25 * 3_600_000) == []


def test_a_list_that_is_off_is_a_warning_until_a_program_says_otherwise(folder: DataFolder) -> None:
    settings(folder, "[Common]\r\nLogin=5\r\n[Experts]\r\nEnabled=1\r\nWebRequest=0\r\n")
    assert [one.name for one in found(folder)] == ["addresses off"]
    journal(folder, [("Publisher (EURUSD,H1)", "connected to 127.0.0.1:5655 as 5@S")])
    assert found(folder) == []
    journal(folder, [])
    settings(folder, "[Experts]\r\nWebRequest=1\r\nWebRequestUrl=0A1B2C\r\n")
    assert found(folder) == []


@pytest.mark.parametrize("text", ["", "no section", "[Experts\r\n=", "[Experts]\r\nWebRequest"])
def test_settings_that_cannot_be_read_say_nothing(folder: DataFolder, text: str) -> None:
    settings(folder, text)
    assert found(folder) == []


def test_only_terminals_with_our_sources_are_looked_at(tmp_path: Path) -> None:
    other = given(data_folder(tmp_path / "other"))
    settings(other, "[Experts]\r\nWebRequest=0\r\n")
    assert found(other) == []


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"\x00" * 7, bytes(range(256))])
def test_a_journal_that_is_no_text_says_nothing(folder: DataFolder, raw: bytes) -> None:
    journal(folder, []).write_bytes(raw)
    assert found(folder, 0) == []
