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

from benchmarks.chaos_faults import TO_OTHER, names, statements
from benchmarks.chaos_market import DIGITS, Market, market
from benchmarks.chaos_proof import by_ticket, content
from benchmarks.faults import told
from mt5bridge.clock import monotonic_ms
from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.script import Script, parse_script
from mt5bridge.emulator.terminal import EmulatedTerminal, Result
from mt5bridge.server.status import StreamStatus, read_status
from mt5bridge.spool import Group, RecordKind, read
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
_ALL_MINUTES = 1_000_000
"""The market's time runs faster than clocks, so that where it begins cannot be told by them."""
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
{faults}
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
    reinitialisations: int = 0
    account_switches: int = 0
    file_failures: int = 0
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
        self.names = names(self.seed)
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
            inputs=f"TimerMs=20 QuietSeconds=5 BackfillMinutes={_ALL_MINUTES} WriteAhead="
            + ("true" if self.seed % 3 == 0 else "false")
            + (f" Identity={self.names.chosen}" if self.names.chosen else ""),
            burst=self.random.randrange(1, self.market.total),
            faults="\n".join(statements(self.random, self.seed, self.market.total)),
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
                self.terminal.act(TO_OTHER)
                self.until(self.other_complete)
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
                self.count(self.terminal.kill())
                self.terminal.start()

    def take(self, result: Result) -> None:
        """What the terminal tells of its run."""
        if result.exit_code or result.stats is None or result.stats.failed:
            self.outcome.problems.append(f"the terminal ended with {result.exit_code}")
        self.count(result)
        self.outcome.most_in_a_ms = self.market.most_in_a_ms

    def count(self, result: Result) -> None:
        """Add the figures of one of the terminal's lives."""
        for name, count in told(result.journal).items():
            setattr(self.outcome, name, getattr(self.outcome, name) + count)
        stats = result.stats
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
        wanted = {name: len(ticks) for name, ticks in self.market.ticks.items()}
        return (
            self.played() >= 1
            and self.all_durable(self.names.first, wanted)
            and self.idle()
            and self.all_told(self.names.first, "broker.log")
        )

    def other_complete(self) -> bool:
        """The same of the other account, which has been logged in for parts of the market."""
        return (
            self.all_durable(self.names.other, dict.fromkeys(self.market.ticks, 1))
            and self.idle()
            and self.all_told(self.names.other, self.names.log)
            and self.last_times(self.names.other)
            == {name: int(ticks["time_msc"].max()) for name, ticks in self.market.ticks.items()}
        )

    def idle(self) -> bool:
        """Whether the broker has nothing more to do."""
        stats = self.terminal.stats
        return stats is not None and bool(stats.data["broker_idle"])

    def groups(self, identity: str, kind: RecordKind) -> Iterator[Group]:
        """What of an identity is in the spool."""
        for group in read(self.folder / "spool"):
            if group.kind is kind and group.source == identity:
                yield group

    def all_told(self, identity: str, log: str) -> bool:
        """Whether the newest revision of every deal of the broker's is in the spool."""
        made = by_ticket(read_broker_log(self.terminal.folder / log).revisions)
        groups = self.groups(identity, RecordKind.DEALS)
        told = by_ticket(row for group in groups for row in group.records)
        return told.keys() == made.keys() and all(
            content(told[ticket][-1]) == content(made[ticket][-1]) for ticket in made
        )

    def last_times(self, identity: str) -> dict[str, int]:
        """The time of the youngest tick of each symbol in the spool."""
        times: dict[str, int] = {}
        for group in self.groups(identity, RecordKind.TICKS):
            name, newest = group.stream[1], int(group.records["time_msc"].max())
            times[name] = max(newest, times.get(name, 0))
        return times

    def all_durable(self, identity: str, least: dict[str, int]) -> bool:
        """Whether so many ticks of each symbol, and every deal that was taken, are on disk."""
        streams = self.streams(identity)
        wanted = least | {"": 1}
        return wanted.keys() <= streams.keys() and all(
            stream.durable >= wanted[name] and stream.taken == stream.durable
            for name, stream in streams.items()
        )

    def streams(self, identity: str | None = None) -> dict[str, StreamStatus]:
        """Streams as the running daemon sees them while connected; deals have no name."""
        try:
            status = read_status(self.folder / "state" / "status.json")
        except (OSError, msgspec.MsgspecError):
            return {}
        connected = [
            one for one in status.terminals if one.connected and identity in (None, one.identity)
        ]
        if status.pid != self.running.pid:
            return {}
        return {stream.symbol: stream for one in connected for stream in one.streams}

    def standing(self) -> str:
        """How far every stream has come."""
        parts = [f"{name or 'deals'} taken {stream.taken:,}, on disk {stream.durable:,}"
                 for name, stream in self.streams().items()]  # fmt: skip
        return "; ".join(parts) or "no stream is connected"
