"""Runs the probes, small MQL5 programs that print what the emulated terminal shows them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal, Result, write_tick_file
from mt5bridge.records import TICK, Records
from tests.waiting import LONG_S

PROBES = tuple(sorted((Path(__file__).parent / "probes").glob("*.mq5")))
BEGIN_MSC = 1_700_000_000_000
WITHIN_S = LONG_S
needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None, reason="g++ is not installed; MQL5 programs cannot be compiled"
)


def numbered_ticks(count: int, same_ms: int = 3) -> Records:
    """Ticks whose volume is their number from 1, so many to a millisecond."""
    ticks = np.zeros(count, TICK)
    ticks["volume"] = np.arange(1, count + 1)
    ticks["time_msc"] = BEGIN_MSC + np.arange(count) // same_ms
    ticks["time"] = ticks["time_msc"] // 1000
    ticks["bid"] = 1.0 + np.arange(count) * 1e-5
    ticks["ask"] = ticks["bid"] + 0.0001
    ticks["flags"] = 6
    return ticks


def terminal_with(folder: Path, *lines: str, ticks: Records | None = None) -> EmulatedTerminal:
    """A terminal with two symbols, ticks of EURUSD and these lines of script; not started."""
    folder.mkdir(parents=True, exist_ok=True)
    records = numbered_ticks(1_000) if ticks is None else ticks
    path = write_tick_file(folder / "eurusd.bin", records)
    script = Script.of(
        "symbol EURUSD digits=5", "symbol GBPUSD digits=5", f"ticks EURUSD path={path}", *lines
    )
    return EmulatedTerminal(PROBES, script, folder)


def run(folder: Path, *lines: str, ticks: Records | None = None) -> Result:
    """The whole life of such a terminal."""
    with terminal_with(folder, *lines, ticks=ticks) as terminal:
        return terminal.wait_end(WITHIN_S)


def texts(result: Result, program: str = "") -> list[str]:
    """What a program has printed; what the terminal itself says with no program."""
    fields = [line.split("\t", 2) for line in result.journal]
    return [field[2] for field in fields if len(field) == 3 and field[1].split(" ")[0] == program]


def figures(text: str) -> dict[str, int]:
    """`ticks 5 timers 3` as a mapping."""
    return {name: int(number) for name, number in re.findall(r"(\w+) (-?\d+)", text)}


def deinit(result: Result) -> dict[str, int]:
    """The counts that EventProbe prints at its end."""
    (last,) = [text for text in texts(result, "EventProbe") if text.startswith("deinit ")][-1:]
    return figures(last)
