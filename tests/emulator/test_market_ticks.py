"""CopyTicks and CopyTicksRange against NumPy."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from mt5bridge.clock import now_msc
from mt5bridge.records import Records
from tests.emulator.market import BEGIN_MSC, needs_compiler, numbered_ticks, run, texts

pytestmark = needs_compiler
_ANSWER = re.compile(r"(\w+) (-?\d+) error (\d+) size (\d+) from (\d+) to (\d+)")


class Answer(NamedTuple):
    """What one call gave, as CopyProbe prints it."""

    count: int
    error: int
    size: int
    first_msc: int
    last_msc: int


def ask(
    folder: Path, *lines: str, ticks: Records | None = None, **inputs: int
) -> dict[str, list[Answer]]:
    """The answers by the name of the question, all ticks being in the base."""
    chosen = " ".join(f"{key}={value}" for key, value in inputs.items())
    result = run(
        folder,
        "offline_ticks first=100000",
        *lines,
        f"attach CopyProbe on EURUSD {chosen}",
        ticks=ticks,
    )
    assert result.exit_code == 0, result.journal
    answers = defaultdict(list)
    for text in texts(result, "CopyProbe"):
        if match := _ANSWER.fullmatch(text):
            answers[match[1]].append(Answer(*map(int, match.groups()[1:])))
    return answers


def expected(ticks: Records) -> list[Answer]:
    times = ticks["time_msc"] if len(ticks) else [0]
    return [Answer(len(ticks), 0, len(ticks), times[0], times[-1])]


@pytest.mark.parametrize(("at_ms", "count"), [(0, 5), (10, 7), (332, 100), (333, 1), (334, 5)])
def test_from_a_time_forward_inclusive(tmp_path: Path, at_ms: int, count: int) -> None:
    ticks = numbered_ticks(1_000)
    got = ask(tmp_path, From=BEGIN_MSC + at_ms, Count=count)
    wanted = ticks[ticks["time_msc"] >= BEGIN_MSC + at_ms][:count]
    assert got["copy"] == expected(wanted)


def test_from_zero_gives_the_newest(tmp_path: Path) -> None:
    got = ask(tmp_path, Count=17)
    assert got["copy"] == expected(numbered_ticks(1_000)[-17:])


def test_without_arguments_two_thousand(tmp_path: Path) -> None:
    ticks = numbered_ticks(5_000)
    got = ask(tmp_path, ticks=ticks)
    assert got["copy"] == expected(ticks[-2_000:])
    assert got["range"] == expected(ticks)


def test_a_range_includes_both_ends(tmp_path: Path) -> None:
    ticks = numbered_ticks(1_000)
    begin, end = BEGIN_MSC + 10, BEGIN_MSC + 20
    got = ask(tmp_path, From=begin, To=end)
    inside = ticks[(ticks["time_msc"] >= begin) & (ticks["time_msc"] <= end)]
    assert got["range"] == expected(inside)
    assert got["static"][0][:3] == (3, 4407, 3)


def test_flags_choose_ticks(tmp_path: Path) -> None:
    ticks = numbered_ticks(1_000)
    ticks["flags"] = np.where(np.arange(1_000) % 4 == 0, 8 | 16 | 1024, 2)
    got = ask(tmp_path, ticks=ticks, From=BEGIN_MSC, Count=1_000)
    assert got["copy"] == expected(ticks)
    assert got["info"] == expected(ticks[ticks["flags"] == 2])
    assert got["trade"] == expected(ticks[ticks["flags"] != 2])


def test_symbols_that_cannot_be_asked(tmp_path: Path) -> None:
    got = ask(tmp_path, Count=1)
    assert got["unknown"][0][:2] == (-1, 4301)
    assert got["unselected"][0][:2] == (-1, 4302)


def test_a_timeout_gives_a_part_and_an_error(tmp_path: Path) -> None:
    got = ask(
        tmp_path, "copyticks timeout=1 block_ms=1", From=BEGIN_MSC, Count=1_000, Calls=20
    )  # fmt: skip
    assert [answer.error for answer in got["copy"]] == [4403] * 20
    assert len(set(got["copy"])) > 10
    assert any(answer.first_msc > BEGIN_MSC for answer in got["copy"]), "not only what comes first"


def test_the_first_calls_synchronise(tmp_path: Path) -> None:
    got = ask(tmp_path, "copyticks sync_failures=2 block_ms=1", Count=5, Calls=4)
    assert [answer.error for answer in got["copy"]] == [4403, 4403, 0, 0]


def test_a_limit_makes_full_answers(tmp_path: Path) -> None:
    got = ask(tmp_path, "copyticks limit=64", From=BEGIN_MSC, Count=1_000)
    assert got["copy"] == expected(numbered_ticks(1_000)[:64])
    assert got["range"][0].count == 1_000


def test_no_memory(tmp_path: Path) -> None:
    got = ask(tmp_path, "copyticks no_memory=1", Count=5)
    assert got["copy"][0][:2] == (-1, 4004)


def test_symbol_and_clock(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "offline_ticks first=1000",
        "clock offset_ms=7200000",
        "symbol XAUUSD digits=2 filling_modes=2",
        "attach CopyProbe on EURUSD",
    )
    newest, symbol = texts(result, "CopyProbe")[-2:]
    seconds = BEGIN_MSC // 1000
    assert newest == (
        f"newest 1 at {BEGIN_MSC + 333} bid 1.00999 server {seconds} utc {seconds - 7200}"
    )
    assert symbol == "symbol digits 5 point 0.00001 filling 3 base EUR profit USD spread 10"


def test_the_real_clock_and_its_offset(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "offline_ticks first=1000",
        "clock mode=real offset_ms=-3600000",
        "attach CopyProbe on EURUSD",
    )
    words = texts(result, "CopyProbe")[-2].split()
    server, utc = int(words[7]), int(words[9])
    assert server - utc == -3600
    assert abs(utc - now_msc() // 1000) < 600
