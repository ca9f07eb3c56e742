"""Open lots by symbol and profits by day, from deals and from fills whose deal is not told yet."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from mt5bridge.orders.limits import Limits
from mt5bridge.orders.records import Dealt

ROUNDING = 1e-9
"""Sums of lots that differ by less are the same."""


@dataclass(slots=True)
class _Position:
    symbol: str
    lots: float = 0.0  # negative: sold


class Exposure:
    """What the accounts hold, as far as it has been seen.

    Positions that were opened before the first deal seen are unknown: their closing is left out.
    What a deal tells that is no number makes its sum unknown, which no limit allows, until the deal
    is revised or forgotten.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._deals: dict[tuple[str, int], Dealt] = {}
        self._strangers: set[tuple[str, int]] = set()  # exits of unknown positions
        self._tickets: set[int] = set()
        self._positions: dict[tuple[str, int], _Position] = {}
        self._profits: defaultdict[tuple[str, int], float] = defaultdict(float)
        self._fills: dict[tuple[str | None, int], tuple[str, float]] = {}  # symbol, lots
        self._nets: defaultdict[str, float] = defaultdict(float)  # their sums, by symbol
        self._unknown_lots: Counter[str] = Counter()  # deals of a symbol
        self._unknown_profits: Counter[tuple[str, int]] = Counter()  # deals of an account and day

    def dealt(self, deal: Dealt) -> bool:
        """A deal, or a later revision of one, which replaces the earlier; whether it is news."""
        key = (deal.owner, deal.ticket)
        known = self._deals.get(key)
        if known is not None and known.revision >= deal.revision:
            return False
        if known is not None:
            self._count(known, -1)
        elif deal.is_exit and (deal.owner, deal.position) not in self._positions:
            self._strangers.add(key)
        if key in self._strangers:
            deal = msgspec.structs.replace(deal, lots=0.0)
        self._deals[key] = deal
        self._tickets.add(deal.ticket)
        self._forget_fill(deal.owner, deal.ticket)
        self._forget_fill(None, deal.ticket)
        self._count(deal, 1)
        return True

    def filled(
        self, symbol: str, sign: int, lots: float, deal: int, owner: str | None = None
    ) -> None:
        """A terminal has reported a fill; it counts until its deal comes. `sign` 0: a closing.

        `owner` None: whose account it is, is not known.
        """
        is_known = deal in self._tickets if owner is None else (owner, deal) in self._deals
        if is_known or not deal:
            return
        if sign == 0:
            net = self._nets[symbol]
            sign = -1 if net > 0 else 1
            lots = min(lots, abs(net))
        self._forget_fill(owner, deal)
        self._fills[owner, deal] = (symbol, sign * lots)
        self._nets[symbol] += sign * lots

    def lots(self, symbol: str) -> float:
        """Open lots of a symbol, both directions added up; infinite when they are unknown."""
        if self._unknown_lots[symbol]:
            return math.inf
        held = sum(abs(p.lots) for p in self._positions.values() if p.symbol == symbol)
        return held + abs(self._nets[symbol])

    def profit(self, owner: str, day: int) -> float:
        """What the deals of an account have brought on a day, costs included; NaN: unknown."""
        if self._unknown_profits[owner, day]:
            return math.nan
        return self._profits.get((owner, day), 0.0)

    def kept(self, since_msc: int) -> Iterator[Dealt]:
        """The deals that still matter: those since a moment, and those of open positions."""
        for deal in self._deals.values():
            position = self._positions.get((deal.owner, deal.position))
            if deal.time_msc >= since_msc or (position and abs(position.lots) > ROUNDING):
                yield deal

    def _forget_fill(self, owner: str | None, deal: int) -> None:
        if (owner, deal) in self._fills:
            symbol, lots = self._fills.pop((owner, deal))
            self._nets[symbol] -= lots

    def _count(self, deal: Dealt, sign: int) -> None:
        day = (deal.owner, self._limits.day(deal.time_msc))
        if deal.profit is None:
            self._unknown_profits[day] += sign
        else:
            self._profits[day] += sign * deal.profit
        key = (deal.owner, deal.position)
        if deal.lots is None:
            self._unknown_lots[deal.symbol] += sign
        elif deal.lots:
            position = self._positions.setdefault(key, _Position(deal.symbol))
            position.lots += sign * deal.lots
            if abs(position.lots) <= ROUNDING:
                del self._positions[key]
