"""The account's equity at each tick: its balance, and what open positions would bring then.

Between two deals what is open of a symbol does not change: it is worth `lots * price - cost` on
each side, and both are sums over the deals. So a batch of ticks is a few passes of NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cep.backtest.ticks import Floats, Ints, Ticks
from mt5bridge.broker import Table, codes
from mt5bridge.broker.rates import DIRECT

MINUTE_MS = 60_000
LOTS_DIGITS, MONEY_DIGITS = 8, 10
"""Decimals that are more than what summing doubles loses."""


@dataclass(frozen=True, slots=True)
class Equity:
    """Of each minute in which anything was open or dealt: the time of its last tick, balance and
    equity then, and the lowest and highest equity at any tick of it.

    `drawdown` is the deepest fall below the highest equity so far, of all ticks, from `peak_msc`
    to `trough_msc`; `drawdown_share` the greatest in shares of that highest equity, None where
    there was no money at first. Equity begins at `start`.
    """

    time_msc: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    balance: Floats = field(default_factory=lambda: np.zeros(0))
    equity: Floats = field(default_factory=lambda: np.zeros(0))
    low: Floats = field(default_factory=lambda: np.zeros(0))
    high: Floats = field(default_factory=lambda: np.zeros(0))
    start: float = 0.0
    drawdown: float = 0.0
    drawdown_share: float | None = None
    peak_msc: int | None = None
    trough_msc: int | None = None


@dataclass(slots=True)
class Holding:
    """What is open of a symbol on each side, its lots and what they have cost by price; what that
    is worth; and the last quote. `pairs` are rows and ways at which its currency is converted.
    """

    contract_size: float
    open: Floats = field(default_factory=lambda: np.zeros(4))  # long: lots, cost; short: the same
    worth: float = 0.0
    bid: float = 0.0
    ask: float = 0.0
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def is_flat(self) -> bool:
        return not self.open.any()

    def quote(self, ticks: Ticks, own: Ints) -> None:
        """The last of the symbol's ticks is how it is quoted now."""
        if len(own):
            self.bid, self.ask = float(ticks.bid[own[-1]]), float(ticks.ask[own[-1]])

    def add_changes(
        self, found: Floats, ticks: Ticks, own: Ints, deals: Table, at: Ints, rates: Rates
    ) -> None:
        """Add to `found`, of all ticks, what the worth changes by at each.

        `own` are the symbol's ticks, `at` those that made its deals.
        """
        places, bids, asks = own, ticks.bid[own], ticks.ask[own]
        others = np.union1d(at, rates.places(self.pairs)) if self.pairs else at
        if not _are_among(others, own):  # that of another symbol counts: at the quotes before it
            places = np.union1d(own, others)
            quotes = np.searchsorted(own, places, side="right")
            bids = np.concatenate([[self.bid], bids])[quotes]
            asks = np.concatenate([[self.ask], asks])[quotes]
        held = self.open + np.concatenate([np.zeros((1, 4)), np.cumsum(_opened(deals), axis=0)])
        held[:, [0, 2]] = np.round(held[:, [0, 2]], LOTS_DIGITS)
        held[:, 1][held[:, 0] == 0.0] = 0.0
        held[:, 3][held[:, 2] == 0.0] = 0.0
        counts = np.diff(np.searchsorted(places, at), prepend=0, append=len(places))
        long_lots, cost, short_lots = (
            np.repeat(one, counts) for one in (held[:, 0], held[:, 1] - held[:, 3], held[:, 2])
        )
        worth = (long_lots * bids - short_lots * asks - cost) * self.contract_size
        if self.pairs:
            worth *= rates.at(self.pairs, places)
        found[places] += np.diff(worth, prepend=self.worth)
        self.open = held[-1]
        if len(places):
            self.worth = float(worth[-1])
        self.quote(ticks, own)


class Rates:
    """Quotes of pairs over a batch of ticks: those of each, and the last ones before."""

    def __init__(
        self, ticks: Ticks, own: Mapping[int, Ints], holdings: Mapping[int, Holding]
    ) -> None:
        self._ticks, self._own = ticks, own
        self._before = {row: (one.bid, one.ask) for row, one in holdings.items()}

    def places(self, pairs: Sequence[tuple[int, int]]) -> Ints:
        """The ticks at which a rate may change."""
        return np.concatenate([self._ticks_of(row) for row, _ in pairs])

    def at(self, pairs: Sequence[tuple[int, int]], places: Ints) -> Floats:
        """What one unit is worth at each of these ticks, by the newest quotes; 0: not known."""
        found = np.ones(len(places))
        for row, way in pairs:
            ticks = self._ticks_of(row)
            side, before = (self._ticks.bid, 0) if way == DIRECT else (self._ticks.ask, 1)
            quotes = np.concatenate([[self._before[row][before]], side[ticks]])
            quoted = quotes[np.searchsorted(ticks, places, side="right")]
            known = np.where(quoted > 0.0, quoted, 1.0)
            rate = known if way == DIRECT else 1.0 / known
            found *= np.where(quoted > 0.0, rate, 0.0)
        return found

    def _ticks_of(self, row: int) -> Ints:
        return self._own.get(row, np.zeros(0, np.int64))


def _are_among(places: Ints, own: Ints) -> bool:
    """Whether all are in `own`, which rises: a look at each spares sorting the others."""
    if not len(places):
        return True
    at = np.minimum(np.searchsorted(own, places), len(own) - 1)
    return bool(len(own) and (own[at] == places).all())


def _opened(deals: Table) -> Floats:
    """What each deal adds to long lots and cost, and to short lots and cost."""
    closed, opened = deals["closed_lots"], deals["volume"] - deals["closed_lots"]
    buys = deals["type"] == codes.BUY
    entered = np.stack([opened, opened * deals["price"]])
    left = np.stack([-closed, -closed * deals["open_price"]])
    long, short = np.where(buys, entered, left), np.where(buys, left, entered)
    return np.concatenate([long, short]).T


class EquityPass:
    """Goes over the ticks and deals of an account in batches."""

    def __init__(self, start: float = 0.0) -> None:
        self.holdings: dict[int, Holding] = {}
        self._start = self._balance = self._settled = start
        self._lots = 0.0
        self._newest_msc = 0
        self._minutes: list[tuple[Ints, Floats]] = []
        self._fall = _Fall(start)

    def take(
        self, ticks: Ticks, own: Mapping[int, Ints], deals: Table, at: Ints, swaps: Floats
    ) -> None:
        """The next ticks, those of each symbol (`Ticks.by_symbol`), and what was dealt at which.

        `swaps` is what open positions were charged or given at each tick.
        """
        times = np.maximum.accumulate(np.concatenate([[self._newest_msc], ticks.time_msc]))[1:]
        self._newest_msc = int(times[-1])
        if not len(deals) and all(holding.is_flat for holding in self.holdings.values()):
            for row, places in own.items():
                self.holdings[row].quote(ticks, places)
            return
        gained = deals["profit"] + deals["commission"]
        changes = swaps + np.bincount(at, gained, len(ticks))
        balances = np.bincount(at, gained + deals["swap"], len(ticks))
        settled = self._settled + float(changes.sum())
        worth = sum(holding.worth for holding in self.holdings.values())
        rates = Rates(ticks, own, self.holdings)
        for row, holding in self.holdings.items():
            places, is_own = own.get(row, np.zeros(0, np.int64)), deals["symbol"] == row
            if is_own.any() or not holding.is_flat:
                holding.add_changes(changes, ticks, places, deals[is_own], at[is_own], rates)
            else:
                holding.quote(ticks, places)
        values = self._settled + worth + np.cumsum(changes)
        active = self._active(deals, at, times)
        self._note(times, self._balance + balances.cumsum(dtype=np.float64), values, active)
        self._settled = round(settled, MONEY_DIGITS)
        self._balance = round(self._balance + float(balances.sum()), MONEY_DIGITS)

    def _active(self, deals: Table, at: Ints, times: Ints) -> Ints:
        """Ticks at which anything is open or dealt."""
        change = np.bincount(at, deals["volume"] - 2.0 * deals["closed_lots"], len(times))
        open_ = np.round(self._lots + np.cumsum(change), LOTS_DIGITS)
        self._lots = float(open_[-1])
        is_active = open_ > 0.0
        is_active[at] = True
        return np.flatnonzero(is_active)

    def _note(self, times: Ints, balances: Floats, values: Floats, active: Ints) -> None:
        times, balances, values = times[active], balances[active], values[active]
        if not len(times):
            return
        self._fall.take(times, values)
        starts = np.flatnonzero(np.diff(times // MINUTE_MS, prepend=-1))
        ends = np.append(starts[1:], len(times)) - 1
        lows, highs = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        self._minutes.append((times[ends], np.stack([balances[ends], values[ends], lows, highs])))

    def found(self, digits: int | None) -> Equity:
        """What it has come to, in amounts of so many decimals."""
        places = MONEY_DIGITS if digits is None else digits
        fall = self._fall
        drawdown = round(fall.depth, places)
        share = fall.share if self._start > 0.0 else None
        if not self._minutes:
            return Equity(start=self._start, drawdown_share=share)
        times = np.concatenate([one[0] for one in self._minutes])
        rows = np.concatenate([one[1] for one in self._minutes], axis=1)
        balances, values, lows, highs = np.round(rows, places) + 0.0
        starts = np.flatnonzero(np.diff(times // MINUTE_MS, prepend=-1))  # of two batches, one
        ends = np.append(starts[1:], len(times)) - 1
        moments = (fall.peak_msc, fall.trough_msc) if drawdown else (None, None)
        return Equity(
            times[ends], balances[ends], values[ends], np.minimum.reduceat(lows, starts),
            np.maximum.reduceat(highs, starts), self._start, drawdown, share, *moments,
        )  # fmt: skip


class _Fall:
    """The deepest fall below the highest value so far."""

    def __init__(self, start: float) -> None:
        self._peak, self._newest_peak_msc = start, 0
        self.depth = self.share = 0.0
        self.peak_msc = self.trough_msc = 0

    def take(self, times: Ints, values: Floats) -> None:
        self._newest_peak_msc = self._newest_peak_msc or int(times[0])
        peaks = np.maximum.accumulate(np.concatenate([[self._peak], values]))[1:]
        depths = peaks - values
        at = int(np.argmax(depths))
        if depths[at] > self.depth:
            self.depth, self.trough_msc = float(depths[at]), int(times[at])
            rose = np.flatnonzero(values[: at + 1] > self._peak)
            self.peak_msc = self._newest_peak_msc
            if len(rose):
                self.peak_msc = int(times[int(np.argmax(values[: at + 1]))])
        if (is_money := peaks > 0.0).any():
            self.share = max(self.share, float((depths[is_money] / peaks[is_money]).max()))
        if peaks[-1] > self._peak:
            self._newest_peak_msc = int(times[int(np.argmax(values))])
            self._peak = float(peaks[-1])
