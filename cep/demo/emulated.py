"""The demo's terminal in MQL5: publisher and trader on an emulated MetaTrader 5."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

import msgspec
import numpy as np
import pyarrow.parquet as pq

from cep.archive import Archive
from cep.demo.market import SYMBOLS
from cep.demo.processes import DemoError
from mt5bridge.credential import Credential
from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.build import build
from mt5bridge.emulator.script import read_script
from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.records import TICK, DealEntry, Records
from mt5bridge.server.status import TerminalStatus, read_status
from mt5bridge.simulator.ticks import crowd, delay
from mt5bridge.terminal.sources import sources_folder

PROGRAMS = (
    "Experts/Mt5Bridge/Publisher.mq5",
    "Experts/Mt5Bridge/Trader.mq5",
    "Indicators/Mt5Bridge/TickSpy.mq5",
)
CONTRACTS = {"EURUSD": 100_000, "GBPUSD": 100_000, "XAUUSD": 100, "MSFT": 1}
"""What a lot of each symbol is."""
SAME_MS = 0.1
"""Share of ticks in their predecessor's millisecond."""
SEED = 7
OPENING_S = 1.5
LATE, ON_TIME = 0.01, 600
"""Share of late ticks; so many at the end are not, since no younger ones close their minute."""
MAGIC = 77
"""The magic number of the demo's orders, as its rules and settings name it."""
PATIENCE_S = 600.0


@dataclass(frozen=True, slots=True)
class Held:
    """What the terminal's tick base and the broker hold at the end, and what happened till then."""

    ticks: int
    deals: int
    signals: int
    skipped: int
    connections: int
    faults: int

    @property
    def text(self) -> str:
        """In one line."""
        return (
            f"{self.ticks:,} ticks, {self.skipped:,} OnTick skipped, {self.signals:,} signals "
            f"executed, {self.deals:,} deals, {self.connections:,} connections, "
            f"{self.faults:,} faults of sockets"
        )


def programs() -> list[Path]:
    """What runs in the terminal."""
    return [sources_folder() / name for name in PROGRAMS]


def compile_programs() -> None:
    """Have them compiled; quick when they were before."""
    build(programs())


def play(folder: Path, ticks: list[Path], speed: float, credential: Credential) -> Held:
    """Run publisher and trader until the daemon has everything on disk."""
    opening_ms = round(1000 * OPENING_S * speed)
    raw = [_packed(path, folder / "terminal-ticks", opening_ms) for path in ticks]
    script = folder / "session.txt"
    script.write_text(_session(script.read_text(encoding="utf-8"), raw, speed), encoding="utf-8")
    terminal = EmulatedTerminal(
        programs(), read_script(script), folder / "terminal", credential=credential
    )
    ticks_of = {path.stem: path.stat().st_size // TICK.itemsize for path in raw}
    with terminal:
        terminal.wait(_Complete(folder, ticks_of), PATIENCE_S)
        result = terminal.stop()
    if result.exit_code or result.stats is None:
        raise DemoError(
            "a program in the terminal was stopped:\n" + "\n".join(result.journal[-20:])
        )
    return _held(terminal, result.stats)


def _held(terminal: EmulatedTerminal, stats: Stats) -> Held:
    log = read_broker_log(terminal.folder / "broker.log")
    bases = (len(terminal.tick_base(name)) for name in SYMBOLS)
    opened = (log.revisions["magic"] == MAGIC) & (log.revisions["entry"] == DealEntry.IN)
    return Held(
        ticks=sum(bases),
        deals=len(np.unique(log.revisions["ticket"])),
        signals=len(np.unique(log.revisions["order"][opened])),
        skipped=stats.program("Publisher").events("OnTick").skipped,
        connections=stats.sockets["connects"],
        faults=sum(stats.faults.values()),
    )


def archived(archive: Archive) -> tuple[int, int]:
    """Ticks and deals as far as an archive holds them."""
    ticks = sum(file.rows for file in archive.files("ticks"))
    tickets = [batch["ticket"].to_numpy() for batch in archive.read_batches("deals")]
    return ticks, len(np.unique(np.concatenate(tickets))) if tickets else 0


def _session(text: str, raw: list[Path], speed: float) -> str:
    """The session's script for these tick files."""
    names = [path.stem for path in raw]
    return Template(text).substitute(
        symbols="\n".join(
            f"symbol {name} digits={_digits(name)} contract_size={CONTRACTS[name]}"
            for name in names
        ),
        ticks="\n".join(f"ticks {path.stem} path='{path}'" for path in raw),
        speed=f"{speed:g}",
        others=",".join(name for name in names if name != "EURUSD"),
        all=",".join(names),
    )


def _digits(name: str) -> int:
    return round(-math.log10(SYMBOLS[name].point))


def _packed(path: Path, folder: Path, opening_ms: int) -> Path:
    """A file of ticks as packed MqlTick, some of them in one millisecond, some of them late.

    The first one comes `opening_ms` before the others: programs connect meanwhile.
    """
    folder.mkdir(exist_ok=True)
    table = pq.read_table(path)
    records: Records = np.zeros(len(table), TICK)
    for name in ("time_msc", "bid", "ask", "last", "flags"):
        records[name] = table[name].to_numpy()
    first, middle, end = np.split(crowd(records, SAME_MS, SEED), [1, max(1, len(table) - ON_TIME)])
    first["time_msc"] -= opening_ms
    first["time"] = first["time_msc"] // 1000
    target = folder / f"{path.stem}.bin"
    target.write_bytes(np.concatenate([first, delay(middle, LATE, SEED), end]).tobytes())
    return target


class _Complete:
    """Whether everything is on the daemon's disk and nothing under way: no record, deal or order.

    What a record causes is under way before the record is on disk.
    """

    def __init__(self, folder: Path, ticks: Mapping[str, int]) -> None:
        self.status = folder / "state" / "status.json"
        self.log = folder / "terminal" / "broker.log"
        self.ticks = ticks

    def __call__(self, stats: Stats) -> bool:
        terminals = self._terminals()
        if not stats.broker_idle or any(terminal.unanswered for terminal in terminals):
            return False
        durable: Counter[str] = Counter()  # the trader's are 0
        for one in (stream for terminal in terminals for stream in terminal.streams):
            durable[one.symbol] += one.durable
        if any(durable[name] < count for name, count in self.ticks.items()):
            return False
        return durable[""] >= len(np.unique(read_broker_log(self.log).revisions["ticket"]))

    def _terminals(self) -> list[TerminalStatus]:
        try:
            return read_status(self.status).terminals
        except (OSError, msgspec.MsgspecError):
            return []
