"""The account's equity, by the minute and at its extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cep.backtest.ticks import Floats, Ints
from mt5bridge.broker import Record, Table
from mt5bridge.broker.worth import MINUTE_MS

MONEY_DIGITS = 10
"""Decimals of an account that does not round."""
SUM_DIGITS = 6
"""Decimals that are more than what sums of doubles lose. Rounded to these at first, half a cent
becomes the same whole ones whatever was lost."""


@dataclass(frozen=True, slots=True)
class Equity:
    """Of each minute in which anything was open or dealt: the time of its last tick, balance and
    equity then, and the lowest and highest equity at any tick of it.

    `drawdown` is the deepest fall below the highest equity so far, of all ticks, from `peak_msc`
    to `trough_msc`; `drawdown_share` the greatest in shares of that highest equity, None where
    there was no money at first. Equity begins at `start`.
    """

    time_msc: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    balance: Floats = field(default_factory=lambda: np.zeros(0))
    equity: Floats = field(default_factory=lambda: np.zeros(0))
    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))
    start: float = 0.0
    drawdown: float = 0.0
    drawdown_share: float | None = None
    peak_msc: int | None = None
    trough_msc: int | None = None


def equity_of(course: Record, minutes: Sequence[Table], start: float, digits: int | None) -> Equity:
    """What a walk has come to (`mt5bridge.broker.worth`), in amounts of so many decimals."""
    places = MONEY_DIGITS if digits is None else digits
    share = float(course["fall_share"]) if start > 0.0 else None
    drawdown = float(_rounded(course["fall"], places))
    all_ = np.concatenate(minutes)
    if not len(all_):
        return Equity(start=start, drawdown_share=share)
    starts = np.flatnonzero(np.diff(all_["time_msc"] // MINUTE_MS, prepend=-1))  # of two batches
    ends = np.append(starts[1:], len(all_)) - 1
    moments = (int(course["peak_msc"]), int(course["trough_msc"])) if drawdown else (None, None)
    return Equity(
        all_["time_msc"][ends], _rounded(all_["balance"][ends], places),
        _rounded(all_["equity"][ends], places),
        np.minimum.reduceat(_rounded(all_["low"], places), starts),
        np.maximum.reduceat(_rounded(all_["high"], places), starts),
        start, drawdown, share, *moments,
    )  # fmt: skip


def _rounded(amounts: Floats, places: int) -> Floats:
    """Amounts in so many decimals, halves away from zero as the broker's, and never -0.0."""
    if places > SUM_DIGITS:
        return np.round(amounts, places) + 0.0
    parts = 10.0**places
    whole = np.round(amounts * parts, SUM_DIGITS - places)
    return np.copysign(np.floor(np.abs(whole) + 0.5), whole) / parts + 0.0
