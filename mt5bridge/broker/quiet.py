"""Ticks that change nothing but quotes and the time, which are nearly all: several at once.

What may matter is known before (`mt5bridge.broker.ticks.watch`): prices that set something off, a
time at which something is due, and where the next request of each symbol waits. A tick that reaches
none of these needs neither room in tables nor a look at what they hold.
"""

from __future__ import annotations

from mt5bridge.broker.state import Ints, Reals, State, Waiting

NEVER = 1 << 62


def pass_over(
    state: State,
    rows: Ints,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
    at: Ints,
) -> None:
    """Take the next ticks up to the first that may matter, which `at` has then. O(ticks)."""
    if state.account[0]["ranges"] > 0:
        return  # each tick counts for the range of its symbol's prices
    first = at[0]
    if len(state.symbols) == 1:
        at[0] = _of_one(state, places, times_msc, bids, asks, waiting, first)
    else:
        at[0] = _of_many(state, rows, places, times_msc, bids, asks, waiting, first)
    if at[0] > first:
        state.account[0]["place"] = places[at[0] - 1]
        state.account[0]["at_symbol"] = rows[at[0] - 1]


def _of_one(
    state: State,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
    first: int,
) -> int:
    """Of the only symbol: all that is compared stays in registers, and nothing is written."""
    account, symbol = state.account[0], state.symbols[0]
    bid_low, bid_high = symbol["bid_low"], symbol["bid_high"]
    ask_low, ask_high = symbol["ask_low"], symbol["ask_high"]
    due_msc, newest_msc = account["due_msc"], account["time_msc"]
    after, earliest_msc = NEVER, NEVER
    if waiting.next[0] < waiting.ends[0]:
        request = waiting.requests[waiting.next[0]]
        after, earliest_msc = request["after"], request["earliest_msc"]
    tick = first
    while tick < len(places):
        bid, ask, time_msc = bids[tick], asks[tick], times_msc[tick]
        if bid <= bid_low or bid >= bid_high or ask <= ask_low or ask >= ask_high:
            break
        if time_msc >= due_msc or (places[tick] > after and time_msc >= earliest_msc):
            break
        newest_msc = max(newest_msc, time_msc)
        tick += 1
    if tick > first:
        account["time_msc"] = newest_msc
        symbol["bid"] = bids[tick - 1]
        symbol["ask"] = asks[tick - 1]
    return tick


def _of_many(
    state: State,
    rows: Ints,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
    first: int,
) -> int:
    account = state.account[0]
    due_msc, newest_msc = account["due_msc"], account["time_msc"]
    tick = first
    while tick < len(places):
        row, bid, ask, time_msc = rows[tick], bids[tick], asks[tick], times_msc[tick]
        symbol = state.symbols[row]
        if bid <= symbol["bid_low"] or bid >= symbol["bid_high"]:
            break
        if ask <= symbol["ask_low"] or ask >= symbol["ask_high"] or time_msc >= due_msc:
            break
        if waiting.next[row] < waiting.ends[row]:
            request = waiting.requests[waiting.next[row]]
            if places[tick] > request["after"] and time_msc >= request["earliest_msc"]:
                break
        symbol["bid"] = bid
        symbol["ask"] = ask
        newest_msc = max(newest_msc, time_msc)
        tick += 1
    account["time_msc"] = newest_msc
    return tick
