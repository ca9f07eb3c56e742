"""Programs and terminals that start, stop, fail, crash and are started again."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import EmulatorError
from tests.emulator.market import (
    WITHIN_S,
    deinit,
    figures,
    needs_compiler,
    run,
    terminal_with,
    texts,
)

pytestmark = needs_compiler
END = "end quiet_ms=30"
REASON_REMOVE, REASON_INITFAILED, REASON_CLOSE = 1, 8, 9


def test_a_closed_terminal_says_goodbye_to_its_programs(tmp_path: Path) -> None:
    with terminal_with(tmp_path, "attach EventProbe on EURUSD") as terminal:
        terminal.wait_journal("init on EURUSD", WITHIN_S)
        terminal.wait(lambda stats: stats.ticks_delivered == stats.ticks, WITHIN_S)
        result = terminal.stop()
    assert result.exit_code == 0
    assert deinit(result)["deinit"] == REASON_CLOSE
    assert texts(result)[-1] == "terminal closed"


def test_a_terminal_that_is_closed_at_once_ends_in_order(tmp_path: Path) -> None:
    """Also before its process has come so far that it listens."""
    with terminal_with(tmp_path, "attach EventProbe on EURUSD") as terminal:
        result = terminal.stop()
    assert result.exit_code == 0
    assert texts(result)[-1] == "terminal closed"


def test_a_program_is_started_again(tmp_path: Path) -> None:
    result = run(
        tmp_path, "pace step=1", "attach EventProbe on EURUSD SleepMs=1",
        "at tick=500 restart=EventProbe", END,
    )  # fmt: skip
    printed = texts(result, "EventProbe")
    assert [text.split()[0] for text in printed] == ["init", "offset", "deinit"] * 2
    assert figures(printed[1])["reason"] == figures(printed[2])["deinit"] == REASON_REMOVE


def test_summer_time_begins(tmp_path: Path) -> None:
    lines = ("clock offset_ms=7200000", "attach EventProbe on EURUSD", END)
    before = run(tmp_path / "before", *lines)
    after = run(tmp_path / "after", *lines, "at tick=500 offset_ms=10800000")
    offsets = [figures(texts(result, "EventProbe")[-2])["offset"] for result in (before, after)]
    assert offsets == [7200, 10800]


def test_a_fatal_error_stops_the_program_and_only_it(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        "attach EventProbe on EURUSD Fail=true",
        "attach EventProbe on EURUSD",
        END,
    )
    assert result.exit_code == 1
    stopped = [line for line in result.journal if "stopped" in line]
    assert len(stopped) == 1
    assert "array out of range" in stopped[0] and "EventProbe.mq5" in stopped[0]
    assert deinit(result)["ticks"] > 100


def test_oninit_that_fails(tmp_path: Path) -> None:
    result = run(tmp_path, "attach EventProbe on EURUSD InitResult=1")
    assert result.exit_code == 1
    assert deinit(result) | {"ticks": 0} == deinit(result)
    assert deinit(result)["deinit"] == REASON_INITFAILED


def test_a_crash_at_every_effect(tmp_path: Path) -> None:
    lines = ('at tick=10 broker="trade buy EURUSD 0.1"', "attach EventProbe on EURUSD", END)
    whole = run(tmp_path / "whole", *lines)
    assert whole.stats is not None and whole.stats.effects >= 3
    for number in range(1, whole.stats.effects + 1):
        crashed = run(tmp_path / str(number), *lines, f"crash effect={number}")
        assert crashed.exit_code == 137
        assert f"crash at effect {number}: " in crashed.journal[-1]
        assert "deinit" not in "".join(crashed.journal)


def test_an_unknown_program_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, "attach Nothing on EURUSD")
    assert result.exit_code == 2
    assert result.journal[-1] == "attach: no program Nothing is built in"


def test_an_input_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, "attach EventProbe on EURUSD TimerMs=soon")
    assert result.exit_code == 2
    assert "TimerMs" in result.journal[-1]


def test_waiting_in_vain_shows_the_journal(tmp_path: Path) -> None:
    with (
        terminal_with(tmp_path, "attach EventProbe on EURUSD", END) as terminal,
        pytest.raises(EmulatorError, match="init on EURUSD"),
    ):
        terminal.wait(lambda stats: stats.ticks_delivered > 1_000, WITHIN_S)


def test_handlers_are_measured(tmp_path: Path) -> None:
    result = run(tmp_path, "attach EventProbe on EURUSD CopyInTick=true", END)
    assert result.stats is not None
    probe = result.stats.program("EventProbe")
    assert probe.handler("OnTick").calls == deinit(result)["ticks"]
    assert 0 < probe.handler("OnTick").cpu_us <= probe.cpu_us < result.stats.process_cpu_us
    assert probe.copy_calls == probe.handler("OnTick").calls
