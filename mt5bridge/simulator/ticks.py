"""Ticks made up from a seed, and oddities put into ticks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mt5bridge.records import TICK, Records, TickFlag

_QUOTE = int(TickFlag.BID | TickFlag.ASK)
_LATE_MS_MAX = 500


@dataclass(frozen=True, slots=True)
class Walk:
    """A random walk of quotes; the same seed gives the same ticks."""

    ticks: int
    seed: int = 1
    start_msc: int = 1_700_000_000_000
    price: float = 1.1
    point: float = 0.00001
    spread_points: int = 12
    step_points: float = 2.0  # standard deviation of a step
    gap_ms: float = 100.0  # mean time between ticks


def random_walk(walk: Walk) -> Records:
    """Quotes in order of time, TICK, shape (walk.ticks,)."""
    generator = np.random.default_rng(walk.seed)
    steps = np.rint(generator.normal(0, walk.step_points, walk.ticks))
    gaps = np.maximum(1, np.rint(generator.exponential(walk.gap_ms, walk.ticks)))
    digits = round(-np.log10(walk.point))
    bid_points = np.maximum(1, round(walk.price / walk.point) + np.cumsum(steps))
    ticks = np.zeros(walk.ticks, TICK)
    ticks["time_msc"] = walk.start_msc + np.cumsum(gaps).astype(np.int64)
    ticks["time"] = ticks["time_msc"] // 1_000
    ticks["bid"] = np.round(bid_points * walk.point, digits)
    ticks["ask"] = np.round((bid_points + walk.spread_points) * walk.point, digits)
    ticks["flags"] = _QUOTE
    return ticks


def crowd(ticks: Records, share: float, seed: int) -> Records:
    """A copy in which about `share` of the ticks fall into their predecessor's millisecond."""
    chosen = np.random.default_rng(seed).random(len(ticks)) < share
    if len(ticks):
        chosen[0] = False
    source = np.where(chosen, 0, np.arange(len(ticks)))
    return _timed(ticks, ticks["time_msc"][np.maximum.accumulate(source)])


def delay(ticks: Records, share: float, seed: int) -> Records:
    """A copy in which about `share` of the ticks come late: stamped earlier than others before."""
    generator = np.random.default_rng(seed)
    chosen = generator.random(len(ticks)) < share
    back_ms = generator.integers(1, _LATE_MS_MAX, len(ticks), endpoint=True)
    return _timed(ticks, ticks["time_msc"] - np.where(chosen, back_ms, 0))


def _timed(ticks: Records, time_msc: Records) -> Records:
    copy = ticks.copy()
    copy["time_msc"] = time_msc
    copy["time"] = time_msc // 1_000
    return copy
