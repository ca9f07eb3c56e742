"""Deals of netting and hedging accounts by chance, and what of them is a rule's position.

The model keeps the deals of each position and adds them up anew, in whole hundredths and fractions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Record = tuple[str, int, Row]
"""Stream, time in ms, row."""
SYMBOLS = ("EURUSD", "XAUUSD")
OWN = 77
MAGICS = (OWN, OWN, 78, 0)


@dataclass
class Open:
    """A position as the account has it; `lots` are hundredths."""

    ticket: int
    symbol: str
    side: str
    lots: int


@dataclass
class Account:
    """Trades by chance: deals as a trade server books them."""

    rng: random.Random
    hedging: bool
    held: dict[int, Open] = field(default_factory=dict)
    tickets: int = 100
    bids: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SYMBOLS, 100.0))

    def records(self, count: int) -> Iterator[Record]:
        """Ticks, and deals between them."""
        time = 1_000
        for _ in range(count):
            time += self.rng.choice((0, 1, 250))
            act = self.rng.choice((self._tick, self._tick, self._order, self._order, self._close))
            if self.rng.random() < 0.05:
                act = self._odd
            yield from ((stream, time, row) for stream, row in act())

    def _tick(self) -> Iterator[tuple[str, Row]]:
        symbol = self.rng.choice(SYMBOLS)
        bid = round(self.bids[symbol] + self.rng.choice((-0.5, -0.25, 0.25, 0.5)), 2)
        self.bids[symbol] = bid
        yield "Tick", {"symbol": symbol, "bid": bid, "ask": bid + 0.25}

    def _order(self) -> Iterator[tuple[str, Row]]:
        """An order at the market, perhaps in several fills."""
        symbol, side = self.rng.choice(SYMBOLS), self.rng.choice(("buy", "sell"))
        magic, order, ticket = self.rng.choice(MAGICS), self._ticket(), 0
        for lots in self._parts(self.rng.randint(1, 30)):
            ticket = yield from self._fill(symbol, side, lots, magic, order, ticket)

    def _parts(self, lots: int) -> list[int]:
        if lots == 1 or self.rng.random() < 0.5:
            return [lots]
        first = self.rng.randint(1, lots - 1)
        return [first, lots - first]

    def _fill(
        self, symbol: str, side: str, lots: int, magic: int, order: int, ticket: int
    ) -> Iterator[tuple[str, Row]]:
        """One deal of an order; the position that it has opened, if the account hedges."""
        known = [one for one in self.held.values() if one.symbol == symbol]
        if self.hedging:
            known = [one for one in known if one.ticket == ticket]
        if not known:
            position = Open(self._ticket(), symbol, side, lots)
            self.held[position.ticket] = position
            yield self._deal(position, side, "in", lots, magic, order)
            return position.ticket
        position = known[0]
        if position.side == side:
            position.lots += lots
            yield self._deal(position, side, "in", lots, magic, order)
        elif lots > position.lots:
            position.side, position.lots = side, lots - position.lots
            yield self._deal(position, side, "inout", lots, magic, order)
        else:
            yield from self._reduced(position, lots, "out", magic, order)
        return position.ticket

    def _close(self) -> Iterator[tuple[str, Row]]:
        """Close a position or a part, by hand or by a rule; or two by each other."""
        if not self.held:
            return
        position = self.rng.choice(list(self.held.values()))
        other = [
            one
            for one in self.held.values()
            if one.symbol == position.symbol and one.side != position.side
        ]
        magic, order = self.rng.choice((0, OWN)), self._ticket()
        if other and self.rng.random() < 0.5:
            lots = min(position.lots, other[0].lots)
            yield from self._reduced(position, lots, "out_by", magic, order)
            yield from self._reduced(other[0], lots, "out_by", magic, order)
            return
        for lots in self._parts(self.rng.randint(1, position.lots)):
            yield from self._reduced(position, lots, "out", magic, order)

    def _reduced(
        self, position: Open, lots: int, entry: str, magic: int, order: int
    ) -> Iterator[tuple[str, Row]]:
        position.lots -= lots
        if not position.lots:
            del self.held[position.ticket]
        side = "sell" if position.side == "buy" else "buy"
        yield self._deal(position, side, entry, lots, magic, order)

    def _odd(self) -> Iterator[tuple[str, Row]]:
        """Money that comes, and a deal of a position that was open before."""
        nowhere = Open(self._ticket(), SYMBOLS[0], "sell", 0)
        yield self._deal(nowhere, "buy", "out", 5, 0, self._ticket())
        _, money = self._deal(nowhere, "buy", "in", 0, OWN, 0)
        yield "Deal", money | {"side": None, "profit": 1_000.0}

    def _deal(
        self, position: Open, side: str, entry: str, lots: int, magic: int, order: int
    ) -> tuple[str, Row]:
        bid = self.bids[position.symbol]
        closes = entry != "in"
        return "Deal", {
            "symbol": position.symbol, "ticket": self._ticket(), "order": order,
            "position": position.ticket, "magic": magic, "side": side, "entry": entry,
            "lots": lots / 100, "price": bid + 0.25 if side == "buy" else bid,
            "commission": -lots / 64, "fee": self.rng.choice((0.0, None)),
            "swap": self.rng.choice((0.0, -0.5)) if closes else 0.0,
            "profit": self.rng.choice((-2.0, 0.0, 3.5)) if closes else 0.0,
        }  # fmt: skip

    def _ticket(self) -> int:
        self.tickets += 1
        return self.tickets


@dataclass
class Life:
    """A position from where it was opened, or turned: what has happened since, and what it is."""

    position: int
    symbol: str
    side: str
    opened_msc: int
    deals: list[tuple[int, Fraction, float, Fraction]] = field(default_factory=list)
    """Time, lots (negative: closed), price, money."""
    quotes: list[tuple[int, float]] = field(default_factory=list)
    """Time and price at which it could be closed, where it was opened first."""

    @property
    def lots(self) -> Fraction:
        return sum((lots for _, lots, _, _ in self.deals), Fraction(0))

    def entry(self, until: int | None = None) -> Fraction:
        """The mean price of what is held after so many deals."""
        mean = held = Fraction(0)
        for _, lots, price, _ in self.deals[:until]:
            if lots > 0:
                mean = (mean * held + Fraction(price) * lots) / (held + lots)
            held += lots
        return mean

    def closed(self) -> tuple[Fraction, Fraction, Fraction]:
        """Lots that were closed, the means of their entries and exits."""
        parts = [
            (-lots, self.entry(place), Fraction(price))
            for place, (_, lots, price, _) in enumerate(self.deals)
            if lots < 0
        ]
        total = sum((lots for lots, _, _ in parts), Fraction(0))
        if not total:
            return Fraction(0), Fraction(0), Fraction(0)
        entry = sum((lots * price for lots, price, _ in parts), Fraction(0)) / total
        return total, entry, sum((lots * price for lots, _, price in parts), Fraction(0)) / total

    def row(self) -> Row:
        """As the table has it."""
        price, sign = Fraction(self.quotes[-1][1]), 1 if self.side == "buy" else -1
        prices = [sign * quote for _, quote in self.quotes]
        lots, entry, exit_ = self.closed()
        changed_msc = self.deals[-1][0]
        return {
            "position": self.position, "symbol": self.symbol, "side": self.side,
            "lots": self.lots, "entry": self.entry(), "price": price,
            "gain": sign * (price - self.entry()), "best": sign * max(prices),
            "worst": sign * min(prices), "profit": sum(money for _, _, _, money in self.deals),
            "fills": len(self.deals), "opened_msc": self.opened_msc, "changed_msc": changed_msc,
            "age_ms": max(self.quotes[-1][0], changed_msc) - self.opened_msc,
            "closed_lots": lots, "closed_entry": entry, "closed_exit": exit_,
        }  # fmt: skip

    def end(self) -> Row:
        """As the stream of closed positions has it."""
        row, (lots, entry, exit_) = self.row(), self.closed()
        sign = 1 if self.side == "buy" else -1
        kept = ("position", "symbol", "side", "best", "worst", "profit", "fills", "opened_msc")
        ended = {"closed_msc": row["changed_msc"], "age_ms": row["changed_msc"] - self.opened_msc}
        means = {"lots": lots, "entry": entry, "exit": exit_, "gain": sign * (exit_ - entry)}
        return {name: row[name] for name in kept} | ended | means


@dataclass
class Model:
    """What the rules with magic number 77 hold, in the plainest way."""

    lives: dict[int, Life] = field(default_factory=dict)
    orders: dict[int, list[tuple[int, int, Row]]] = field(default_factory=dict)
    """By order: position, time and deal of each fill."""
    ended: list[Row] = field(default_factory=list)
    foreign: set[int] = field(default_factory=set)
    """Positions that others have opened."""

    def take(self, record: Record) -> None:
        stream, time, row = record
        if stream == "Tick":
            for life in self.lives.values():
                if life.symbol == row["symbol"]:
                    life.quotes.append((time, row["bid" if life.side == "buy" else "ask"]))
        elif row["side"] is not None:
            self._deal(time, row)

    def _deal(self, time: int, deal: Row) -> None:
        ticket = deal["position"]
        life = self.lives.get(ticket)
        if life is None:
            if deal["entry"] == "in" and deal["magic"] != OWN:
                self.foreign.add(ticket)
            if deal["entry"] != "in" or ticket in self.foreign:
                return
        lots = Fraction(round(deal["lots"] * 100), 100)
        costs = Fraction(deal["commission"]) + Fraction(deal["fee"] or 0)
        result = Fraction(deal["profit"]) + Fraction(deal["swap"])
        self.orders.setdefault(deal["order"], []).append((ticket, time, deal))
        if life is None:
            life = self.lives[ticket] = Life(ticket, deal["symbol"], deal["side"], time)
            life.quotes.append((time, deal["price"]))
        if life.side == deal["side"]:
            life.deals.append((time, lots, deal["price"], result + costs))
            return
        closed = min(lots, life.lots)
        life.deals.append((time, -closed, deal["price"], result + costs * closed / lots))
        if not life.lots:
            self._ended(life, deal, lots - closed)
            if lots > closed:
                turned = self.lives[ticket] = Life(ticket, deal["symbol"], deal["side"], time)
                turned.quotes.append((time, deal["price"]))
                money = costs * (lots - closed) / lots
                turned.deals.append((time, lots - closed, deal["price"], money))

    def _ended(self, life: Life, deal: Row, rest: Fraction) -> None:
        self.ended.append(life.end())
        del self.lives[life.position]
        for order, fills in list(self.orders.items()):
            if fills[0][0] == life.position and not (rest and order == deal["order"]):
                del self.orders[order]

    def order_rows(self) -> list[Row]:
        """The table of orders."""
        return [_order_row(order, fills) for order, fills in self.orders.items()]

    def streaks(self) -> list[Row]:
        """The table of streaks."""
        by_symbol: dict[str, list[Row]] = {}
        for row in self.ended:
            by_symbol.setdefault(row["symbol"], []).append(row)
        return [
            {
                "symbol": symbol, "losses": _streak([row["profit"] < 0 for row in rows]),
                "wins": _streak([row["profit"] > 0 for row in rows]), "trades": len(rows),
                "profit": sum(row["profit"] for row in rows),
                "changed_msc": rows[-1]["closed_msc"],
            }
            for symbol, rows in by_symbol.items()
        ]  # fmt: skip


def _order_row(order: int, fills: list[tuple[int, int, Row]]) -> Row:
    lots = [Fraction(round(deal["lots"] * 100), 100) for _, _, deal in fills]
    prices = [Fraction(deal["price"]) for _, _, deal in fills]
    worth = sum((a * b for a, b in zip(lots, prices, strict=True)), Fraction(0))
    position, first_msc, deal = fills[0]
    return {
        "order": order, "position": position, "symbol": deal["symbol"], "side": deal["side"],
        "lots": sum(lots), "price": worth / sum(lots), "fills": len(fills),
        "first_msc": first_msc, "changed_msc": fills[-1][1],
    }  # fmt: skip


def _streak(found: list[bool]) -> int:
    """How many are true at the end, in a row."""
    count = 0
    while count < len(found) and found[-1 - count]:
        count += 1
    return count
