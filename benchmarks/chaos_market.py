"""The chaos proof's market: recorded ticks of three symbols, pressed into fewer milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mt5bridge.records import Records
from mt5bridge.simulator import Walk, random_walk
from tests.data import real_ticks

SOURCES = {"EURUSD": "fxcm_eurusd", "EURUSD.o": "oanda_eurusd", "XAUUSD": "oanda_xauusd"}
DIGITS = {"EURUSD": 5, "EURUSD.o": 5, "XAUUSD": 3}
CROWD_MAX = 6
"""So many ticks may share a millisecond."""
LATE_SHARE, LATE_MS_MAX = 0.003, 3_000
"""How many ticks come late to the tick base, and how late: the publisher allows for 5 s."""
LAST_MS = 180_000
"""A last tick comes so long after the others: it closes the interval that they are counted in."""


@dataclass(frozen=True, slots=True)
class Market:
    """Ticks by symbol, in the order in which they come: of late ones the times go back."""

    ticks: dict[str, Records]
    recorded: bool

    @property
    def total(self) -> int:
        return sum(map(len, self.ticks.values()))

    @property
    def most_in_a_ms(self) -> int:
        """The largest number of ticks of one symbol in one millisecond."""
        times = (ticks["time_msc"] for ticks in self.ticks.values())
        return max(int(np.unique(one, return_counts=True)[1].max()) for one in times)

    def write(self, folder: Path) -> dict[str, Path]:
        """The ticks as files of packed MqlTick; their paths by symbol."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = {name: folder / f"{name}.bin" for name in self.ticks}
        for name, path in paths.items():
            path.write_bytes(self.ticks[name].tobytes())
        return paths


def market(total: int, seed: int) -> Market:
    """`total` ticks of all symbols from a stretch of the recordings that `seed` chooses."""
    recorded = real_ticks.FOLDER.is_dir()
    whole = _recorded() if recorded else _made_up(total, seed)
    cut = _stretch(whole, total, np.random.default_rng(seed))
    ticks = {
        name: _made_odd(part, np.random.default_rng([seed, place]))
        for place, (name, part) in enumerate(cut.items())
    }
    return Market(ticks, recorded)


def _recorded() -> dict[str, Records]:
    return {name: real_ticks.ticks(source) for name, source in SOURCES.items()}


def _made_up(total: int, seed: int) -> dict[str, Records]:
    """Random walks instead, where the recordings are not at hand."""
    walks = (Walk(total, seed + place, gap_ms=400.0) for place in range(len(SOURCES)))
    return dict(zip(SOURCES, map(random_walk, walks), strict=True))


def _stretch(
    whole: dict[str, Records], total: int, random: np.random.Generator
) -> dict[str, Records]:
    """`total` ticks that follow each other in time, less one a symbol for the last ticks."""
    count = total - len(whole)
    times = np.sort(np.concatenate([ticks["time_msc"] for ticks in whole.values()]))
    begin = int(random.integers(0, max(1, len(times) - count)))
    last = min(begin + count, len(times)) - 1
    cut = {}
    for name, ticks in whole.items():
        first = np.searchsorted(ticks["time_msc"], times[begin], side="left")
        end = np.searchsorted(ticks["time_msc"], times[last], side="right")
        cut[name] = ticks[first:end]
    return cut


def _made_odd(ticks: Records, random: np.random.Generator) -> Records:
    return _closed(_delayed(_crowded(ticks, random), random))


def _crowded(ticks: Records, random: np.random.Generator) -> Records:
    """A copy in which runs of up to `CROWD_MAX` ticks share the millisecond of their first."""
    copy = ticks.copy()
    if not len(copy):
        return copy
    place = np.arange(len(copy))
    apart_msc = np.maximum.accumulate(copy["time_msc"] - place) + place
    ends = np.cumsum(random.integers(1, CROWD_MAX, len(copy), endpoint=True))
    runs = np.searchsorted(ends, place, side="right")
    starts = np.concatenate([[0], ends])[runs]
    copy["time_msc"] = apart_msc[starts]
    copy["time"] = copy["time_msc"] // 1000
    return copy


def _delayed(ticks: Records, random: np.random.Generator) -> Records:
    """A copy in which some ticks come late, by less than the publisher waits before it counts."""
    chosen = random.random(len(ticks)) < LATE_SHARE
    delay_ms = random.integers(1, LATE_MS_MAX, len(ticks), endpoint=True)
    come_msc = ticks["time_msc"] + np.where(chosen, delay_ms, 0)
    return ticks[np.argsort(come_msc, kind="stable")]


def _closed(ticks: Records) -> Records:
    """With a last tick, the same as the one before it, `LAST_MS` later."""
    if not len(ticks):
        return ticks
    last = ticks[-1:].copy()
    last["time_msc"] = ticks["time_msc"].max() + LAST_MS
    last["time"] = last["time_msc"] // 1000
    return np.concatenate([ticks, last])
