"""What is odd about a symbol's ticks: prices far from their neighbours, runs, gaps."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mt5bridge.history.zones import HOUR_MS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NEIGHBOURS = 32
"""How many ticks on each side say what a price should be; as many, less one, may be wrong together
and are still found."""
NEIGHBOURS_MIN = 3
SCALES = 20.0
FLOOR = 2e-5
"""The least scale, as a share of the price: of a market that stands still, any move is far."""
CHUNK_ROWS = 1 << 16
WEEK_HOURS = 168
USUAL_SHARE = 0.5


class Odd(IntFlag):
    """Marks that `archive doctor` adds to those of `mt5bridge.validate.Quality`."""

    OUTLIER = 64  # far from the ticks before and those after
    REPEATED = 128  # the time, prices and volume of a tick before
    GAP = 256  # the first after hours without a tick, in which there usually are some


class Stretch(NamedTuple):
    """A run of odd ticks, or a gap between two; times in ms UTC."""

    first_msc: int
    last_msc: int
    ticks: int


def outliers(mid: Floats, spread: Floats) -> Mask:
    """Which prices are far from the median of the ticks before and of those after.

    Far is `SCALES` times the larger of the spread's median and the median distance from their
    side's median, over both sides (the Hampel filter, on each side for itself: where a price moves
    for good, it is near those after). Shapes (n,); O(n), but for places where prices move much.
    """
    found = np.zeros(len(mid), np.bool_)
    rows = np.flatnonzero(_may_be_far(mid))
    for begin in range(0, len(rows), CHUNK_ROWS):
        chunk = rows[begin : begin + CHUNK_ROWS]
        found[chunk] = _far(mid, spread, chunk)
    return found


def _may_be_far(mid: Floats) -> Mask:
    """Where a price could be far at all: the prices around it differ by what is far at least."""
    if not len(mid):
        return np.zeros(0, np.bool_)
    blocks = -(-len(mid) // NEIGHBOURS)
    padded = np.pad(mid, (0, blocks * NEIGHBOURS - len(mid)), mode="edge").reshape(blocks, -1)
    low, high = padded.min(1), padded.max(1)
    lows, highs = np.pad(low, 1, mode="edge"), np.pad(high, 1, mode="edge")
    lowest = np.minimum.reduce([lows[:-2], low, lows[2:]])
    highest = np.maximum.reduce([highs[:-2], high, highs[2:]])
    wide = highest - lowest > SCALES * FLOOR * np.abs(lowest)
    return np.repeat(wide, NEIGHBOURS)[: len(mid)]


def _far(mid: Floats, spread: Floats, rows: npt.NDArray[np.intp]) -> Mask:
    steps = np.arange(1, NEIGHBOURS + 1)
    sides = [rows[:, None] - steps, rows[:, None] + steps]
    prices, spreads = ([_taken(values, side) for side in sides] for values in (mid, spread))
    enough = [np.isfinite(side).sum(1) >= NEIGHBOURS_MIN for side in prices]
    with np.errstate(all="ignore"):
        centres = [_median(side) for side in prices]
        away = np.concatenate(
            [np.abs(side - centre[:, None]) for side, centre in zip(prices, centres, strict=True)],
            axis=1,
        )
        floor = FLOOR * np.abs(np.fmax(*centres))
        scale = np.fmax(np.fmax(_median(away), _median(np.concatenate(spreads, axis=1))), floor)
        distances = [mid[rows] - centre for centre in centres]
        beyond = [np.abs(distance) > SCALES * scale for distance in distances]
    same = np.sign(distances[0]) == np.sign(distances[1])
    both = beyond[0] & beyond[1] & same
    found: Mask = np.select(
        [enough[0] & enough[1], enough[0], enough[1]], [both, *beyond], default=False
    )
    return found


def _taken(values: Floats, places: npt.NDArray[np.intp]) -> Floats:
    """Values at places; NaN where there are none."""
    inside = (places >= 0) & (places < len(values))
    return np.where(inside, values[np.where(inside, places, 0)], np.nan)


def _median(values: Floats) -> Floats:
    """The median of each row, NaN left out."""
    ordered = np.sort(values, axis=1)  # NaN comes last
    count = np.isfinite(values).sum(1)
    rows = np.arange(len(values))
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
    middle: Floats = (ordered[rows, low] + ordered[rows, high]) / 2
    return middle


def runs(mask: Mask, times_msc: Ints) -> Iterator[Stretch]:
    """Stretches of consecutive ticks that are marked."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    for begin, end in edges.reshape(-1, 2).tolist():
        yield Stretch(int(times_msc[begin]), int(times_msc[end - 1]), end - begin)


def repeated(keys: npt.NDArray[np.void]) -> Mask:
    """Which ticks have the key of one before; see `tick_keys`."""
    _, first = np.unique(keys, return_index=True)
    mask = np.ones(len(keys), np.bool_)
    mask[first] = False
    return mask


class Sessions:
    """In which hours of the week a symbol usually has ticks, as its own history shows.

    An hour is usual when more than `USUAL_SHARE` of the weeks that history covers have ticks in it.
    """

    def __init__(self) -> None:
        self._hours: set[int] = set()

    def add(self, times_msc: Ints) -> None:
        """Take times of ticks, ms UTC."""
        self._hours.update(np.unique(times_msc // HOUR_MS).tolist())

    @property
    def weeks(self) -> int:
        """Whole weeks from the first tick to the last."""
        return (max(self._hours) - min(self._hours) + 1) // WEEK_HOURS if self._hours else 0

    @property
    def usual(self) -> Mask:
        """Shape (168,): hours of the week, beginning with that of the epoch, a Thursday."""
        hours = np.array(sorted(self._hours), np.int64)
        counts = np.bincount(hours % WEEK_HOURS, minlength=WEEK_HOURS)
        every = np.arange(hours[0], hours[-1] + 1) if len(hours) else hours
        possible = np.bincount(every % WEEK_HOURS, minlength=WEEK_HOURS)
        usual: Mask = counts > USUAL_SHARE * possible
        return usual


def gaps(times_msc: Ints, usual: Mask, gap_ms: int) -> npt.NDArray[np.intp]:
    """Ticks, sorted by time, before which `gap_ms` or more of usual hours passed without one."""
    after = np.flatnonzero(np.diff(times_msc) >= gap_ms) + 1
    missed = [usual_ms(int(times_msc[i - 1]), int(times_msc[i]), usual) for i in after.tolist()]
    found: npt.NDArray[np.intp] = after[np.array(missed, np.int64) >= gap_ms]
    return found


def usual_ms(begin_msc: int, end_msc: int, usual: Mask) -> int:
    """How much of a stretch of time lies in usual hours."""
    hours = np.arange(begin_msc // HOUR_MS, -(-end_msc // HOUR_MS))
    begins = np.maximum(hours * HOUR_MS, begin_msc)
    ends = np.minimum((hours + 1) * HOUR_MS, end_msc)
    return int(((ends - begins) * usual[hours % WEEK_HOURS]).sum())
