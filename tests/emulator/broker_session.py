"""Runs BrokerProbe on the emulated terminal and reads what it printed and what the broker did."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.broker_log import BrokerLog, read_broker_log
from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal, Result, write_tick_file
from mt5bridge.records import TICK, Records
from tests.waiting import LONG_S

PROBE = Path(__file__).parent / "probes" / "BrokerProbe.mq5"
WITHIN_S = LONG_S
SPREAD = 0.0002
START_MSC = 1_700_000_000_000

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

Facts = dict[str, str]


def bids(*prices: float) -> Records:
    """Ticks with these bids, 100 ms apart."""
    ticks = np.zeros(len(prices), TICK)
    ticks["bid"] = prices
    ticks["ask"] = np.round(np.array(prices) + SPREAD, 5)
    ticks["time_msc"] = START_MSC + 100 * np.arange(len(prices))
    ticks["time"] = ticks["time_msc"] // 1000
    ticks["flags"] = 6
    return ticks


@dataclass(frozen=True)
class Session:
    """What one or several runs on a data folder left behind."""

    lines: list[str]
    log: BrokerLog
    result: Result

    def facts(self, name: str) -> list[Facts]:
        """The printed lines `name key=value ...`, read; a `comment` or `text` has the rest."""
        return [_facts(line) for line in self.lines if line.split(" ")[0] == name]

    @property
    def sent(self) -> list[Facts]:
        """The answers to the probe's requests."""
        return self.facts("sent")

    @property
    def retcodes(self) -> list[int]:
        """Of the answers to the probe's requests."""
        return [int(answer["retcode"]) for answer in self.sent]

    def transactions(self) -> list[tuple[int, Facts]]:
        """What OnTradeTransaction got: type and the rest."""
        return [(int(line.split(" ")[1]), _facts(line)) for line in self._with("transaction")]

    def _with(self, name: str) -> list[str]:
        return [line for line in self.lines if line.split(" ")[0] == name]


def _facts(line: str) -> Facts:
    rest = re.search(r"(comment|text)=(.*)$", line)
    facts = dict(re.findall(r"(\w+)=(\S*)", line))
    return facts | ({rest[1]: rest[2]} if rest else {})


def script(
    folder: Path,
    steps: Sequence[str],
    prices: Records,
    *statements: str,
    mode: str = "netting",
    rate: int = 2000,
) -> Script:
    """A session with one symbol and the probe; `statements` come before the probe is attached."""
    folder.mkdir(parents=True, exist_ok=True)
    path = write_tick_file(folder / "ticks.bin", prices)
    return Script.of(
        "seed 7",
        f"account mode={mode} currency=USD balance=10000 leverage=100 login=5001 server=Demo",
        "symbol EURUSD digits=5 currency_profit=USD" if not _own_symbol(statements) else "",
        f"ticks EURUSD path={path}",
        f"pace rate={rate}",
        "events timer_resolution_ms=1",
        *statements,
        f"attach BrokerProbe on EURUSD Steps='{';'.join(steps)}'",
    )


def _own_symbol(statements: Sequence[str]) -> bool:
    return any(statement.startswith("symbol ") for statement in statements)


def run(
    folder: Path,
    steps: Sequence[str],
    *statements: str,
    prices: Records | None = None,
    mode: str = "netting",
    rate: int = 2000,
) -> Session:
    """Run the probe's steps to their end and close the terminal."""
    ticks = bids(1.1, 1.1) if prices is None else prices
    session = script(folder, steps, ticks, *statements, mode=mode, rate=rate)
    with EmulatedTerminal([PROBE], session, folder) as terminal:
        terminal.wait_journal("\tdone", within_s=WITHIN_S)
        result = terminal.stop()
    return session_of(folder, result)


def session_of(folder: Path, result: Result) -> Session:
    """What the last run printed, and the broker's log."""
    lines = [line.split("\t", 2)[2] for line in result.journal if line.count("\t") >= 2]
    return Session(lines, read_broker_log(folder / "broker.log"), result)
