"""What a backtest's report draws of no symbol: equity, points, distributions, excursions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cep.backtest.daily import Returns
from cep.backtest.equity import Equity
from cep.backtest.trades import Trade
from cep.backtest.trading import Money
from cep.report import Dot, Histogram, Role, Scatter, Series, SymbolChart
from cep.report.tables import time_text


def equity_chart(equity: Equity, money: Money) -> SymbolChart:
    """Equity with what is open, between its extremes of each minute, and the balance in steps."""
    times = equity.time_msc
    largest = float(np.abs(np.concatenate([equity.low, equity.high, [equity.start]])).max())
    digits = money.digits
    if digits is None:  # four digits that count
        digits = max(0, 3 - int(np.floor(np.log10(largest)))) if largest else 1
    lines = (
        Series("equity, with what is open", Role.SECOND, times, equity.equity),
        Series("balance", Role.STEPS, times, equity.balance),
        Series("highest", Role.UPPER, times, equity.high),
        Series("lowest", Role.LOWER, times, equity.low),
    )
    return SymbolChart("Equity", lines, (), digits)


def points_chart(trades: Sequence[Trade]) -> SymbolChart:
    """The sum of points behind each closed trade, in steps."""
    # those that are open at the end are closed at the last tick of their symbol
    closed = sorted(trades, key=lambda trade: trade.closed_msc)
    start_msc = min(trade.opened_msc for trade in trades)
    times = np.array([start_msc, *(trade.closed_msc for trade in closed)], np.int64)
    values = np.cumsum([0.0, *(trade.points for trade in closed)])
    return SymbolChart(
        "Points", (Series("points, closed trades", Role.STEPS, times, values),), (), 1
    )


def distributions(trades: Sequence[Trade], returns: Returns, money: Money) -> tuple[Histogram, ...]:
    """How what trades brought is distributed, and what the account gained by day; in money, net of
    costs, where there is an account, else in points.
    """
    found = []
    if trades:
        in_money = money.digits is not None
        brought = [trade.net if in_money else trade.points for trade in trades]
        across = "net of a trade, money" if in_money else "result of a trade, points"
        found.append(Histogram("Trades", across, brought))
    moved = returns.shares[returns.shares != 0.0]
    if len(moved):
        quiet = len(returns.shares) - len(moved)
        title = f"Days, without {quiet:,} of no change" if quiet else "Days"
        found.append(Histogram(title, "return of a day, percent", 100.0 * moved))
    return tuple(found)


def excursion_scatters(trades: Sequence[Trade], money: Money) -> tuple[Scatter, ...]:
    """What each trade brought against the worst and the best that was to be had of it: in money
    where there is an account, else in points.
    """
    in_money = money.digits is not None
    unit = "money" if in_money else "points"
    found = []
    for name, about in (("mae", "Worst while open (MAE)"), ("mfe", "Best while open (MFE)")):
        dots = []
        for t in trades:
            x = getattr(t, name if in_money else f"{name}_points")
            y = t.profit if in_money else t.points
            text = f"{t.signal} {t.symbol}, {time_text(t.closed_msc)}: {name.upper()} {x:g}, {y:+g}"
            dots.append(Dot(x, y, text))
        found.append(Scatter(f"{about} and result", f"{name.upper()}, {unit}", "result", dots))
    return tuple(found)
