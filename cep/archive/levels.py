"""Prices that cannot be of their day: of another unit, or a slip. Cheap, so that imports look."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mt5bridge.records import Records

RATIO = 3.0
"""Further from the middle of a day, or of the day before, no price moves; `archive doctor` says
the same of days."""


def middle_of(prices: npt.NDArray[np.float64]) -> float:
    """The median of those that are prices; NaN when there are none."""
    good = prices[np.isfinite(prices) & (prices > 0)]
    return float(np.median(good)) if len(good) else np.nan


def middles(ticks: Records) -> npt.NDArray[np.float64]:
    """The price between bid and ask of each tick; NaN where one of them is no price."""
    bid, ask = ticks["bid"], ticks["ask"]
    with np.errstate(invalid="ignore", over="ignore"):
        good = (bid > 0) & (ask > 0) & np.isfinite(bid + ask)
        return np.where(good, (bid + ask) / 2, np.nan)


def far(prices: npt.NDArray[np.float64], level: float) -> npt.NDArray[np.bool_]:
    """Which prices are a third of the level or less, or three times or more."""
    with np.errstate(invalid="ignore"):
        return (prices >= RATIO * level) | (prices * RATIO <= level)
