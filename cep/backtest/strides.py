"""What an account goes through, by NumPy passes over the ticks of each symbol: `walk` without a
compiler, and to the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from cep.backtest.ticks import Floats, Ints, by_row
from mt5bridge.broker import Record, Table
from mt5bridge.broker.rates import DIRECT
from mt5bridge.broker.worth import MINUTE_MS, STRETCH, Walk, take_deal

Column = TypeVar("Column", Ints, Floats)
LOTS_DIGITS = 8
"""Decimals that are more than what summing doubles loses."""


def strides(
    state: Walk,
    rows: Ints,
    times_msc: Ints,
    bids: Floats,
    asks: Floats,
    deals: Table,
    at: Ints,
    charges: Floats,
    charged_at: Ints,
) -> None:
    """As `walk`, and comes to the same."""
    course, count = state.course[0], len(rows)
    course["minutes"] = course["stretches"] = 0
    times = _running(np.maximum, course["newest_msc"], times_msc)
    gained = deals["profit"] + deals["commission"]
    changes = np.zeros(count)
    changes[charged_at] = charges
    changes += np.bincount(at, gained, count)
    batch = _Batch(state, by_row(rows), bids, asks)
    is_open = (state.held["long_lots"] != 0.0) | (state.held["short_lots"] != 0.0)
    for row in range(len(state.held)):
        own = deals["symbol"] == row
        if is_open[row] or own.any():
            batch.add_changes(changes, row, deals[own], at[own])
    batch.quote()
    equity = _running(np.add, course["equity"], changes)
    settled = np.bincount(at, gained + deals["swap"], count).astype(np.float64)
    balance = _running(np.add, course["balance"], settled)
    opened = np.bincount(at, deals["volume"] - 2.0 * deals["closed_lots"], count)
    open_lots = np.round(_running(np.add, course["open_lots"], opened), LOTS_DIGITS)
    is_active = open_lots > 0.0
    is_active[at] = True
    active = np.flatnonzero(is_active)
    if len(active):
        _note_fall(course, times[active], equity[active])
        _note_minutes(state, times[active], balance[active], equity[active])
    if count:
        course["newest_msc"], course["equity"] = times[-1], equity[-1]
        course["balance"], course["open_lots"] = balance[-1], open_lots[-1]
    course["ticks"] += count


class _Batch:
    """Ticks that come together: `own` are the places of each symbol's, by its row."""

    def __init__(self, state: Walk, own: Mapping[int, Ints], bids: Floats, asks: Floats) -> None:
        self._state, self._own, self._bids, self._asks = state, own, bids, asks

    def add_changes(self, changes: Floats, row: int, deals: Table, at: Ints) -> None:
        """Add what the worth of a symbol changes by at each tick; `at` are those of its deals."""
        held = self._state.held[row]
        pairs = [
            (int(held[f"{name}_row"]), int(held[f"{name}_way"]))
            for name in ("rate", "cross")
            if held[f"{name}_way"]
        ]
        after = _after(held, deals)
        places = self._places(row)
        self._note_stretches(row, at, after)
        bids, asks = self._bids[places], self._asks[places]
        if pairs or not _are_among(at, places):  # that of another symbol counts, too
            others = (self._places(pair) for pair, _ in pairs)
            places = np.unique(np.concatenate([places, at, *others]))
            bids, asks = (self._quoted(row, side, places) for side in ("bid", "ask"))
        counts = np.diff(np.searchsorted(places, at), prepend=0, append=len(places))
        long_lots, long_cost, short_lots, short_cost = (
            np.repeat(column, counts) for column in after.T
        )
        worth = long_lots * bids - short_lots * asks - (long_cost - short_cost)
        worth *= held["contract_size"]
        if pairs:
            worth *= self._rates(pairs, places)
        changes[places] += np.diff(worth, prepend=held["worth"])
        if len(places):
            held["worth"] = worth[-1]

    def quote(self) -> None:
        """The last tick of each symbol is how it is quoted now."""
        for row, places in self._own.items():
            held = self._state.held[row]
            held["bid"], held["ask"] = self._bids[places[-1]], self._asks[places[-1]]

    def _places(self, row: int) -> Ints:
        return self._own.get(row, np.zeros(0, np.int64))

    def _quoted(self, row: int, side: str, places: Ints) -> Floats:
        """The newest quotes of a symbol at some ticks, or those before."""
        own, column = self._places(row), self._bids if side == "bid" else self._asks
        quotes = np.concatenate([[self._state.held[row][side]], column[own]])
        found: Floats = quotes[np.searchsorted(own, places, side="right")]
        return found

    def _rates(self, pairs: Sequence[tuple[int, int]], places: Ints) -> Floats:
        """What one unit is worth at each of these ticks; 0: not known."""
        found = np.ones(len(places))
        for row, way in pairs:
            quoted = self._quoted(row, "bid" if way == DIRECT else "ask", places)
            known = np.where(quoted > 0.0, quoted, 1.0)
            found *= np.where(quoted > 0.0, known if way == DIRECT else 1.0 / known, 0.0)
        return found

    def _note_stretches(self, row: int, at: Ints, after: Floats) -> None:
        """The extremes of a symbol's ticks from one of its deals to another, where any is open."""
        course, own = self._state.course[0], self._places(row)
        deal = np.searchsorted(at, own, side="right")  # the newest, counted from 1
        own_open = (after[:, [0, 2]] != 0.0).any(axis=1)[deal]
        own, deal = own[own_open], deal[own_open]
        if not len(own):
            return
        starts = np.flatnonzero(np.diff(deal, prepend=-1))
        found = np.empty(len(starts), STRETCH)
        found["symbol"], found["number"] = row, course["ticks"] + own[starts]
        for name, column in (("bid", self._bids), ("ask", self._asks)):
            found[f"{name}_low"] = np.minimum.reduceat(column[own], starts)
            found[f"{name}_high"] = np.maximum.reduceat(column[own], starts)
        first = course["stretches"]
        self._state.stretches[first : first + len(found)] = found
        course["stretches"] += len(found)


def _are_among(places: Ints, own: Ints) -> bool:
    """Whether all are in `own`, which rises: a look at each spares sorting the others."""
    if not len(places):
        return True
    at = np.minimum(np.searchsorted(own, places), len(own) - 1)
    return bool(len(own) and (own[at] == places).all())


def _after(held: Record, deals: Table) -> Floats:
    """What is open of a symbol, lots and cost of each side, at first and behind each deal."""
    names = ["long_lots", "long_cost", "short_lots", "short_cost"]
    found = np.empty((len(deals) + 1, 4))
    found[0] = [held[name] for name in names]
    for number, deal in enumerate(deals, 1):
        take_deal(held, deal)
        found[number] = [held[name] for name in names]
    return found


def _running(sums: np.ufunc, before: float, values: Column) -> Column:
    """What comes to `before` with each of the values and those in front of it, in their order."""
    found: Column = sums.accumulate(np.concatenate([[before], values]))[1:]
    return found


def _note_fall(course: Record, times: Ints, equity: Floats) -> None:
    """Whether the account has fallen deeper than ever."""
    before_msc = int(course["highest_msc"]) or int(times[0])
    highest = _running(np.maximum, course["highest"], equity)
    falls = highest - equity
    at = int(np.argmax(falls))
    if falls[at] > course["fall"]:
        rose = equity[: at + 1].max() > course["highest"]
        course["fall"], course["trough_msc"] = falls[at], times[at]
        course["peak_msc"] = times[np.argmax(equity[: at + 1])] if rose else before_msc
    if (is_money := highest > 0.0).any():
        share = (falls[is_money] / highest[is_money]).max()
        course["fall_share"] = max(course["fall_share"], share)
    rose = highest[-1] > course["highest"]
    course["highest_msc"] = times[np.argmax(equity)] if rose else before_msc
    course["highest"] = highest[-1]


def _note_minutes(state: Walk, times: Ints, balance: Floats, equity: Floats) -> None:
    """How ticks leave the account, and its extremes in each minute."""
    starts = np.flatnonzero(np.diff(times // MINUTE_MS, prepend=-1))
    ends = np.append(starts[1:], len(times)) - 1
    found = state.minutes[: len(starts)]
    found["time_msc"], found["balance"], found["equity"] = times[ends], balance[ends], equity[ends]
    found["low"] = np.minimum.reduceat(equity, starts)
    found["high"] = np.maximum.reduceat(equity, starts)
    state.course[0]["minutes"] = len(starts)
