"""What trades came to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.backtest.trades import Trade

ALL = "all"
ROUNDING = 1e-12
"""What summing doubles may lose of a value."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Results of some trades; None where there is nothing to divide by.

    `points` are those of each symbol; `profit` is before `costs`, commission and swap, and `net`
    behind them. Drawdowns are those of closed trades in the order of closing, of points and of
    `net`. `sharpe` is mean over deviation of a trade's points.
    `mae_points` and `mfe_points` are the mean excursions of trades against and for them.
    `exposure` is the share of the time with a position open.
    """

    trades: int
    wins: int
    points: float
    profit: float
    costs: float
    net: float
    win_rate: float | None
    profit_factor: float | None
    expectancy_points: float | None
    drawdown_points: float
    drawdown: float
    sharpe: float | None
    mae_points: float | None
    mfe_points: float | None
    exposure: float


def metrics(trades: Sequence[Trade], span_ms: int) -> Metrics:
    """Metrics of trades, any order; `span_ms` is the time they were looked for in."""
    closed = sorted(trades, key=lambda trade: trade.closed_msc)
    points = np.array([trade.points for trade in closed])
    costs = np.array([trade.commission + trade.swap for trade in closed])
    net = np.array([trade.net for trade in closed])
    n, wins = len(closed), int(np.count_nonzero(points > 0))
    lost = -float(points[points < 0].sum())
    deviation = float(points.std(ddof=1)) if n > 1 else 0.0
    if n and deviation < ROUNDING * float(np.abs(points).max()):
        deviation = 0.0  # all are the same, and their mean is not quite
    return Metrics(
        trades=n,
        wins=wins,
        points=_sum(points),
        profit=_sum(np.array([trade.profit for trade in closed])),
        costs=_sum(costs),
        net=_sum(net),
        win_rate=wins / n if n else None,
        profit_factor=float(points[points > 0].sum()) / lost if lost else None,
        expectancy_points=float(points.mean()) if n else None,
        drawdown_points=drawdown(points),
        drawdown=drawdown(net),
        sharpe=float(points.mean()) / deviation if deviation else None,
        mae_points=_mean([trade.mae_points for trade in closed]),
        mfe_points=_mean([trade.mfe_points for trade in closed]),
        exposure=_covered_ms(closed) / span_ms if span_ms > 0 else 0.0,
    )


def by_signal(trades: Sequence[Trade], span_ms: int) -> dict[str, Metrics]:
    """Metrics of each signal, of each of its symbols where it has several, and of all trades."""
    found: dict[str, list[Trade]] = {}
    for name in sorted({trade.signal for trade in trades}):
        own = [trade for trade in trades if trade.signal == name]
        found[name] = own
        symbols = sorted({trade.symbol for trade in own})
        for symbol in symbols if len(symbols) > 1 else ():
            found[f"{name} {symbol}"] = [trade for trade in own if trade.symbol == symbol]
    found[ALL] = list(trades)
    return {name: metrics(group, span_ms) for name, group in found.items()}


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 10) if values else None


def _sum(values: NDArray[np.float64]) -> float:
    return round(float(values.sum()), 10)


def drawdown(gains: NDArray[np.float64]) -> float:
    """The deepest fall of the running sum below its highest value so far, which begins at 0."""
    total = np.concatenate([[0.0], np.cumsum(gains)])
    return round(float(np.max(np.maximum.accumulate(total) - total)), 10)


def _covered_ms(trades: Iterable[Trade]) -> int:
    """Time with at least one position open."""
    covered, until = 0, None
    for start, end in sorted((trade.opened_msc, trade.closed_msc) for trade in trades):
        begin = start if until is None else max(start, until)
        covered += max(0, end - begin)
        until = end if until is None else max(until, end)
    return covered
