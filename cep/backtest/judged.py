"""The risk guard of a run: it refuses what the daemon's would refuse, on market time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cep.account.orders import Order
from mt5bridge.broker import Table, codes
from mt5bridge.orders import Limits
from mt5bridge.orders.guard import Guard
from mt5bridge.orders.records import Dealt
from mt5bridge.wire import Account, Side, Signal, SignalResult, SignalStatus

OWNER = TERMINAL = "simulated"
SIDES = {"buy": Side.BUY, "sell": Side.SELL}
"""The others open nothing."""


class Judge:
    """Judges signals before they become orders, and hears what becomes of these, by their tags."""

    def __init__(self, limits: Limits) -> None:
        self._guard = Guard(limits)
        self._working: dict[int, Signal] = {}

    def refusal(self, order: Order, tag: int, floating: float) -> str | None:
        """Why an order may not be given, by its tag; None: it may, and counts from now on.

        `floating` is what open positions would bring now.
        """
        signal = Signal(
            id=tag, time_msc=order.time_msc, valid_until_msc=order.time_msc, magic=0,
            lots=order.lots, stop_points=0.0, target_points=0.0,
            side=SIDES.get(order.side, Side.CLOSE), name=order.signal, symbol=order.symbol,
        )  # fmt: skip
        now_msc = order.time_msc
        self._guard.funds(OWNER, Account(now_msc, 0.0, 0.0, floating, 0.0, 0.0, 0.0, 0, 0, 0))
        found = self._guard.refusal(signal, 1, [OWNER], now_msc)
        if found is None:
            self._guard.sent(signal, [TERMINAL], now_msc)
            if not order.changes:
                self._working[tag] = signal
        return found

    def dealt(self, deals: Table, symbols: Sequence[str]) -> None:
        """Deals of the account; an order's come together."""
        tags = deals["tag"].tolist()
        for at, deal in enumerate(deals):
            tag = tags[at]
            if signal := self._working.get(tag):
                is_last = tag not in tags[at + 1 :]
                status = SignalStatus.EXECUTED if is_last else SignalStatus.PARTIAL
                result = SignalResult(
                    tag, int(deal["ticket"]), int(deal["order"]), int(deal["time_msc"]),
                    float(deal["volume"]), float(deal["price"]), codes.DONE, status, "",
                )  # fmt: skip
                self._guard.told(signal, TERMINAL, result, is_last, OWNER)
                if is_last:
                    del self._working[tag]
            self._guard.dealt(_dealt(deal, symbols))

    def ended(self, tags: Sequence[int]) -> None:
        """These orders were refused, or are not executed any more."""
        for tag in tags:
            if self._working.pop(tag, None):
                self._guard.ended(tag, TERMINAL)


def _dealt(deal: Any, symbols: Sequence[str]) -> Dealt:
    lots = float(deal["volume"])
    return Dealt(
        owner=OWNER,
        ticket=int(deal["ticket"]),
        revision=1,
        time_msc=int(deal["time_msc"]),
        position=int(deal["position_id"]),
        symbol=symbols[deal["symbol"]],
        lots=lots if deal["type"] == codes.BUY else -lots,
        profit=sum(float(deal[name]) for name in ("profit", "commission", "swap")),
        is_exit=int(deal["entry"]) == codes.OUT,
    )
