"""The terminal's clock: what it computes and waits, and what is let pass."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from mt5bridge.clock import monotonic_ms
from mt5bridge.emulator.terminal import PASSING_MS
from tests.emulator.market import needs_compiler, terminal_with
from tests.waiting import LONG_S, wait_until

pytestmark = needs_compiler
STOPPED_MS = 500


def stopped_for_a_while(folder: Path, clock: str) -> tuple[int, int]:
    """How far the terminal's clock and the machine's went while the terminal was also stopped."""
    begin_ms = monotonic_ms()
    with terminal_with(folder, clock, "attach EventProbe on GBPUSD TimerMs=1") as terminal:
        before_ms = terminal.wait(lambda _stats: True, LONG_S).clock_ms
        os.kill(terminal.process_id, signal.SIGSTOP)
        stopped_ms = monotonic_ms()
        wait_until(lambda: monotonic_ms() - stopped_ms > STOPPED_MS)
        os.kill(terminal.process_id, signal.SIGCONT)
        stats = terminal.wait(lambda stats: stats.clock_ms > before_ms, LONG_S)
    return stats.clock_ms - before_ms, monotonic_ms() - begin_ms


def test_it_stands_while_the_machine_does_something_else(tmp_path: Path) -> None:
    passed_ms, machine_ms = stopped_for_a_while(tmp_path, "clock elapsed=computed")
    assert passed_ms <= machine_ms - STOPPED_MS


def test_it_is_the_machines_where_programs_are_measured(tmp_path: Path) -> None:
    passed_ms, machine_ms = stopped_for_a_while(tmp_path, "clock elapsed=real")
    assert STOPPED_MS <= passed_ms <= machine_ms


def test_ten_minutes_pass_at_once(tmp_path: Path) -> None:
    begin_ms = monotonic_ms()
    with terminal_with(tmp_path, "attach EventProbe on GBPUSD TimerMs=1") as terminal:
        before_ms = terminal.wait(lambda _stats: True, LONG_S).clock_ms
        passed_ms = terminal.pass_time(LONG_S).clock_ms - before_ms
        usage = terminal.stop().stats
    assert PASSING_MS <= passed_ms <= PASSING_MS + monotonic_ms() - begin_ms
    assert usage is not None
    assert usage.program("EventProbe").handler("OnTimer").longest_us < 1_000 * PASSING_MS
