"""The publisher EA on an emulated terminal, talking to a real server over TCP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.script import Script, parse_script
from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatedTerminal, write_tick_file
from mt5bridge.records import DEAL, Records
from mt5bridge.server import DEALS, Batch, ticks_of
from mt5bridge.simulator.ticks import Walk, crowd, random_walk
from mt5bridge.terminal.sources import sources_folder
from tests.bridge.live import Daemon, wait_until
from tests.credentials import CREDENTIAL

IDENTITY = "5001@Demo"
_SOURCES = sources_folder()
PROGRAMS = (
    _SOURCES / "Experts" / "Mt5Bridge" / "Publisher.mq5",
    _SOURCES / "Indicators" / "Mt5Bridge" / "TickSpy.mq5",
)
TRADER = _SOURCES / "Experts" / "Mt5Bridge" / "Trader.mq5"
EXAMPLE = _SOURCES / "Experts" / "Mt5Bridge" / "Examples" / "SignalPrinter.mq5"
_SCRIPT = """
seed {seed}
account login=5001 server=Demo currency=EUR mode=hedging leverage=100 balance=100000
{symbols}
sockets allowed=127.0.0.1
clock mode=recorded offset_ms=7200000
{statements}
attach {program} on {own} Port={port} {inputs}
"""
_INPUTS = {
    "TimerMs": "5",
    "BackfillMinutes": "1000000",
    "RecountSeconds": "60",
    "GraceSeconds": "1",
    "QuietSeconds": "1",
    "DealReconcileSeconds": "1",
    "DealDeleteSeconds": "1",
    "ShowStatus": "true",
}


@dataclass
class Stage:
    """A terminal with the publisher, and the daemon it publishes to."""

    daemon: Daemon
    terminal: EmulatedTerminal
    market: Mapping[str, Records]

    @property
    def total(self) -> int:
        """How many ticks there are of all symbols."""
        return sum(len(ticks) for ticks in self.market.values())

    def received(self, symbol: str) -> int:
        """How many ticks of a symbol the daemon has."""
        return sum(len(batch.records) for batch in list(self._stored(symbol)))

    def wait_ticks(self) -> None:
        """Wait until the daemon has as many ticks as the market had."""
        wait_until(
            lambda: all(self.received(name) >= len(ticks) for name, ticks in self.market.items())
        )

    def wait_share(self, share: float) -> None:
        """Wait until the daemon has this share of all ticks."""
        wait_until(lambda: sum(self.received(name) for name in self.market) >= share * self.total)

    def wait_agreed(self) -> None:
        """Wait until the daemon has agreed to a recount; no recount may differ."""
        wait_until(lambda: self.counted("recounts_agreed") >= len(self.market))
        assert self.counted("recounts_differing") == 0, list(self.daemon.server.sink.complaints)

    def counted(self, name: str) -> int:
        """A counter of the daemon's server."""
        return self.daemon.server.counters().get(name, 0)

    def restart_daemon(self) -> None:
        """The daemon is killed and started; what it had acknowledged is on its disk."""
        self.daemon.stop()
        self.daemon.start()

    def wait_deals(self, count: int) -> None:
        """Wait until the daemon has so many deal revisions."""
        wait_until(lambda: len(self.deals()) >= count)

    def deals(self) -> Records:
        """The deal revisions the daemon has; fails if a sequence is missing or repeated."""
        if not self.daemon.stored[IDENTITY, DEALS]:
            return np.empty(0, DEAL)
        return self.daemon.records(IDENTITY, DEALS)

    def broker_deals(self) -> Records:
        """The deal revisions that the broker has made, in its order."""
        return read_broker_log(self.terminal.folder / "broker.log").revisions

    def check_ticks(self) -> None:
        """The daemon has exactly what the tick bases hold; late ones behind, all else in order."""
        for name in self.market:
            base = self.terminal.tick_base(name)
            sent = self.daemon.records(IDENTITY, ticks_of(name))
            if (np.diff(sent["time_msc"]) >= 0).all():
                assert sent.tobytes() == base.tobytes()
            assert _sorted(sent).tobytes() == _sorted(base).tobytes()
        assert not self.daemon.gaps

    def _stored(self, symbol: str) -> list[Batch]:
        return self.daemon.stored[IDENTITY, ticks_of(symbol)]


def _sorted(ticks: Records) -> Records:
    """The same ticks in an order that only their content decides."""
    return np.sort(ticks, order=["time_msc", *(ticks.dtype.names or ())[:5]])


def comment(stats: Stats) -> str:
    """What the publisher shows on its chart."""
    return stats.data["programs"][0]["comment"] if stats.data["programs"] else ""


def market(symbols: str, count: int, same_ms: float = 0.5) -> dict[str, Records]:
    """Ticks for each symbol, many of them in one millisecond with their predecessors."""
    return {
        name: crowd(random_walk(Walk(ticks=count, seed=number)), same_ms, number)
        for number, name in enumerate(symbols.split())
    }


def script(
    folder: Path,
    ticks: Mapping[str, Records],
    port: str,
    statements: str = "",
    inputs: Mapping[str, str] | None = None,
    seed: int = 1,
    program: str = "Publisher",
) -> Script:
    """The session: every symbol is published, the first one is the chart's."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, records in ticks.items():
        path = write_tick_file(folder / f"{name}.bin", records)
        lines += [f"symbol {name} digits=5", f"ticks {name} path={path}"]
    own, *others = ticks
    defaults = _INPUTS if program == "Publisher" else {}
    given = {**defaults, "Symbols": ",".join(others), **(inputs or {})}
    return parse_script(
        _SCRIPT.format(
            seed=seed,
            symbols="\n".join(lines),
            statements=statements,
            own=own,
            program=program,
            port=port,
            inputs=" ".join(f"{key}='{value}'" for key, value in given.items()),
        )
    )


def terminal_of(programs: Sequence[Path], session: Script, folder: Path) -> EmulatedTerminal:
    """A terminal that the tests' servers let in."""
    return EmulatedTerminal(programs, session, folder, credential=CREDENTIAL)


@contextmanager
def publishing(
    folder: Path,
    ticks: Mapping[str, Records],
    statements: str = "pace step=1..6",
    *,
    inputs: Mapping[str, str] | None = None,
    seed: int = 1,
    daemon: Daemon | None = None,
) -> Iterator[Stage]:
    """A publisher at work; its terminal ends in order with the block."""
    with daemon or Daemon() as daemon:
        daemon.settings = replace(daemon.settings, bind=daemon.server.address)
        port = daemon.server.address.rpartition(":")[2]
        session = script(folder, ticks, port, statements, inputs, seed)
        with terminal_of(PROGRAMS, session, folder / "terminal") as terminal:
            yield Stage(daemon, terminal, ticks)
