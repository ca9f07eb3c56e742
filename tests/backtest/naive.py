"""The slow, obvious way to fill orders at a netting account: tick by tick."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from cep.account.orders import Order

Tick = tuple[int, int, float, float]
"""Place in the order, time in ms, bid, ask."""

LATE, STOPS, NOTHING, NO_TICK, PRICE, STANDS, PASSED, NO_ORDER, BACK = (
    "came too late (10022)", "invalid stops (10016)", "no such position (10036)", "no later tick",
    "invalid price (10015)", "not reached yet", "not reached in time",
    "no such order (10035)", "taken back",
)  # fmt: skip


@dataclass
class Position:
    order: Order
    side: int
    lots: float
    price: float
    opened_msc: int
    stop: float | None
    target: float | None
    prices: list[float]
    """What it could have been closed at, tick by tick."""

    def market(self, tick: Tick) -> float:
        return tick[2] if self.side > 0 else tick[3]


class Naive:
    """The same answers as `Trading` on one symbol, from lists."""

    def __init__(self, orders: list[Order], point: float) -> None:
        self.point = point
        self.waiting = list(orders)
        self.pending: list[Order] = []
        self.position: Position | None = None
        self.trades: list[dict[str, Any]] = []
        self.places: list[int] = []  # of the ticks that closed them
        self.refused: Counter[str] = Counter()
        self.changes = 0
        self.last: Tick | None = None

    def push(self, tick: Tick) -> None:
        self.pend(tick)
        self.watch(tick)
        while self.waiting and self.waiting[0].order < tick[0]:
            if tick[1] < self.waiting[0].time_msc:
                break
            self.execute(self.waiting.pop(0), tick)
        if self.position is not None:
            self.position.prices.append(self.position.market(tick))
        self.last = tick

    def end(self) -> None:
        if self.position and self.last:
            price = self.position.market(self.last)
            self.leave(self.last, self.position.lots, price, "end of data")
        self.refused[NO_TICK] += len(self.waiting)
        self.refused[STANDS] += len(self.pending)

    def pend(self, tick: Tick) -> None:
        """Forget pending orders whose time has passed, and fill those that are reached."""
        self.refused[PASSED] += sum(tick[1] >= one.valid_until_msc for one in self.pending)
        orders, self.pending = self.pending, []
        for order in orders:
            if tick[1] >= order.valid_until_msc:
                continue
            if self.steps_left(order, tick) > 0:
                self.pending.append(order)
            else:
                self.deal(order, tick[3] if order.side == "buy" else tick[2], tick, order.price)

    def steps_left(self, order: Order, tick: Tick) -> int:
        """How far the market is from the price of a pending order."""
        market = tick[3] if order.side == "buy" else tick[2]
        side = 1 if (order.side == "buy") == (order.kind == "limit") else -1
        return side * round((market - order.price) / self.point)

    def watch(self, tick: Tick) -> None:
        held = self.position
        if held is None:
            return
        price = held.market(tick)
        if held.stop is not None and held.side * price <= held.side * held.stop:
            self.leave(tick, held.lots, price, "stop")
        elif held.target is not None and held.side * price >= held.side * held.target:
            self.leave(tick, held.lots, held.target, "target")

    def execute(self, order: Order, tick: Tick) -> None:
        if tick[1] > order.valid_until_msc:
            self.refused[LATE] += 1
        elif order.kind:
            self.place(order, tick)
        elif order.side == "cancel":
            self.refused[BACK if self.pending else NO_ORDER] += len(self.pending) or 1
            self.pending = []
        elif order.side in ("buy", "sell"):
            self.trade(order, tick)
        elif self.position is None:
            self.refused[NOTHING] += 1
        elif order.side == "modify":
            self.change(self.position, order, tick)
        else:
            lots = min(order.lots or self.position.lots, self.position.lots)
            self.leave(tick, lots, self.position.market(tick), "close")

    def place(self, order: Order, tick: Tick) -> None:
        if self.steps_left(order, tick) < 0:
            self.refused[PRICE] += 1
        elif not self.are_sound(order, order.price, order.price):
            self.refused[STOPS] += 1
        elif tick[1] >= order.valid_until_msc:
            self.refused[LATE] += 1
        else:
            self.pending.append(order)

    def trade(self, order: Order, tick: Tick) -> None:
        price, closing = (tick[3], tick[2]) if order.side == "buy" else (tick[2], tick[3])
        if self.are_sound(order, price, closing):
            self.deal(order, price, tick, price)
        else:
            self.refused[STOPS] += 1

    def change(self, held: Position, order: Order, tick: Tick) -> None:
        """Other levels, measured from what closing brings; what is not said stays."""
        side, price = "buy" if held.side > 0 else "sell", held.market(tick)
        stop, target = self.levels(replace(order, side=side), price)
        stop = held.stop if stop is None else stop
        target = held.target if target is None else target
        is_wrong = stop is not None and held.side * (price - stop) <= 1e-9
        if is_wrong or (target is not None and held.side * (target - price) <= 1e-9):
            self.refused[STOPS] += 1
        else:
            self.changes += (held.stop, held.target) != (stop, target)
            held.stop, held.target = stop, target

    def levels(self, order: Order, price: float) -> tuple[float | None, float | None]:
        """Stop and target of an order that is measured from a price."""
        side = 1 if order.side == "buy" else -1
        found = []
        for name, away in (("stop", -side), ("target", side)):
            level, distance = getattr(order, name), getattr(order, f"{name}_distance")
            points = round(distance / self.point) or (getattr(order, f"{name}_points") or 0)
            found.append(self.level(level, 0) if level else self.level(price, away * points))
            if not (level or points):
                found[-1] = None
        return found[0], found[1]

    def are_sound(self, order: Order, price: float, closing: float) -> bool:
        side = 1 if order.side == "buy" else -1
        stop, target = self.levels(order, price)
        is_stop_sound = stop is None or side * stop < side * closing
        return is_stop_sound and (target is None or side * target > side * closing)

    def deal(self, order: Order, price: float, tick: Tick, measured: float) -> None:
        stop, target = self.levels(order, measured)
        side, lots, held = 1 if order.side == "buy" else -1, order.lots, self.position
        if held is not None and held.side == side:
            total = round(held.lots + lots, 8)
            held.price = (held.price * held.lots + price * lots) / total
            held.lots = total
            held.stop = held.stop if stop is None else stop
            held.target = held.target if target is None else target
            return
        if held is not None:
            closed = min(lots, held.lots)
            self.leave(tick, closed, price, "opposite")
            lots = round(lots - closed, 8)
        if lots > 0:
            self.position = Position(order, side, lots, price, tick[1], stop, target, [])

    def level(self, price: float, points: float) -> float | None:
        return round(round((price + points * self.point) / self.point) * self.point, 8)

    def excursion(self, held: Position, lots: float, prices: list[float]) -> dict[str, float]:
        worst, best = sorted((min(prices), max(prices)), reverse=held.side < 0)
        found = {"worst_price": worst, "best_price": best}
        for name, price in (("mae", worst), ("mfe", best)):
            gain = (price - held.price) * held.side
            found |= {f"{name}_points": round(gain / self.point, 6), name: round(gain * lots, 10)}
        return found

    def leave(self, tick: Tick, lots: float, price: float, reason: str) -> None:
        held = self.position
        assert held is not None
        gain = (price - held.price) * held.side
        self.places.append(tick[0])
        self.trades.append(
            {
                "signal": held.order.signal,
                "symbol": held.order.symbol,
                "side": "buy" if held.side > 0 else "sell",
                "lots": lots,
                "opened_msc": held.opened_msc,
                "open_price": held.price,
                "closed_msc": tick[1],
                "close_price": price,
                "reason": reason,
                "points": round(gain / self.point, 6),
                "profit": round(gain * lots, 10),
                "commission": 0.0,
                "swap": 0.0,
                "net": round(gain * lots, 10),
                **self.excursion(held, lots, [*held.prices, price]),
            }
        )
        held.lots = round(held.lots - lots, 8)
        if held.lots <= 0:
            self.position = None
