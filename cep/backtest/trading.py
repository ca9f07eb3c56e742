"""Orders of a run at the one broker, over ticks that come in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.backtest.market import NEXT_TICK, Market
from cep.backtest.orders import Order, as_requests
from cep.backtest.trades import END, Trade, in_points, trades_of
from cep.engine.jit import entry
from mt5bridge.broker import Broker, Specification, Table, codes
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.money import profit_of
from mt5bridge.broker.run import run

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
NO_TICK = "no later tick"
PLAIN_ORDERS_MAX = 10_000
"""So many orders take some seconds without a compiler, which takes some seconds itself."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Ticks in order: rows of their symbols, and `order`, their places in the total order."""

    symbol: Ints
    order: Ints
    time_msc: Ints
    bid: Floats
    ask: Floats

    def __len__(self) -> int:
        return len(self.order)


class Trading:
    """One account that trades the orders of a run; batches of ticks may have any size."""

    def __init__(
        self,
        orders: Sequence[Order],
        symbols: Mapping[str, Specification],
        market: Market = NEXT_TICK,
        loop: Run | None = None,
    ) -> None:
        self._orders, self._symbols = orders, symbols
        self._names = list(symbols)
        self._broker = Broker(market.terms, list(symbols.values()), loop or loop_for(len(orders)))
        rows = {name: row for row, name in enumerate(symbols)}
        self._waiting = self._broker.waiting(as_requests(orders, rows, market.latency_ms))
        self._last_msc = np.zeros(len(symbols), np.int64)
        self._deals: list[Table] = [self._broker.take_deals()]

    @property
    def is_done(self) -> bool:
        """Whether no later tick can change anything."""
        is_waiting = bool((self._waiting.next < self._waiting.ends).any())
        return not (is_waiting or len(self._broker.positions) or len(self._broker.orders))

    @property
    def deals(self) -> Table:
        """All deals in their order."""
        return np.concatenate(self._deals)

    @property
    def trades(self) -> list[Trade]:
        """What was closed, in the order of closing, then what is open now, at the last quotes."""
        points = {name: symbol.point for name, symbol in self._symbols.items()}
        return [*trades_of(self.deals, self._orders, self._names, points), *self._open()]

    @property
    def refused(self) -> Counter[str]:
        """Why orders were not filled; how many for each reason."""
        found, counts = np.unique(self._waiting.answers["retcode"], return_counts=True)
        return Counter(
            {
                f"{codes.TEXTS[code]} ({code})" if code else NO_TICK: count
                for code, count in zip(found.tolist(), counts.tolist(), strict=True)
                if code != codes.DONE
            }
        )

    def push(self, ticks: Ticks) -> None:
        """Run over the next ticks."""
        self._broker.run(
            ticks.symbol, ticks.order, ticks.time_msc, ticks.bid, ticks.ask, self._waiting
        )
        self._last_msc[ticks.symbol] = ticks.time_msc  # of several for one symbol, the last stays
        self._deals.append(self._broker.take_deals())

    def _open(self) -> list[Trade]:
        state = self._broker.state
        found = []
        for position in self._broker.positions:
            row = int(position["symbol"])
            name, symbol = self._names[row], state.symbols[row]
            is_long = bool(position["side"] > 0)
            opened, lots = float(position["price"]), float(position["lots"])
            closed = float(symbol["bid"] if is_long else symbol["ask"])
            profit = profit_of(state.account[0], symbol, position["side"], lots, opened, closed)
            found.append(
                Trade(
                    self._orders[position["tag"] - 1].signal, name, "buy" if is_long else "sell",
                    lots, int(position["time_msc"]), opened, int(self._last_msc[row]), closed, END,
                    in_points(opened, closed, is_long, self._symbols[name].point), profit,
                )
            )  # fmt: skip
        return sorted(found, key=lambda trade: (trade.closed_msc, trade.symbol))


def loop_for(orders: int) -> Run:
    """The broker's loop that is done first with so many orders, the compiler's time included."""
    return leap if orders <= PLAIN_ORDERS_MAX else entry(run)
