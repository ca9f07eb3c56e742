"""The strategy as plain NumPy, slow and obvious: what every contestant's trades should be."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.backtesters.job import POINT, Quotes, Trade, trade

LIMITS = {
    "opened_msc": 0.0,
    "closed_msc": 0.0,
    "open_price": POINT / 1e3,
    "close_price": POINT / 1e3,
    "points": 1e-3,
}
"""By how much a trade may differ: not at all, but for the last digits of what is computed."""


def is_above(quotes: Quotes, fast: int, slow: int) -> npt.NDArray[np.bool_]:
    """Whether the fast mean is above the slow one, at each tick from the first with both on."""
    mids = quotes.half_points()
    windows = np.lib.stride_tricks.sliding_window_view(mids, slow)
    fast_sums = windows[:, -fast:].sum(axis=1)
    return np.asarray(fast_sums * slow > windows.sum(axis=1) * fast)


def trades(quotes: Quotes, fast: int, slow: int) -> list[Trade]:
    """Bought at the ask behind each turn upward, sold at the bid behind the next one downward."""
    found, opened = [], None
    was_above = False
    for place, above in enumerate(is_above(quotes, fast, slow), start=slow):
        if above != was_above and place < len(quotes):
            price = float((quotes.asks if above else quotes.bids)[place])
            time_msc = int(quotes.times_msc[place])
            if opened:
                found.append(trade(*opened, time_msc, price))
            opened = (time_msc, price) if above else None
        was_above = above
    return found


def difference(wanted: Sequence[Trade], found: Sequence[Trade], but: Collection[str] = ()) -> str:
    """Where trades differ, in words; nothing where they are the same, `but` for what is named."""
    if len(wanted) != len(found):
        return f"{len(found):,} trades, to be {len(wanted):,}"
    both = list(zip(wanted, found, strict=True))
    told = []
    for name, limit in LIMITS.items():
        if name in but:
            continue
        gaps = [abs(getattr(a, name) - getattr(b, name)) for a, b in both]
        if off := sum(gap > limit for gap in gaps):
            told.append(f"{name} of {off:,}, by {max(gaps):.3g} at most")
    return "; ".join(told)
