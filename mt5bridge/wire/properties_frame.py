"""The frame by which a terminal tells what trading a symbol costs, and when it is traded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

from mt5bridge.wire.checks import check_count, check_finite, check_name, check_sizes, require
from mt5bridge.wire.codes import FrameType, SwapMode
from mt5bridge.wire.layout import F8, U1, U4, Text

MINUTES_A_DAY = 1_440
DAYS_A_WEEK = 7
SESSIONS_MAX = 64
CURRENCY_BYTES = 32


@dataclass(frozen=True, slots=True)
class TradeSession:
    """Minutes of the server's week, from Sunday's midnight on; of one day, the end excluded."""

    from_minute: U4
    to_minute: U4

    def __post_init__(self) -> None:
        first, last = self.from_minute, self.to_minute
        require(
            first < last <= DAYS_A_WEEK * MINUTES_A_DAY
            and first // MINUTES_A_DAY == (last - 1) // MINUTES_A_DAY,
            f"minutes {first}..{last} are no part of a day of the week",
        )


@dataclass(frozen=True, slots=True)
class Properties:
    """Terminal: what else there is to know of a symbol; sent again when it has changed.

    Swaps are for a lot and night as `swap_mode` says, three nights' behind `swap_triple_day` (0 is
    Sunday). `tick_value` is in the account's currency, and changes with rates alone are not told.
    Without `sessions` nothing is said of when the symbol is traded.
    """

    TYPE: ClassVar = FrameType.PROPERTIES
    stream: U4
    stops_level_points: U4
    freeze_level_points: U4
    swap_mode: Annotated[SwapMode, "B"]
    swap_triple_day: U1
    swap_long: F8
    swap_short: F8
    tick_value: F8
    profit_currency: Text
    sessions: tuple[TradeSession, ...]

    def __post_init__(self) -> None:
        require(self.stream != 0, "stream 0 is the deals'")
        require(self.swap_triple_day < DAYS_A_WEEK, f"day {self.swap_triple_day} of the week")
        check_finite(self.swap_long, self.swap_short)
        check_sizes(self.tick_value)
        if self.profit_currency:
            check_name(self.profit_currency, "currency", CURRENCY_BYTES)
        check_count(len(self.sessions), SESSIONS_MAX, "sessions")
        for one, following in pairwise(self.sessions):
            require(one.to_minute <= following.from_minute, "sessions do not follow each other")
