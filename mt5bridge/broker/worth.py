"""What an account is worth at each tick, and the quotes while something is open.

Deals change what is open of a symbol; between them it is worth `lots * price - cost` on each side.
All sums go on from tick to tick, so that nothing depends on how ticks come in batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mt5bridge.broker.codes import BUY
from mt5bridge.broker.money import tidy
from mt5bridge.broker.rates import DIRECT
from mt5bridge.broker.state import Ints, Reals, Record, Table

MINUTE_MS = 60_000

COURSE = np.dtype(
    [
        ("equity", "<f8"),
        ("balance", "<f8"),
        ("open_lots", "<f8"),
        ("newest_msc", "<i8"),
        ("past_minute_msc", "<i8"),  # the end of the newest minute that was noted
        ("highest", "<f8"),  # equity so far
        ("highest_msc", "<i8"),
        # the deepest fall below the highest equity so far, and the greatest share of it
        ("fall", "<f8"),
        ("fall_share", "<f8"),
        ("peak_msc", "<i8"),
        ("trough_msc", "<i8"),
        ("ticks", "<i8"),  # so far
        # rows of the tables that these ticks have filled
        ("minutes", "<i8"),
        ("stretches", "<i8"),
    ]
)

HELD = np.dtype(
    [
        ("contract_size", "<f8"),
        # what is open on each side, and what it has cost by price
        ("long_lots", "<f8"),
        ("long_cost", "<f8"),
        ("short_lots", "<f8"),
        ("short_cost", "<f8"),
        ("worth", "<f8"),  # of that, in the account's money
        ("bid", "<f8"),
        ("ask", "<f8"),
        # the pairs that convert it, as in SYMBOL
        ("rate_row", "<i8"),
        ("rate_way", "<i8"),
        ("cross_row", "<i8"),
        ("cross_way", "<i8"),
        ("is_pair", "<i8"),  # 1: it converts others
        ("is_dealt", "<i8"),  # 1: at the tick at work
        ("stretch", "<i8"),  # its newest one, of these ticks; -1: its next tick begins one
    ]
)

MINUTE = np.dtype(
    [("time_msc", "<i8"), ("balance", "<f8"), ("equity", "<f8"), ("low", "<f8"), ("high", "<f8")]
)
"""In which anything was open or dealt: how its last tick left it, and the extremes of equity."""

STRETCH = np.dtype(
    [
        ("symbol", "<i8"),
        ("number", "<i8"),  # of its first tick
        ("bid_low", "<f8"),
        ("bid_high", "<f8"),
        ("ask_low", "<f8"),
        ("ask_high", "<f8"),
    ]
)
"""The extremes of a symbol's quotes over ticks between two of its deals while any of it is open."""


class Walk(NamedTuple):
    """The tables of one account; `course` has one row, `held` one for each symbol.

    A walk over ticks needs a row in `minutes` for each minute, and in `stretches` one for each
    symbol and each deal.
    """

    course: Table
    held: Table
    minutes: Table
    stretches: Table


def walk(
    state: Walk,
    rows: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    deals: Table,
    at: Ints,
    charges: Reals,
    charged_at: Ints,
) -> None:
    """The next ticks of the symbols in `rows`.

    `at` is the tick that made each deal, and `charges` what open positions were charged or given
    at the ticks `charged_at`; both rise.
    """
    course = state.course[0]
    course["minutes"] = 0
    course["stretches"] = 0
    for row in range(len(state.held)):
        state.held[row]["stretch"] = -1
    dealt = charged = tick = 0
    while tick < len(rows):
        if len(state.held) == 1:
            until = at[dealt] if dealt < len(at) else len(rows)
            if charged < len(charges):
                until = min(until, charged_at[charged])
            tick = stride(state, times_msc, bids, asks, tick, until)
            if tick == len(rows):
                break
        row = rows[tick]
        held = state.held[row]
        held["bid"] = bids[tick]
        held["ask"] = asks[tick]
        course["newest_msc"] = max(course["newest_msc"], times_msc[tick])
        change = 0.0
        if charged < len(charges) and charged_at[charged] == tick:
            change = charges[charged]
            charged += 1
        first = dealt
        if dealt < len(at) and at[dealt] == tick:
            dealt = behind(at, dealt)
            change += taken(state, deals, first, dealt)
        if first < dealt or held["is_pair"] == 1:
            change = revalued(state, row, change)
        elif held["long_lots"] != 0.0 or held["short_lots"] != 0.0:
            worth = worth_of(state, held)
            change += worth - held["worth"]
            held["worth"] = worth
        if held["long_lots"] != 0.0 or held["short_lots"] != 0.0:
            note_quote(state, row, course["ticks"] + tick)
        course["equity"] += change
        if first < dealt or course["open_lots"] > 0.0:
            note_fall(course)
            note_minute(course, state.minutes)
        tick += 1
    course["ticks"] += len(rows)


def stride(state: Walk, times_msc: Ints, bids: Reals, asks: Reals, first: int, until: int) -> int:
    """Of an account's only symbol the ticks from `first` on that nothing but their quotes comes
    with, if possible those up to `until`; the first that is left.
    """
    held, course = state.held[0], state.course[0]
    if first >= until:
        return first
    if held["long_lots"] == 0.0 and held["short_lots"] == 0.0:
        for tick in range(first, until):
            course["newest_msc"] = max(course["newest_msc"], times_msc[tick])
        held["bid"] = bids[until - 1]
        held["ask"] = asks[until - 1]
        return until
    is_begun = course["minutes"] > 0 and course["highest_msc"] > 0 and held["stretch"] >= 0
    if not is_begun or held["rate_way"] != 0 or course["open_lots"] <= 0.0:
        return first
    return open_stride(state, times_msc, bids, asks, first, until)


def open_stride(
    state: Walk, times_msc: Ints, bids: Reals, asks: Reals, first: int, until: int
) -> int:
    """While anything is open: as tick by tick, up to the end of a minute, but all that changes is
    in registers. That is why it is long, and says again what `worth_of`, `note_quote`, `note_fall`
    and `note_minute` say.
    """
    course, held = state.course[0], state.held[0]
    stretch = state.stretches[held["stretch"]]
    minute = state.minutes[course["minutes"] - 1]
    long_lots, short_lots = held["long_lots"], held["short_lots"]
    cost, size = held["long_cost"] - held["short_cost"], held["contract_size"]
    worth, equity, newest_msc = held["worth"], course["equity"], course["newest_msc"]
    past_msc = course["past_minute_msc"]
    bid_low, bid_high = stretch["bid_low"], stretch["bid_high"]
    ask_low, ask_high = stretch["ask_low"], stretch["ask_high"]
    highest, highest_msc = course["highest"], course["highest_msc"]
    fall, share = course["fall"], course["fall_share"]
    low, high = minute["low"], minute["high"]
    tick = first
    while tick < until:
        bid, ask, next_msc = bids[tick], asks[tick], max(newest_msc, times_msc[tick])
        if next_msc >= past_msc:
            break
        newest_msc = next_msc
        now_worth = (long_lots * bid - short_lots * ask - cost) * size
        equity += now_worth - worth
        worth = now_worth
        bid_low, bid_high = min(bid_low, bid), max(bid_high, bid)
        ask_low, ask_high = min(ask_low, ask), max(ask_high, ask)
        low, high = min(low, equity), max(high, equity)
        if equity > highest:
            highest, highest_msc = equity, newest_msc
        below = highest - equity
        if below > fall:
            fall = below
            course["peak_msc"] = highest_msc
            course["trough_msc"] = newest_msc
        if highest > 0.0:
            share = max(share, below / highest)
        tick += 1
    if tick > first:
        held["bid"], held["ask"], held["worth"] = bids[tick - 1], asks[tick - 1], worth
        course["equity"], course["newest_msc"] = equity, newest_msc
        course["highest"], course["highest_msc"] = highest, highest_msc
        course["fall"], course["fall_share"] = fall, share
        stretch["bid_low"], stretch["bid_high"] = bid_low, bid_high
        stretch["ask_low"], stretch["ask_high"] = ask_low, ask_high
        minute["low"], minute["high"], minute["time_msc"] = low, high, newest_msc
        minute["balance"], minute["equity"] = course["balance"], equity
    return tick


def behind(at: Ints, first: int) -> int:
    """The deal behind those that the same tick has made."""
    last = first
    while last < len(at) and at[last] == at[first]:
        last += 1
    return last


def taken(state: Walk, deals: Table, first: int, past: int) -> float:
    """Take the deals of one tick in; what they have gained, swap apart, which came before."""
    course = state.course[0]
    gained = settled = opened = 0.0
    for number in range(first, past):
        deal = deals[number]
        own = deal["profit"] + deal["commission"]
        gained += own
        settled += own + deal["swap"]
        opened += deal["volume"] - 2.0 * deal["closed_lots"]
        held = state.held[deal["symbol"]]
        held["is_dealt"] = 1
        held["stretch"] = -1
        take_deal(held, deal)
    course["balance"] += settled
    course["open_lots"] = tidy(course["open_lots"] + opened)
    return float(gained)


def take_deal(held: Record, deal: Record) -> None:
    """What is open of a symbol behind one of its deals."""
    closed = deal["closed_lots"]
    opened = deal["volume"] - closed
    entered, left = opened * deal["price"], closed * deal["open_price"]
    if deal["type"] == BUY:
        held["long_lots"] = tidy(held["long_lots"] + opened)
        held["long_cost"] += entered
        held["short_lots"] = tidy(held["short_lots"] - closed)
        held["short_cost"] -= left
    else:
        held["long_lots"] = tidy(held["long_lots"] - closed)
        held["long_cost"] -= left
        held["short_lots"] = tidy(held["short_lots"] + opened)
        held["short_cost"] += entered
    if held["long_lots"] == 0.0:
        held["long_cost"] = 0.0
    if held["short_lots"] == 0.0:
        held["short_cost"] = 0.0


def revalued(state: Walk, row: int, change: float) -> float:
    """`change`, and that of what is worth something else behind this tick of a symbol."""
    for number in range(len(state.held)):
        held = state.held[number]
        is_converted = held["rate_way"] != 0 and held["rate_row"] == row
        is_crossed = held["cross_way"] != 0 and held["cross_row"] == row
        if number == row or held["is_dealt"] == 1 or is_converted or is_crossed:
            held["is_dealt"] = 0
            worth = worth_of(state, held)
            change += worth - held["worth"]
            held["worth"] = worth
    return float(change)


def worth_of(state: Walk, held: Record) -> float:
    """What is open of a symbol would bring now, in the account's money."""
    cost = held["long_cost"] - held["short_cost"]
    gain = held["long_lots"] * held["bid"] - held["short_lots"] * held["ask"] - cost
    worth = gain * held["contract_size"]
    if held["rate_way"] != 0:
        rate = rate_of(state.held[held["rate_row"]], held["rate_way"])
        if held["cross_way"] != 0:
            rate *= rate_of(state.held[held["cross_row"]], held["cross_way"])
        worth *= rate
    return float(worth)


def rate_of(pair: Record, way: int) -> float:
    """What one unit is worth at a pair; 0: it was not quoted yet."""
    if way == DIRECT:
        return float(pair["bid"]) if pair["bid"] > 0.0 else 0.0
    return 1.0 / float(pair["ask"]) if pair["ask"] > 0.0 else 0.0


def note_quote(state: Walk, row: int, number: int) -> None:
    """A quote of a symbol while any of it is open."""
    course, held = state.course[0], state.held[row]
    bid, ask = held["bid"], held["ask"]
    if held["stretch"] < 0:
        stretch = state.stretches[course["stretches"]]
        held["stretch"] = course["stretches"]
        course["stretches"] += 1
        stretch["symbol"] = row
        stretch["number"] = number
        stretch["bid_low"] = bid
        stretch["bid_high"] = bid
        stretch["ask_low"] = ask
        stretch["ask_high"] = ask
        return
    stretch = state.stretches[held["stretch"]]
    stretch["bid_low"] = min(stretch["bid_low"], bid)
    stretch["bid_high"] = max(stretch["bid_high"], bid)
    stretch["ask_low"] = min(stretch["ask_low"], ask)
    stretch["ask_high"] = max(stretch["ask_high"], ask)


def note_fall(course: Record) -> None:
    """Whether the account has fallen deeper than ever."""
    equity, time_msc = course["equity"], course["newest_msc"]
    if course["highest_msc"] == 0:
        course["highest_msc"] = time_msc
    if equity > course["highest"]:
        course["highest"] = equity
        course["highest_msc"] = time_msc
    fall = course["highest"] - equity
    if fall > course["fall"]:
        course["fall"] = fall
        course["peak_msc"] = course["highest_msc"]
        course["trough_msc"] = time_msc
    if course["highest"] > 0.0:
        course["fall_share"] = max(course["fall_share"], fall / course["highest"])


def note_minute(course: Record, minutes: Table) -> None:
    """How a tick leaves the account."""
    equity, time_msc = course["equity"], course["newest_msc"]
    if course["minutes"] == 0 or time_msc >= course["past_minute_msc"]:
        course["past_minute_msc"] = (time_msc // MINUTE_MS + 1) * MINUTE_MS
        minute = minutes[course["minutes"]]
        course["minutes"] += 1
        minute["low"] = equity
        minute["high"] = equity
    else:
        minute = minutes[course["minutes"] - 1]
        minute["low"] = min(minute["low"], equity)
        minute["high"] = max(minute["high"], equity)
    minute["time_msc"] = time_msc
    minute["balance"] = course["balance"]
    minute["equity"] = equity
