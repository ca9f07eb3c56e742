"""A tick base that fills up as simulated time goes by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mt5bridge.position import Position
from mt5bridge.records import Records


class Tape:
    """Several symbols' ticks, released in the order of time; within a symbol in their own order."""

    def __init__(self, ticks: Mapping[str, Records]) -> None:
        self.ticks = dict(ticks)
        self._names = list(ticks)
        order, self._times = merge(list(ticks.values()))
        lengths = [len(array) for array in ticks.values()]
        self._owner = np.repeat(np.arange(len(lengths)), lengths)[order]
        self._released = 0
        self._taken = dict.fromkeys(self._names, 0)
        self._skipped = dict.fromkeys(self._names, 0)  # what an earlier run has taken
        self._passed = dict.fromkeys(self._names, 0)  # what the account has seen

    def __len__(self) -> int:
        return len(self._times)

    @property
    def skipped(self) -> int:
        """How many ticks are not released, since an earlier run has taken their times."""
        return sum(self._skipped.values())

    @property
    def finished(self) -> bool:
        """Whether all ticks are released."""
        return self._released == len(self._times)

    @property
    def start_msc(self) -> int:
        """Server time of the first tick; 0 without ticks."""
        return int(self._times[0]) if len(self._times) else 0

    @property
    def now_msc(self) -> int:
        """Server time of the newest released tick, of the first one before that."""
        return int(self._times[max(0, self._released - 1)]) if len(self._times) else 0

    def whole_msc(self, until_msc: int | None = None) -> int:
        """Server time: all earlier ticks are released, and none comes before `until_msc` if given.

        0 without ticks.
        """
        if not len(self._times):
            return 0
        if self.finished:
            return max(self.now_msc + 1, until_msc or 0)
        return min(max(self.now_msc, until_msc or 0), int(self._times[self._released]))

    def released(self, symbol: str) -> Records:
        """All ticks of a symbol that have come so far."""
        return self.ticks[symbol][: self._taken[symbol]]

    def seek(self, symbol: str, position: Position) -> None:
        """Skip what was taken up to a position: by time and count, as CopyTicks is asked.

        Of ticks that are not those taken before, all up to the position's time are skipped.
        """
        if not position.count_at_msc or symbol not in self.ticks:
            return
        self._skipped[symbol] = behind(self.ticks[symbol]["time_msc"], position)

    def traded(self, symbol: str, position: Position) -> None:
        """An account has seen the market up to a position."""
        if position.count_at_msc:
            self._passed[symbol] = behind(self.ticks[symbol]["time_msc"], position)

    def pass_on(self) -> dict[str, Records]:
        """Ticks by symbol that were released since the last time, skipped or not."""
        found = {}
        for name, taken in self._taken.items():
            if taken > self._passed[name]:
                found[name] = self.ticks[name][self._passed[name] : taken]
                self._passed[name] = taken
        return found

    def release(self, count_max: int, until_msc: int | None = None) -> dict[str, Records]:
        """The next ticks by symbol: at most `count_max`, none later than `until_msc`."""
        end = min(self._released + count_max, len(self._times))
        if until_msc is not None:
            end = min(end, int(np.searchsorted(self._times, until_msc, side="right")))
        owners = self._owner[self._released : end]
        counts = np.bincount(owners, minlength=len(self._names)) if len(owners) else ()
        self._released = max(self._released, end)
        fresh = {
            name: self._take(name, int(count))
            for name, count in zip(self._names, counts, strict=False)
            if count
        }
        return {name: ticks for name, ticks in fresh.items() if len(ticks)}

    def _take(self, name: str, count: int) -> Records:
        first = self._taken[name]
        self._taken[name] = first + count
        return self.ticks[name][max(first, self._skipped[name]) : first + count]


def behind(times: NDArray[np.int64], position: Position) -> int:
    """How many of these ticks stand up to a position.

    Of ticks that are not those of the position, all up to its time.
    """
    same = np.flatnonzero(times == position.time_msc)
    if len(same) >= position.count_at_msc:
        return int(same[position.count_at_msc - 1]) + 1
    reached = np.maximum.accumulate(times)
    return int(np.searchsorted(reached, position.time_msc, side="right"))


def merge(ticks: list[Records], since_msc: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The common order of several symbols' ticks, one array behind the other, and their times.

    A late tick comes after its predecessor, whatever its stamp says, and none before `since_msc`.
    """
    if not ticks:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    own = [np.maximum.accumulate(array["time_msc"]) for array in ticks]
    times = np.maximum(np.concatenate(own), since_msc)
    order = np.argsort(times, kind="stable")
    return order, times[order]
