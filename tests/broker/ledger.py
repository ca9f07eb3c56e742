"""The slow, obvious account book: what costs and nights come to, from deals and every tick."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mt5bridge.broker import Specification, Terms, codes

DAY_MS = 86_400_000
WEEKDAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")  # from 1 January 1970 on
NAMES = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


def cents(amount: float) -> float:
    """Rounded, halves away from zero."""
    whole = int(abs(amount) * 100 + 0.5)
    return (whole if amount >= 0 else -whole) / 100


@dataclass
class Open:
    symbol: int
    side: int
    lots: float
    swap: float = 0.0


@dataclass
class Ledger:
    """One account: quotes come tick by tick, then the deals that were made at that tick."""

    terms: Terms
    symbols: list[Specification]
    balance: float
    positions: dict[int, Open] = field(default_factory=dict)
    quotes: dict[int, tuple[float, float]] = field(default_factory=dict)
    day: int | None = None
    direct: dict[int, int] = field(default_factory=dict)
    """Of symbols whose profits are converted: the pair that has their currency first."""

    def tick(self, symbol: int, time_msc: int, bid: float, ask: float) -> None:
        self.quotes[symbol] = bid, ask
        today = (time_msc + self.terms.server_ahead_ms) // DAY_MS
        while self.day is not None and self.day < today:
            for position in self.positions.values():
                position.swap = cents(position.swap + self.night(position, self.day))
            self.day += 1
        self.day = today

    def rate(self, symbol: int) -> float:
        """What one unit of a symbol's profits is worth: the bid of its pair."""
        return self.quotes[self.direct[symbol]][0] if symbol in self.direct else 1.0

    def night(self, position: Open, day: int) -> float:
        known = self.symbols[position.symbol]
        weekday = WEEKDAYS[day % 7]
        count = 0 if weekday in ("Sat", "Sun") else 1
        if count and weekday == NAMES[known.swap_triple_day]:
            count = 3
        into = self.rate(position.symbol)
        rate = known.swap_long if position.side > 0 else known.swap_short
        size = position.lots * known.contract_size
        price = self.quotes[position.symbol][0 if position.side > 0 else 1]
        return (
            count
            * {
                codes.NO_SWAP: 0.0,
                codes.SWAP_POINTS: rate * known.point * size * into,
                codes.SWAP_MONEY: rate * position.lots,
                codes.SWAP_PERCENT: size * price * rate / 100 / 360 * into,
            }[known.swap_mode]
        )

    def deal(self, deal: Any) -> tuple[float, float]:
        """Its commission and swap; the balance has them then."""
        identifier, symbol = int(deal["position_id"]), int(deal["symbol"])
        side = 1 if deal["type"] == codes.BUY else -1
        held = self.positions.get(identifier, Open(symbol, side, 0.0))
        closing = min(held.lots, deal["volume"]) if held.side != side else 0.0
        opening = round(deal["volume"] - closing, 8)
        swap = cents(held.swap * closing / held.lots) if closing else 0.0
        held.swap = cents(held.swap - swap)
        held.lots = round(held.lots - closing, 8)
        if opening and held.side != side:
            held = Open(symbol, side, 0.0)
        held.lots = round(held.lots + opening, 8)
        self.positions[identifier] = held
        if held.lots <= 0:
            del self.positions[identifier]
        commission = self.commission(symbol, opening, closing, float(deal["price"]))
        self.balance = cents(self.balance + deal["profit"] + commission + swap)
        return commission, swap

    def commission(self, symbol: int, opening: float, closing: float, price: float) -> float:
        known = self.symbols[symbol]
        lots = {
            codes.EACH_SIDE: opening + closing,
            codes.ENTRY_SIDE: opening,
            codes.EXIT_SIDE: closing,
        }[known.commission_side]
        worth = lots * known.contract_size * price * self.rate(symbol)
        return cents(-(known.commission_per_lot * lots + known.commission_per_mille * worth / 1000))
