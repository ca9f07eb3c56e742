"""One run of the chaos proof: the publisher EA on an emulated terminal, and a daemon that dies."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TypeAlias

import msgspec

from benchmarks.chaos_market import DIGITS, Market, market
from benchmarks.chaos_proof import by_ticket, content
from mt5bridge.clock import monotonic_ms
from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.script import Script, parse_script
from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatedTerminal, Result
from mt5bridge.server.status import StreamStatus, read_status
from mt5bridge.spool import RecordKind, read
from mt5bridge.terminal.sources import sources_folder
from tests.credentials import CREDENTIAL
from tests.live.service import address, process, wait_until, write_settings
from tests.waiting import LONG_S

Daemon: TypeAlias = subprocess.Popen[bytes]
RULES = """@app:name('chaos')
define stream Tick (symbol string, bid double);
define stream Deal (symbol string, ticket long, lots double);
from Deal select symbol, ticket, lots insert into Fill;
"""
CHART = "EURUSD"
MARKET_S = 6
"""So long the market lasts, whatever its number of ticks."""
STARTING, START_S = 0.3, 1.0
"""Share of the daemons that are killed so soon after their start."""
PROGRAMS = ("Experts/Mt5Bridge/Publisher.mq5", "Indicators/Mt5Bridge/TickSpy.mq5")
SCRIPT = """
seed {seed}
account login=5001 server=Chaos name=Tester currency=EUR mode=hedging leverage=100 balance=1000000
{symbols}
{ticks}
pace rate={rate}
ontick skip=0.33
ticks_odd lag=0.02 burst_in_handler=0.1
copyticks timeout=0.002 block_ms=2 limit=4096 sync_failures=1
events chart=coalesce timer_resolution_ms=16
sockets allowed=127.0.0.1 short=0.2 refuse=0.05 dummy=0.3 cut_after=200000..4000000
clock mode=recorded offset_ms=7200000
broker activity_ticks=400 activity_lots=0.1 commission=3.5 duplicates=0.1
broker history_delay_ms=10 revisions=0.3 revision_delay_ms=200..400
at tick={burst} broker="burst 6 EURUSD 0.1"
at tick={changed} reinit=Publisher reason=PARAMETERS
attach Publisher on {chart} Symbols={others} Port={port} {inputs}
"""


@dataclass(slots=True)
class Outcome:
    """What a run has come to; all numbers are counted, none is assumed."""

    seed: int
    recorded: bool = True
    ticks: int = 0
    deals: int = 0
    revisions: int = 0
    late: int = 0
    most_in_a_ms: int = 0
    ontick_skipped: int = 0
    daemon_kills: int = 0
    terminal_kills: int = 0
    connections: int = 0
    faults: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


@dataclass
class Chaos:
    """A daemon that is killed again and again, and with every third seed the terminal, too."""

    folder: Path
    seed: int
    ticks: int
    kills: int = 2

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.settings = write_settings(
            self.folder,
            {
                "rules": {"streams": ["Fill"]},
                "signals": {"send": False},
                "spool": {"segment_mib": 4, "max_mib": 4_096},
                "state": {"snapshot_records": 50_000, "clock_every_ms": 0},
            },
        )
        (self.folder / "rules.cep").write_text(RULES, encoding="utf-8")
        self.market: Market = market(self.ticks, self.seed)
        self.outcome = Outcome(self.seed, self.market.recorded)

    def script(self) -> Script:
        """The session of the terminal, with all its faults."""
        paths = self.market.write(self.folder / "ticks")
        symbols = (f"symbol {name} digits={DIGITS[name]}" for name in paths)
        ticks = (f"ticks {name} path={path}" for name, path in paths.items())
        text = SCRIPT.format(
            seed=self.seed,
            symbols="\n".join(symbols),
            ticks="\n".join(ticks),
            chart=CHART,
            others=",".join(name for name in paths if name != CHART),
            rate=self.ticks // MARKET_S,
            inputs="TimerMs=20 QuietSeconds=5 WriteAhead="
            + ("true" if self.seed % 3 == 0 else "false"),
            burst=self.random.randrange(1, self.market.total),
            changed=self.random.randrange(1, self.market.total),
            port=address(self.settings).rpartition(":")[2],
        )
        return parse_script(text)

    def run(self) -> EmulatedTerminal:
        """Play everything, killing the daemon on the way; the terminal, stopped."""
        began_ms = monotonic_ms()
        programs = [sources_folder() / name for name in PROGRAMS]
        self.terminal = EmulatedTerminal(
            programs, self.script(), self.folder / "terminal", credential=CREDENTIAL
        )
        with ExitStack() as stack:
            for part in range(self.kills):
                with self.daemon():
                    if not part:
                        self.until((self.folder / "state" / "status.json").exists)
                        stack.enter_context(self.terminal)
                    self.live((part + self.random.random()) / self.kills)
            with self.daemon() as daemon:
                self.until(self.complete)
                self.take(self.terminal.stop())
                daemon.terminate()
                if daemon.wait(LONG_S):
                    self.outcome.problems.append("the daemon did not end well")
        self.outcome.seconds = (monotonic_ms() - began_ms) / 1000
        return self.terminal

    @contextmanager
    def daemon(self) -> Iterator[Daemon]:
        """A daemon that is killed at the end of the block, unless it has ended by itself."""
        with process(self.settings, self.folder / "daemon.log") as self.running:
            yield self.running

    def live(self, share: float) -> None:
        """Wait for the moment to kill the daemon: mostly at work, sometimes while it starts."""
        self.outcome.daemon_kills += 1
        if self.outcome.daemon_kills > 1 and self.random.random() < STARTING:
            Event().wait(self.random.random() * START_S)
        else:
            self.until(lambda: self.played() >= share and bool(self.streams()))
            if self.seed % 3 == 0:
                self.outcome.terminal_kills += 1
                self.count(self.terminal.kill().stats)
                self.terminal.start()

    def take(self, result: Result) -> None:
        """What the terminal tells of its run."""
        if result.exit_code or result.stats is None or result.stats.failed:
            self.outcome.problems.append(f"the terminal ended with {result.exit_code}")
        self.count(result.stats)
        self.outcome.most_in_a_ms = self.market.most_in_a_ms

    def count(self, stats: Stats | None) -> None:
        """Add the figures of one of the terminal's lives."""
        if stats is not None:
            skipped = stats.program("Publisher").events("OnTick").skipped
            self.outcome.ontick_skipped += skipped
            self.outcome.connections += stats.sockets["connects"]
            self.outcome.faults += sum(stats.faults.values())

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait while the daemon lives; a condition that does not come is a problem of the run."""
        try:
            wait_until(lambda: condition() or self.running.poll() is not None)
        except AssertionError:
            self.outcome.problems.append(f"after {LONG_S:.0f} s: {self.standing()}")
        if self.running.poll() is not None:
            raise RuntimeError(f"the daemon ended by itself: {self.folder / 'daemon.log'}")

    def played(self) -> float:
        """The share of the market that has come to the terminal."""
        stats = self.terminal.stats
        return stats.ticks_delivered / self.market.total if stats else 0.0

    def complete(self) -> bool:
        """Whether everything is on the daemon's disk, and nothing is still to happen."""
        if self.played() < 1 or not self.all_durable():
            return False
        stats = self.terminal.stats
        return stats is not None and bool(stats.data["broker_idle"]) and self.all_told()

    def all_told(self) -> bool:
        """Whether the newest revision of every deal of the broker's is in the spool."""
        made = by_ticket(read_broker_log(self.terminal.folder / "broker.log").revisions)
        groups = [group for group in read(self.folder / "spool") if group.kind is RecordKind.DEALS]
        told = by_ticket(row for group in groups for row in group.records)
        return told.keys() == made.keys() and all(
            content(told[ticket][-1]) == content(made[ticket][-1]) for ticket in made
        )

    def all_durable(self) -> bool:
        """Whether every tick of the market, and every deal that was taken, is on disk."""
        streams = self.streams()
        wanted = {name: len(ticks) for name, ticks in self.market.ticks.items()} | {"": 1}
        return wanted.keys() <= streams.keys() and all(
            stream.durable >= wanted[name] and stream.taken == stream.durable
            for name, stream in streams.items()
        )

    def streams(self) -> dict[str, StreamStatus]:
        """The streams as the running daemon sees them while connected; deals have no name."""
        try:
            status = read_status(self.folder / "state" / "status.json")
        except (OSError, msgspec.MsgspecError):
            return {}
        connected = [one for one in status.terminals if one.connected]
        if status.pid != self.running.pid:
            return {}
        return {stream.symbol: stream for one in connected for stream in one.streams}

    def standing(self) -> str:
        """How far every stream has come."""
        parts = [f"{name or 'deals'} taken {stream.taken:,}, on disk {stream.durable:,}"
                 for name, stream in self.streams().items()]  # fmt: skip
        return "; ".join(parts) or "no stream is connected"
