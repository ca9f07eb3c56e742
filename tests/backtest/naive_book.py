"""The slow, obvious way to fill orders: tick by tick, position by position."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cep.backtest.orders import Order

Tick = tuple[int, int, float, float]
"""Place in the order, time in ms, bid, ask."""


class NaiveBook:
    """The same answers as `Book`, from lists."""

    def __init__(self, orders: list[Order], point: float) -> None:
        self.point = point
        self.waiting = list(orders)
        self.open: list[dict[str, Any]] = []
        self.trades: list[dict[str, Any]] = []
        self.closings: list[tuple[Order, int]] = []
        self.refused: Counter[str] = Counter()
        self.last: Tick | None = None

    def push(self, tick: Tick) -> None:
        for position in list(self.open):
            self.watch(position, tick)
        while self.waiting and self.waiting[0].order < tick[0]:
            self.execute(self.waiting.pop(0), tick)
        self.last = tick

    def end(self) -> None:
        if self.last:
            for position in list(self.open):
                self.leave(position, self.last, self.market(position, self.last), "end of data")
        self.refused["no later tick"] += len(self.waiting)

    def market(self, position: dict[str, Any], tick: Tick) -> float:
        return tick[2] if position["side"] == "buy" else tick[3]

    def watch(self, position: dict[str, Any], tick: Tick) -> None:
        price, order = self.market(position, tick), position["order"]
        sign = 1 if position["side"] == "buy" else -1
        if order.stop_points:
            stop = round(position["price"] - sign * order.stop_points * self.point, 10)
            if sign * price <= sign * stop:
                self.leave(position, tick, price, "stop")
                return
        if order.target_points:
            target = round(position["price"] + sign * order.target_points * self.point, 10)
            if sign * price >= sign * target:
                self.leave(position, tick, target, "target")

    def execute(self, order: Order, tick: Tick) -> None:
        if tick[1] > order.valid_until_msc:
            self.refused["expired before the next tick"] += 1
        elif order.side == "close":
            if not self.open:
                self.refused["nothing to close"] += 1
            for position in list(self.open):
                self.leave(position, tick, self.market(position, tick), "close")
        elif any(position["order"].signal == order.signal for position in self.open):
            self.refused["position already open"] += 1
        else:
            price = tick[3] if order.side == "buy" else tick[2]
            self.open.append(
                {"order": order, "side": order.side, "price": price, "time_msc": tick[1]}
            )

    def leave(self, position: dict[str, Any], tick: Tick, price: float, reason: str) -> None:
        self.open.remove(position)
        self.closings.append((position["order"], tick[0]))
        gain = (price - position["price"]) * (1 if position["side"] == "buy" else -1)
        self.trades.append(
            {
                "signal": position["order"].signal,
                "symbol": position["order"].symbol,
                "side": position["side"],
                "lots": position["order"].lots,
                "opened_msc": position["time_msc"],
                "open_price": position["price"],
                "closed_msc": tick[1],
                "close_price": price,
                "reason": reason,
                "points": round(gain / self.point, 6),
                "profit": round(gain * position["order"].lots, 10),
            }
        )
