"""MetaTrader's numbers for orders, deals and answers, as kernels use them."""

from __future__ import annotations

# ENUM_TRADE_REQUEST_ACTIONS, and three of ours: CLOSE closes positions by ticket, or by symbol and
# magic number; what a magic number has of a symbol gets other levels (CHANGE_HELD), or, while it is
# pending, is taken back (CANCEL_HELD)
CLOSE = 0
DEAL = 1
CHANGE_HELD = 2
CANCEL_HELD = 3
PENDING = 5
SLTP = 6
MODIFY = 7
REMOVE = 8

# ENUM_ORDER_TYPE; even ones buy
BUY = 0
SELL = 1
BUY_LIMIT = 2
SELL_LIMIT = 3
BUY_STOP = 4
SELL_STOP = 5
BUY_STOP_LIMIT = 6
SELL_STOP_LIMIT = 7

# What becomes of lots that the market does not offer: one above ENUM_ORDER_TYPE_FILLING, so that 0
# leaves it to the symbol
AS_USUAL = 0
FOK = 1
IOC = 2
RETURN = 3
ALL_FILLINGS = 1 << FOK | 1 << IOC | 1 << RETURN

# ENUM_DEAL_ENTRY
IN = 0
OUT = 1
INOUT = 2

# ENUM_DEAL_REASON, which are those of orders, too
BY_EXPERT = 3
BY_STOP = 4
BY_TARGET = 5
BY_STOP_OUT = 6

# What deals are charged for
EACH_SIDE = 0
ENTRY_SIDE = 1
EXIT_SIDE = 2

# What the swap of a symbol is: for each lot and night, in points or the account's money; or percent
# of a year's worth at the price of the day
NO_SWAP = 0
SWAP_POINTS = 1
SWAP_MONEY = 2
SWAP_PERCENT = 3

# ENUM_DAY_OF_WEEK
SUNDAY = 0
WEDNESDAY = 3
SATURDAY = 6

# Answers of our own, beside those of MetaTrader
TOO_FAR = 3
FARTHER = 5

# TRADE_RETCODE_*
RUNS = 0  # not yet answered
REJECT = 10_006
CANCELLED = 10_007
PLACED = 10_008
DONE = 10_009
DONE_PARTIAL = 10_010
INVALID = 10_013
INVALID_VOLUME = 10_014
INVALID_PRICE = 10_015
INVALID_STOPS = 10_016
MARKET_CLOSED = 10_018
NO_MONEY = 10_019
PRICE_OFF = 10_021
INVALID_EXPIRATION = 10_022
NO_CHANGES = 10_025
FROZEN = 10_029
INVALID_FILL = 10_030
INVALID_ORDER = 10_035
POSITION_CLOSED = 10_036
INVALID_CLOSE_VOLUME = 10_038

WORKED = (PLACED, DONE, DONE_PARTIAL)
"""Answers to requests that were not refused."""

TEXTS = {
    TOO_FAR: "stop or target is farther away than half the price",
    FARTHER: "stop or target would be farther away while trading is halted",
    REJECT: "not so many lots are offered",
    CANCELLED: "no lots are offered",
    PLACED: "works on",
    DONE: "done",
    DONE_PARTIAL: "done in part",
    INVALID: "invalid request",
    INVALID_VOLUME: "invalid volume",
    INVALID_PRICE: "invalid price",
    INVALID_STOPS: "invalid stops",
    MARKET_CLOSED: "the market is closed",
    NO_MONEY: "not enough money",
    PRICE_OFF: "no price for this symbol",
    INVALID_EXPIRATION: "came too late",
    NO_CHANGES: "nothing to change",
    FROZEN: "too near to the market to be changed",
    INVALID_FILL: "no such filling mode for this symbol",
    INVALID_ORDER: "no such order",
    POSITION_CLOSED: "no such position",
    INVALID_CLOSE_VOLUME: "more to close than the position has",
}
"""What the return codes say."""
