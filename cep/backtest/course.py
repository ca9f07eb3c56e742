"""What an account went through from tick to tick, besides its deals: prices and equity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cep.backtest.equity import MONEY_DIGITS, Equity, equity_of
from cep.backtest.extremes import Extremes
from cep.backtest.loop import walk_for
from cep.backtest.ticks import Floats, Ints, Ticks, joined
from mt5bridge.broker import Table, codes
from mt5bridge.broker.worth import COURSE, HELD, MINUTE, MINUTE_MS, STRETCH, Walk

BATCH_TICKS = 1 << 14
"""Ticks that are looked at together: rules that see fills let the account go on a few at a time."""
FAR = np.iinfo(np.int64).max


class Course:
    """Learns the ticks and deals of an account as they come. Ticks are numbered from 0 on."""

    def __init__(self, balance: float) -> None:
        self._start = balance
        self._course = np.zeros(1, COURSE)
        for name in ("equity", "balance", "highest"):
            self._course[name] = balance
        self._held = np.zeros(0, HELD)
        self._minutes: list[Table] = [np.zeros(0, MINUTE)]
        self._extremes = Extremes()
        self._waiting: list[tuple[Ticks, float]] = []
        self._waiting_ticks = 0
        self._deals: list[Table] = []
        """Those of these ticks; joining many empty tables takes long."""
        self._open_swap = 0.0
        self._numbers: list[Ints] = [np.zeros(0, np.int64)]
        self._opened_at: dict[int, int] = {}

    def add(self, row: int, contract_size: float) -> None:
        """A symbol that is traded from now on; it may have been quoted before."""
        if row == len(self._held):
            self._held = np.append(self._held, np.zeros(1, HELD))
        self._held[row]["contract_size"] = contract_size

    def convert(self, row: int, pairs: Sequence[tuple[int, int]]) -> None:
        """How the currency of a symbol's profits becomes the account's: pairs by row and way."""
        held = self._held[row]
        for name, (pair, way) in zip(("rate", "cross"), (*pairs, (0, 0), (0, 0)), strict=False):
            held[f"{name}_row"], held[f"{name}_way"] = pair, way
        for pair, _ in pairs:
            self._held[pair]["is_pair"] = 1

    def take(self, ticks: Ticks, deals: Table, open_swap: float) -> None:
        """The next ticks, the deals they made, and the swap of positions that are open behind them.

        What that has changed by, and no deal has brought, came at the last of the ticks.
        """
        if not len(ticks):
            return
        charged = open_swap - self._open_swap + (float(deals["swap"].sum()) if len(deals) else 0.0)
        self._open_swap = open_swap
        self._waiting.append((ticks, round(charged, MONEY_DIGITS)))
        if len(deals) or not self._deals:
            self._deals.append(deals)
        self._waiting_ticks += len(ticks)
        if self._waiting_ticks >= BATCH_TICKS:
            self._work()

    def equity(self, digits: int | None) -> Equity:
        """Of the account, in amounts of so many decimals."""
        self._work()
        return equity_of(self._course[0], self._minutes, self._start, digits)

    def excursions(self, deals: Table) -> tuple[Floats, Floats]:
        """The worst and the best price while what a deal closes was open, for all deals so far.

        These are quotes from the tick that opened it on, and the price of closing; NaN for deals
        that close nothing.
        """
        self._work()
        numbers, opened = np.concatenate(self._numbers), self._opened(deals)
        worst, best = np.full(len(deals), np.nan), np.full(len(deals), np.nan)
        closes = deals["closed_lots"] > 0.0
        for row in np.unique(deals["symbol"]).tolist():
            for kind, is_long in ((codes.SELL, True), (codes.BUY, False)):
                own = np.flatnonzero(closes & (deals["symbol"] == row) & (deals["type"] == kind))
                spans = opened[own], numbers[own]
                low, high = self._extremes.between(row, *spans, is_long=is_long)
                worse, better = (np.fmin, np.fmax) if is_long else (np.fmax, np.fmin)
                worst[own] = worse(low, deals["price"][own])
                best[own] = better(high, deals["price"][own])
        return worst, best

    def open_excursion(self, row: int, position: int, *, is_long: bool) -> tuple[float, float]:
        """The worst and the best price of an open position so far, after `excursions`."""
        start = np.array([self._opened_at[position]])
        worst, best = self._extremes.between(row, start, np.array([FAR]), is_long=is_long)
        return float(worst[0]), float(best[0])

    def _opened(self, deals: Table) -> Ints:
        """The number of the tick that opened what each deal closes."""
        numbers = np.concatenate(self._numbers).tolist()
        found = np.zeros(len(deals), np.int64)
        opened_at = self._opened_at = {}
        columns = (deals[name].tolist() for name in ("position_id", "volume", "closed_lots"))
        for at, (position, lots, closed) in enumerate(zip(*columns, strict=True)):
            if closed:
                found[at] = opened_at[position]
                if lots > closed:  # it turns the position
                    opened_at[position] = numbers[at]
            else:
                opened_at.setdefault(position, numbers[at])
        return found

    def _work(self) -> None:
        """Look at what has come."""
        if not self._waiting:
            return
        ticks = Ticks.joined([ticks for ticks, _ in self._waiting])
        deals = joined(self._deals)
        charged = np.array([charged for _, charged in self._waiting])
        ends = np.cumsum([len(ticks) for ticks, _ in self._waiting]) - 1
        is_charged = charged != 0.0
        at, course = _ticks_of(deals, ticks), self._course[0]
        self._numbers.append(course["ticks"] + at)
        state = self._room(ticks, deals)
        walk_for(len(ticks))(
            state, ticks.symbol, ticks.time_msc, ticks.bid, ticks.ask, deals, at,
            charged[is_charged], ends[is_charged],
        )  # fmt: skip
        self._minutes.append(state.minutes[: course["minutes"]].copy())
        self._extremes.take(state.stretches[: course["stretches"]].copy())
        self._waiting.clear()
        self._deals.clear()
        self._waiting_ticks = 0

    def _room(self, ticks: Ticks, deals: Table) -> Walk:
        """Tables with rows enough for what these ticks may fill."""
        span_ms = int(ticks.time_msc.max()) - int(ticks.time_msc[0])
        minutes = min(len(ticks), span_ms // MINUTE_MS + 2)
        stretches = len(self._held) + len(deals)
        return Walk(
            self._course, self._held, np.empty(minutes, MINUTE), np.empty(stretches, STRETCH)
        )


def _ticks_of(deals: Table, ticks: Ticks) -> Ints:
    """Which of the ticks made each deal: of those at its place, that of one symbol."""
    found = np.searchsorted(ticks.order, deals["place"])
    while (is_before := ticks.symbol[found] != deals["at_symbol"]).any():
        found[is_before] += 1
    return found
