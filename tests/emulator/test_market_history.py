"""The tick base: late ticks, lag, restarts and crashes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatedTerminal, write_history_file
from mt5bridge.history import UTC, read_ticks
from tests.emulator.market import (
    WITHIN_S,
    deinit,
    needs_compiler,
    numbered_ticks,
    run,
    terminal_with,
    texts,
)

pytestmark = needs_compiler
END = "end quiet_ms=30"
LATE = "ticks_odd late=0.1 late_by=1..30"


def test_late_ticks_come_into_their_place_without_an_event(tmp_path: Path) -> None:
    ticks = numbered_ticks(1_000, same_ms=1)
    with terminal_with(
        tmp_path, LATE, "pace step=1", "attach EventProbe on EURUSD", END, ticks=ticks
    ) as terminal:
        result = terminal.wait_end(WITHIN_S)
    assert np.array_equal(terminal.tick_base("EURUSD"), ticks)
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTick")
    assert 600 < counts.queued + counts.coalesced < 960


def test_late_ticks_of_one_millisecond_stand_behind_the_others(tmp_path: Path) -> None:
    ticks = numbered_ticks(1_000, same_ms=10)
    with terminal_with(tmp_path, LATE, "attach EventProbe on EURUSD", END, ticks=ticks) as terminal:
        terminal.wait_end(WITHIN_S)
    base = terminal.tick_base("EURUSD")
    assert np.all(np.diff(base["time_msc"]) >= 0)
    assert not np.array_equal(base, ticks)
    assert np.array_equal(np.sort(base, order="volume"), ticks)


def test_the_base_may_lag_behind_the_event(tmp_path: Path) -> None:
    lines = ("pace step=1", "attach EventProbe on EURUSD CopyInTick=true", END)
    seen: dict[str, list[int]] = {}
    for lag in ("0", "0.5"):
        result = run(tmp_path / lag, f"ticks_odd lag={lag}", *lines,
                     ticks=numbered_ticks(300, same_ms=1))  # fmt: skip
        printed = texts(result, "EventProbe")
        seen[lag] = [int(text.split()[1]) for text in printed if "seen" in text]
    assert len(set(seen["0"])) > 1.3 * len(set(seen["0.5"]))
    assert seen["0.5"] == sorted(seen["0.5"])


def test_a_killed_terminal_goes_on_where_it_was(tmp_path: Path) -> None:
    with terminal_with(
        tmp_path, LATE, "pace rate=3000", "attach EventProbe on EURUSD", END
    ) as terminal:
        for mark in (200, 500, 800):
            terminal.wait(partial(reached, mark), WITHIN_S)
            assert terminal.kill().exit_code == -9
            terminal.start()
        result = terminal.wait_end(WITHIN_S)
    assert result.stats is not None and result.stats.run == 4
    assert_whole(terminal)


def test_ticks_come_while_the_terminal_is_shut(tmp_path: Path) -> None:
    with terminal_with(
        tmp_path,
        "pace step=1",
        "offline_ticks count=100..200",
        "attach EventProbe on EURUSD",
        "at tick=300 restart=terminal",
        "at tick=600 restart=terminal",
        END,
    ) as terminal:
        result = terminal.wait_end(WITHIN_S)
    assert result.stats is not None and result.stats.run == 3
    assert texts(result).count("terminal restarts") == 2
    assert sum("deinit 9" in line for line in result.journal) == 3
    assert_whole(terminal)
    assert deinit(result)["ticks"] < 300


def test_without_its_server_the_terminal_gets_ticks_in_one_batch(tmp_path: Path) -> None:
    with terminal_with(
        tmp_path,
        "pace step=1",
        "attach EventProbe on EURUSD",
        "at tick=300 disconnect=400",
        END,
    ) as terminal:
        result = terminal.wait_end(WITHIN_S)
    assert result.stats is not None
    counts = result.stats.program("EventProbe").events("OnTick")
    assert 590 <= counts.queued + counts.coalesced <= 610
    assert_whole(terminal)


def reached(mark: int, stats: Stats) -> bool:
    return stats.ticks_delivered >= mark


def assert_whole(terminal: EmulatedTerminal) -> None:
    """All ticks are in the base, once, by time."""
    base = terminal.tick_base("EURUSD")
    assert np.all(np.diff(base["time_msc"]) >= 0)
    assert np.array_equal(np.sort(base, order="volume"), numbered_ticks(1_000))


def test_imported_history_is_what_the_tick_base_holds(tmp_path: Path) -> None:
    export = tmp_path / "GBPUSD_202401020000_202401022359.csv"
    export.write_text(
        "<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>\t<FLAGS>\n"
        "2024.01.02\t00:05:00.123\t1.26001\t1.26012\t\t\t6\n"
        "2024.01.02\t00:05:00.123\t1.26003\t\t\t\t2\n",
        encoding="utf-8",
    )
    blocks = read_ticks(export, server=UTC)
    path = write_history_file(tmp_path / "gbpusd.bin", blocks, "GBPUSD")
    with terminal_with(
        tmp_path, f"ticks GBPUSD path={path}", "attach EventProbe on GBPUSD", END
    ) as terminal:
        result = terminal.wait_end(WITHIN_S)
    assert deinit(result)["ticks"] >= 1
    assert terminal.tick_base("GBPUSD")["bid"].tolist() == [1.26001, 1.26003]
