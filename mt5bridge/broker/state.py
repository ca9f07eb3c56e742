"""What a broker remembers of one account: tables of records, which kernels read and write.

Prices are the symbol's, money is the account's (rates.py), times are milliseconds since 1970 by the
clock that the ticks have. A symbol is named by its row, an order or a position by its ticket. Sides
are 1 (long) and -1 (short).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]
Record = Any  # one row of a table: a NumPy record, which has no type of its own
Reals = NDArray[np.float64]
Ints = NDArray[np.int64]

SYMBOL = np.dtype(
    [
        ("point", "<f8"),
        ("tick_size", "<f8"),  # 0: prices have no steps
        ("contract_size", "<f8"),
        ("volume_min", "<f8"),
        ("volume_max", "<f8"),  # 0: no limit
        ("volume_step", "<f8"),  # 0: any lots
        ("depth_lots", "<f8"),  # that a tick offers to buyers, and as many to sellers; 0: any
        ("filling", "<i8"),  # of orders that say none: codes.FOK and so on
        ("filling_modes", "<i8"),  # those allowed: bits of these numbers
        ("stops_level_points", "<f8"),
        ("freeze_level_points", "<f8"),
        # market and stop orders fill so much worse than the quote (slippage.py)
        ("slippage_points", "<f8"),
        ("slippage_spread", "<f8"),  # shares of the spread
        ("impact_points", "<f8"),  # for `impact_lots` in one order
        ("impact_lots", "<f8"),
        ("impact_power", "<f8"),
        ("slippage_range", "<f8"),  # shares of the recent range
        ("slippage_range_ms", "<i8"),  # 0: no range is kept
        ("slippage_random_points", "<f8"),  # at most, drawn for each order
        ("slippage_seed", "<i8"),
        ("commission_per_lot", "<f8"),  # and deal
        ("commission_per_mille", "<f8"),  # of the worth of the lots
        ("commission_side", "<i8"),  # which lots: codes.EACH_SIDE and so on
        ("swap_mode", "<i8"),  # codes.NO_SWAP and so on
        ("swap_long", "<f8"),
        ("swap_short", "<f8"),
        ("swap_triple_day", "<i8"),  # whose night counts three times
        ("bid", "<f8"),
        ("ask", "<f8"),
        ("bid_taken", "<f8"),  # lots that were dealt with at this tick: by sellers,
        ("ask_taken", "<f8"),  # and by buyers
        # of bids in the newest period of `slippage_range_ms`, its number, and the one before
        ("range_period", "<i8"),
        ("range_low", "<f8"),
        ("range_high", "<f8"),
        ("range_before", "<f8"),
        # how the currency of its profits becomes the account's: see rates.py
        ("rate_row", "<i8"),
        ("rate_way", "<i8"),
        ("cross_row", "<i8"),
        ("cross_way", "<i8"),
        # beyond these a tick sets something off
        ("bid_low", "<f8"),
        ("bid_high", "<f8"),
        ("ask_low", "<f8"),
        ("ask_high", "<f8"),
    ]
)

ACCOUNT = np.dtype(
    [
        ("hedging", "<i8"),  # 1: every order opens a position of its own; 0: one a symbol
        ("leverage", "<f8"),  # 0: no margin is asked
        ("stop_out_percent", "<f8"),  # equity by margin, below which positions are closed; 0: never
        ("server_ahead_ms", "<i8"),  # of the clock of the ticks: when it is midnight there
        ("parts_of_unit", "<f8"),  # money is rounded to these: 100 are cents; 0: not rounded
        ("balance", "<f8"),
        ("time_msc", "<i8"),
        ("place", "<i8"),  # of the tick at work in the total order
        ("at_symbol", "<i8"),  # whose tick that is: in sorted history several share a place
        ("due_msc", "<i8"),  # of the first order to expire, or of the night: a tick sets it off
        ("ranges", "<i8"),  # symbols of which a range is kept
        ("first_ticket", "<i8"),
        ("next_order", "<i8"),
        ("next_deal", "<i8"),
        ("positions", "<i8"),
        ("orders", "<i8"),
        ("holdings", "<i8"),
        ("deals", "<i8"),
        ("taken_back", "<i8"),
    ]
)

POSITION = np.dtype(
    [
        ("ticket", "<i8"),
        ("identifier", "<i8"),
        ("symbol", "<i8"),
        ("side", "<i8"),
        ("magic", "<i8"),
        ("tag", "<i8"),  # of the request that opened it
        ("time_msc", "<i8"),
        ("lots", "<f8"),
        ("price", "<f8"),
        ("sl", "<f8"),
        ("tp", "<f8"),
        ("swap", "<f8"),
        ("day", "<i8"),  # the server's, up to which there was swap
    ]
)

ORDER = np.dtype(
    [
        ("ticket", "<i8"),
        ("symbol", "<i8"),
        ("type", "<i8"),
        ("reason", "<i8"),
        ("magic", "<i8"),
        ("tag", "<i8"),
        ("position", "<i8"),  # hedging: the ticket of the one it closes
        ("filling", "<i8"),
        ("works", "<i8"),  # 1: it waits for ticks to offer the rest of its lots
        ("expires_msc", "<i8"),  # 0: never
        ("lots", "<f8"),
        ("price", "<f8"),
        ("limit_price", "<f8"),  # of a stop-limit order: where it goes on as a limit
        ("sl", "<f8"),
        ("tp", "<f8"),
    ]
)

TAKEN_BACK = np.dtype([("tag", "<i8")])
"""Of the request of a pending order that another request has taken back."""

SESSION = np.dtype([("symbol", "<i8"), ("from_ms", "<i8"), ("to_ms", "<i8")])
"""When a symbol is traded: ms of the server's week, which begins on Sunday; the end is excluded."""

HOLDING = np.dtype([("identifier", "<i8"), ("magic", "<i8"), ("lots", "<f8")])
"""Netting: lots that deals with a magic number have added to a position; short ones negative."""

DEAL_ROW = np.dtype(
    [
        ("ticket", "<i8"),
        ("order", "<i8"),
        ("time_msc", "<i8"),
        ("place", "<i8"),  # of the tick that made it, in the total order
        ("at_symbol", "<i8"),  # whose tick that was; a stop-out closes at another symbol's
        ("magic", "<i8"),
        ("position_id", "<i8"),
        ("symbol", "<i8"),
        ("tag", "<i8"),  # of the request that caused it; 0: stop or target
        ("type", "<i8"),
        ("entry", "<i8"),
        ("reason", "<i8"),
        ("volume", "<f8"),
        ("price", "<f8"),
        ("order_price", "<f8"),  # that of the order, which is the level of a stop or a target
        ("commission", "<f8"),
        ("swap", "<f8"),
        ("profit", "<f8"),
        ("rate", "<f8"),  # of the symbol's profits in the account's money
        ("sl", "<f8"),
        ("tp", "<f8"),
        # the position it closes, in part or whole
        ("closed_lots", "<f8"),
        ("open_price", "<f8"),
        ("opened_msc", "<i8"),
        ("opened_by", "<i8"),  # the tag of the request that opened it
    ]
)

REQUEST = np.dtype(
    [
        ("tag", "<i8"),  # the caller's name for it, above 0
        ("action", "<i8"),
        ("type", "<i8"),
        ("filling", "<i8"),
        ("symbol", "<i8"),
        ("magic", "<i8"),
        ("order", "<i8"),
        ("position", "<i8"),
        ("expires_msc", "<i8"),  # of a pending order, or what is left of one; 0: never
        ("after", "<i8"),  # a tick behind this place may execute it, at this time or later
        ("earliest_msc", "<i8"),
        ("valid_until_msc", "<i8"),  # later it is refused; 0: never
        ("lots", "<f8"),
        ("price", "<f8"),
        ("limit_price", "<f8"),  # of stop-limit orders
        ("sl", "<f8"),
        ("tp", "<f8"),
        ("stop_points", "<f8"),  # distances, in place of `sl` and `tp`; 0: none
        ("target_points", "<f8"),
        ("risk_percent", "<f8"),  # of the equity that the stop costs, in place of lots; 0: none
        ("is_priced", "<i8"),  # 1: stop and target are refused beyond half the price
        ("is_halted", "<i8"),  # 1: what is held gets nearer levels only
    ]
)

ANSWER = np.dtype([("retcode", "<i8"), ("order", "<i8"), ("left", "<f8")])
"""`left`: what could not be closed of the lots asked for."""


class State(NamedTuple):
    """The tables of one account. The counts of used rows are in `account`, which has one row.

    Symbols without `sessions` are always traded. `fills` are the shares in which an order is
    filled; their sum is 1.
    """

    account: Table
    symbols: Table
    positions: Table
    orders: Table
    holdings: Table
    deals: Table
    taken_back: Table
    fills: Reals
    sessions: Table


class Waiting(NamedTuple):
    """Requests that wait for ticks: those of one symbol together, in their order.

    Of the symbol in a row, `next` is the request that comes next, `ends` the one behind its last.
    An answer whose return code is 0 has not been given yet.
    """

    requests: Table
    answers: Table
    next: Ints
    ends: Ints
