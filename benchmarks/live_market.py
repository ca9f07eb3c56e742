"""The market that a daemon is measured with: symbols that walk at random, some ticks marked."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mt5bridge.records import Records
from mt5bridge.simulator import Walk, random_walk

SYMBOLS = [f"S{number}" for number in range(10)]
WAKE_NS = 1_000_000
"""The market brings something each millisecond."""
START_MSC = 1_700_000_000_000


class Market:
    """Endless ticks of all symbols, one a millisecond of market time, every n-th marked."""

    def __init__(self, marked_every: int, symbols: Sequence[str] = SYMBOLS) -> None:
        self.symbols = symbols
        self.walk = random_walk(Walk(100_000, seed=5))
        self.marked_every = marked_every
        self.count = 0

    def next(self, count: int) -> list[tuple[str, Records]]:
        """The next ticks by symbol, each of another one than the last; their times are unique."""
        places = np.arange(self.count, self.count + count)
        self.count += count
        found = []
        for number, name in enumerate(self.symbols):
            own = places[(-(int(places[0]) - number)) % len(self.symbols) :: len(self.symbols)]
            if len(own):
                found.append((name, self._at(own)))
        return found

    def together(self, count: int) -> tuple[str, Records]:
        """The next so many ticks, all of one symbol; the next ones are of the next."""
        name = self.symbols[self.count // count % len(self.symbols)]
        places = np.arange(self.count, self.count + count)
        self.count += count
        return name, self._at(places)

    def _at(self, places: Records) -> Records:
        records: Records = self.walk[places // len(self.symbols) % len(self.walk)]
        records["time_msc"] = START_MSC + places
        records["volume_real"] = places % self.marked_every == 0
        return records


@dataclass(frozen=True)
class Brought:
    """Ticks by symbol that come together, and the `time_msc` of those that are marked."""

    ticks: list[tuple[str, Records]]
    marked: list[int]

    @classmethod
    def of(cls, ticks: list[tuple[str, Records]]) -> Brought:
        times = (one["time_msc"][one["volume_real"] > 0].tolist() for _, one in ticks)
        return cls(ticks, [time_msc for found in times for time_msc in found])


def planned(market: Market, rate: int, seconds: float) -> list[Brought]:
    """What each millisecond brings."""
    each = rate * WAKE_NS // 10**9
    found = [Brought.of(market.next(each)) for _ in range(int(seconds * 1e9) // WAKE_NS)]
    gc.freeze()  # looking through all these again and again is no terminal's work
    return found
