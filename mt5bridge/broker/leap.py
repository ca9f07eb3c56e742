"""The loop over ticks without a compiler: NumPy passes over those that set nothing off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mt5bridge.broker.run import run
from mt5bridge.broker.slippage import note_range
from mt5bridge.broker.state import Ints, Reals, State, Waiting
from mt5bridge.broker.ticks import NEVER_MSC

Columns = tuple[Ints, Ints, Ints, Reals, Reals]
"""Rows, places, times, bids and asks of ticks."""

_LOOK = 64  # ticks ahead at first, twice as many each time that there is nothing
_LOOK_MAX = 1 << 17


def leap(
    state: State,
    rows: Ints,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
    at: Ints,
) -> bool:
    """As `run`, and comes to the same."""
    ticks: Columns = (rows, places, times_msc, bids, asks)
    while at[0] < len(places):
        if at[1] == 0:
            _pass_over(state, ticks, waiting, at)
        end = int(at[0]) + 1
        if not run(state, *_part(ticks, 0, end), waiting, at):
            return False
    return True


def _part(ticks: Columns, start: int, end: int) -> Columns:
    rows, places, times_msc, bids, asks = ticks
    part = slice(start, end)
    return rows[part], places[part], times_msc[part], bids[part], asks[part]


def _pass_over(state: State, ticks: Columns, waiting: Waiting, at: Ints) -> None:
    """Go to the next tick that may matter."""
    look, due = _LOOK, _next(waiting)
    while at[0] < len(ticks[0]):
        start = int(at[0])
        ahead = _part(ticks, start, start + look)
        count = _quiet(state, ahead, due)
        if count:
            _quote(state, _part(ahead, 0, count))
        at[0] += count
        if count < len(ahead[0]):
            return
        look = min(2 * look, _LOOK_MAX)


def quiet(
    state: State,
    rows: Ints,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
) -> int:
    """How many of the next ticks would surely change nothing but the quotes and the time."""
    return _quiet(state, (rows, places, times_msc, bids, asks), _next(waiting))


def _quiet(state: State, ticks: Columns, due: tuple[Ints, Ints]) -> int:
    """The same, where `due` is what `_next` says of the requests."""
    matter = _may_matter(state, *ticks, *due)
    first = int(matter.argmax()) if len(matter) else 0
    return first if len(matter) and matter[first] else len(matter)


def _may_matter(
    state: State, rows: Ints, places: Ints, times_msc: Ints, bids: Reals, asks: Reals,
    after: Ints, earliest_msc: Ints,
) -> NDArray[np.bool_]:  # fmt: skip
    """Ticks that reach a price or a time that was set, or that a request waits for (`_next`)."""
    symbols = state.symbols
    if len(symbols) == 1:
        rows = np.zeros(1, np.int64)  # spares gathering
    found = (bids <= symbols["bid_low"][rows]) | (bids >= symbols["bid_high"][rows])
    found |= (asks <= symbols["ask_low"][rows]) | (asks >= symbols["ask_high"][rows])
    found |= times_msc >= state.account[0]["due_msc"]
    if len(after):
        found |= (places > after[rows]) & (times_msc >= earliest_msc[rows])
    return found


def _next(waiting: Waiting) -> tuple[Ints, Ints]:
    """Of the next request of each symbol: its place and its earliest time; none if none waits."""
    waits = waiting.next < waiting.ends
    if not waits.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    chosen = waiting.requests[np.where(waits, waiting.next, 0)]
    return np.where(waits, chosen["after"], NEVER_MSC), chosen["earliest_msc"]


def _quote(state: State, ticks: Columns) -> None:
    """Ticks that change nothing but the quotes and the time."""
    rows, places, times_msc, bids, asks = ticks
    account = state.account[0]
    account["place"], account["at_symbol"] = places[-1], rows[-1]
    account["time_msc"] = max(account["time_msc"], times_msc.max())
    if account["ranges"] > 0:
        _note_ranges(state, rows, times_msc, bids)
    if len(state.symbols) == 1:
        state.symbols[0]["bid"], state.symbols[0]["ask"] = bids[-1], asks[-1]
    else:  # of several values for one place, the last stays
        state.symbols["bid"][rows], state.symbols["ask"][rows] = bids, asks


def _note_ranges(state: State, rows: Ints, times_msc: Ints, bids: Reals) -> None:
    """As `note_range` of each tick: only the last two periods of a symbol matter."""
    for row in np.flatnonzero(state.symbols["slippage_range_ms"]).tolist():
        of_row = (rows == row) & (bids > 0.0)
        if not of_row.any():
            continue
        symbol, found = state.symbols[row], bids[of_row]
        length_ms = int(symbol["slippage_range_ms"])
        periods = np.maximum(times_msc[of_row] // length_ms, symbol["range_period"])
        periods = np.maximum.accumulate(periods)
        starts = np.flatnonzero(np.diff(periods, prepend=periods[0] - 1))[-2:]
        for start, end in zip(starts, [*starts[1:], len(found)], strict=True):
            time_msc, part = int(periods[start]) * length_ms, found[start:end]
            note_range(state, row, time_msc, part.min())
            note_range(state, row, time_msc, part.max())
