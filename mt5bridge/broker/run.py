"""The loop over ticks and requests."""

from __future__ import annotations

from mt5bridge.broker.quiet import pass_over
from mt5bridge.broker.requests import execute
from mt5bridge.broker.slippage import note_range
from mt5bridge.broker.state import Ints, Reals, State, Waiting
from mt5bridge.broker.ticks import on_tick

GROWING = ("positions", "orders", "holdings", "deals", "taken_back")
"""Tables that grow with what happens."""


def rows_needed(state: State) -> tuple[int, int, int, int, int]:
    """So many rows take whatever one tick or one request can add, in the order of GROWING."""
    account = state.account[0]
    positions, orders = account["positions"], account["orders"]
    deals = account["deals"] + len(state.fills) * (positions + 2 * orders + 3)
    holdings, taken_back = account["holdings"] + orders + 2, account["taken_back"] + orders
    return positions + orders + 2, orders + 2, holdings, deals, taken_back


def is_roomy(state: State) -> bool:
    positions, orders, holdings, deals, taken_back = rows_needed(state)
    return bool(
        positions <= len(state.positions)
        and orders <= len(state.orders)
        and holdings <= len(state.holdings)
        and deals <= len(state.deals)
        and taken_back <= len(state.taken_back)
    )


def run(
    state: State,
    rows: Ints,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
    at: Ints,
) -> bool:
    """Ticks of symbols in rows of the table, and what is waiting for them; False: make room.

    `at` has the next tick, and 1 when that tick has had its effect. At a tick come expiry, pending
    orders, stops and targets, then requests. Those wait for a tick of their symbol behind their
    place, at their earliest time; none overtakes another one of that symbol.
    """
    account = state.account[0]
    while at[0] < len(places):
        if at[1] == 0:
            pass_over(state, rows, places, times_msc, bids, asks, waiting, at)
            if at[0] == len(places):
                break
        row = rows[at[0]]
        if at[1] == 0:
            if not is_roomy(state):
                return False
            account["place"], account["at_symbol"] = places[at[0]], row
            if account["ranges"] > 0:
                note_range(state, row, times_msc[at[0]], bids[at[0]])
            on_tick(state, row, times_msc[at[0]], bids[at[0]], asks[at[0]])
            at[1] = 1
        while waiting.next[row] < waiting.ends[row]:
            number = waiting.next[row]
            request = waiting.requests[number]
            is_behind = request["after"] >= places[at[0]]
            if is_behind or request["earliest_msc"] > times_msc[at[0]]:
                break
            if not is_roomy(state):
                return False
            execute(state, request, waiting.answers[number])
            waiting.next[row] = number + 1
        at[1] = 0
        at[0] += 1
    return True
