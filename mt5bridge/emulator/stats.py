"""The figures an emulated terminal writes about its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec


@dataclass(frozen=True)
class Usage:
    """How often a handler ran, its own CPU time, its longest run; times in microseconds."""

    calls: int = 0
    cpu_us: int = 0
    longest_us: int = 0


@dataclass(frozen=True)
class EventCounts:
    """What became of a program's events of one kind."""

    queued: int = 0
    skipped: int = 0  # lost on purpose, by the script
    coalesced: int = 0  # not queued, as one was queued or being handled
    overflowed: int = 0  # not queued, as the queue was full
    overwritten: int = 0  # transactions that the ring has lost


@dataclass(frozen=True)
class ProgramStats:
    """One program; also after its end."""

    data: Mapping[str, Any]

    @property
    def running(self) -> bool:
        """Whether it is attached and has not been stopped."""
        return bool(self.data["running"])

    @property
    def comment(self) -> str:
        """What it shows on its chart."""
        return str(self.data["comment"])

    @property
    def copy_calls(self) -> int:
        """Calls of CopyTicks and CopyTicksRange."""
        return int(self.data["copy_calls"])

    def handler(self, name: str) -> Usage:
        """The usage of `OnTick`, `OnTimer`, ...; zeros if it never ran."""
        return Usage(**self.data["handlers"].get(name, {}))

    def events(self, name: str) -> EventCounts:
        """The events for `OnTick`, `OnTimer`, ..."""
        return EventCounts(**self.data["events"][name])

    @property
    def cpu_us(self) -> int:
        """CPU time of all its handlers."""
        return sum(int(usage["cpu_us"]) for usage in self.data["handlers"].values())


@dataclass(frozen=True)
class Stats:
    """The whole terminal."""

    data: Mapping[str, Any]

    @property
    def run(self) -> int:
        """Which start of this data folder it is, from 1."""
        return int(self.data["run"])

    @property
    def finished(self) -> bool:
        """Whether the run has ended in order."""
        return bool(self.data["finished"])

    @property
    def ticks(self) -> int:
        """Ticks in all files."""
        return int(self.data["ticks"])

    @property
    def ticks_delivered(self) -> int:
        """Ticks that have reached the terminal, in all runs."""
        return int(self.data["ticks_delivered"])

    @property
    def clock_ms(self) -> int:
        """The terminal's clock, which runs while it computes or waits; only differences count."""
        return int(self.data["clock_ms"])

    @property
    def quiet_ms(self) -> int:
        """Since when nothing but timers has happened."""
        return int(self.data["quiet_ms"])

    @property
    def broker_idle(self) -> bool:
        """Whether the broker has nothing under way."""
        return bool(self.data["broker_idle"])

    @property
    def effects(self) -> int:
        """Effects outside of this run; `crash effect=N` counts them."""
        return int(self.data["effects"])

    @property
    def failed(self) -> tuple[str, ...]:
        """Programs that were stopped, and why."""
        return tuple(self.data["failed"])

    @property
    def faults(self) -> Mapping[str, int]:
        """How often each fault of the sockets has struck."""
        faults: Mapping[str, int] = self.data["faults"]
        return faults

    @property
    def sockets(self) -> Mapping[str, int]:
        """connects, sends, reads, and the bytes sent and received."""
        counts: Mapping[str, int] = self.data["sockets"]
        return counts

    @property
    def process_cpu_us(self) -> int:
        """CPU time of the whole process."""
        return int(self.data["process"]["cpu_us"])

    def in_base(self, symbol: str) -> int:
        """Ticks in a symbol's tick base."""
        return int(self.data["symbols"][symbol]["in_base"])

    def program(self, name: str, symbol: str | None = None) -> ProgramStats:
        """The newest program of this name, perhaps on a symbol. KeyError: there was none."""
        for data in reversed(self.data["programs"]):
            if data["name"] == name and symbol in (None, data["symbol"]):
                return ProgramStats(data)
        raise KeyError(name)


def read_stats(folder: Path) -> Stats | None:
    """The figures in a terminal's data folder; None before there are any."""
    try:
        return Stats(msgspec.json.decode((folder / "stats.json").read_bytes()))
    except FileNotFoundError:
        return None
