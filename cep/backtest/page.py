"""The HTML report of a backtest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from cep.backtest.curves import distributions, equity_chart, excursion_scatters, points_chart
from cep.backtest.daily import NO_RETURNS, Daily, Returns
from cep.backtest.equity import Equity
from cep.backtest.metrics import ALL, Metrics
from cep.backtest.periods import by_hour, by_month
from cep.backtest.points import digits_of
from cep.backtest.queues import courses
from cep.backtest.records import PRICES, shown_tables
from cep.backtest.results import KEPT_MAX, Results
from cep.backtest.selection import Selection
from cep.backtest.simulate import Outcome
from cep.backtest.trades import Trade
from cep.backtest.trading import Money
from cep.backtest.trial import Trial
from cep.dropped import Dropped, title
from cep.market import TICK_STREAM
from cep.report import (
    Marker,
    MarkerKind,
    Report,
    Role,
    Series,
    SymbolChart,
    Table,
    Time,
)
from cep.report.decimate import kept_points
from cep.report.rows import EngineRows, complex_table, signal_table, symbol_markers

CHARTS_MAX = 12
POINTS_A_TABLE = 400
"""Points kept of each stretch of ticks that is read; the page thins them out further."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a report shows."""

    title: str
    subtitle: str
    results: Results
    outcome: Outcome
    metrics: Mapping[str, Metrics]
    assumptions: Sequence[str]
    daily: Daily = field(default_factory=Daily)
    returns: Returns = NO_RETURNS
    doubled: Trial | None = None


def report(findings: Findings, ticks: Selection) -> Report:
    """The report; `ticks` are those of the symbols to draw."""
    results, trades = findings.results, findings.outcome.trades
    signals = [row for _, row in results.signals]
    complexes = [
        row for found in results.plan.complexes for row in results.recent.get(found.name, ())
    ]
    complexes.sort(key=lambda row: row["time_msc"])
    money = findings.outcome.money
    equity = findings.outcome.equity
    charts = [equity_chart(equity, money)] if trades else []
    charts += [points_chart(trades)] if trades and money.digits is None else []
    charts += [symbol_chart(s, part, findings) for s, part in drawn(findings, ticks).items()]
    return Report(
        findings.title,
        findings.subtitle,
        summary=(
            *summary(findings.metrics[ALL], results, money, equity),
            *(() if findings.doubled is None else doubled_tile(findings.doubled)),
        ),
        charts=tuple(charts),
        histograms=distributions(trades, findings.returns, money),
        scatters=excursion_scatters(trades, money) if trades else (),
        tables=(
            metrics_table(findings.metrics, money.digits),
            *account_tables(money),
            daily_table(findings.daily),
            period_table("By month of closing (UTC)", by_month(trades), money.digits),
            period_table("By hour of opening (UTC)", by_hour(trades), money.digits),
            trade_table(trades),
            signal_table(signals),
            complex_table(complexes),
            refused_table(findings.outcome.refused),
            dropped_table(findings.results.dropped),
            Table("Assumptions", ("",), [(text,) for text in findings.assumptions]),
        ),
    )


def drawn(findings: Findings, ticks: Selection) -> dict[str, Selection]:
    """The symbols that get a chart: those with most trades and signals."""
    active = Counter(trade.symbol for trade in findings.outcome.trades)
    active.update(row["symbol"] for _, row in findings.results.signals if row["symbol"])
    for rows in findings.results.recent.values():
        active.update(row["key"] for row in rows if row["key"])
    order = {symbol: rank for rank, (symbol, _) in enumerate(active.most_common())}
    known = ticks.by_symbol()
    chosen = sorted(known, key=lambda symbol: order.get(symbol, len(order)))[:CHARTS_MAX]
    return {symbol: known[symbol] for symbol in chosen}


def symbol_chart(symbol: str, ticks: Selection, findings: Findings) -> SymbolChart:
    times, prices = [], []
    for table in shown_tables(ticks, TICK_STREAM, PRICES):
        values = (table["bid"].to_numpy() + table["ask"].to_numpy()) / 2
        at = kept_points(values, POINTS_A_TABLE)
        times.append(table["time_msc"].to_numpy()[at])
        prices.append(values[at])
    price = Series(
        "mid",
        Role.PRICE,
        np.concatenate([np.empty(0, np.int64), *times]),
        np.concatenate([np.empty(0), *prices]),
    )
    point = findings.outcome.points.get(symbol)
    digits = digits_of(price.values) if point is None else max(0, round(-np.log10(point)))
    results = findings.results
    queues = courses(results.plan, results.recent, symbol, KEPT_MAX)
    return SymbolChart(symbol, (price,), markers(symbol, findings), int(digits), queues)


def markers(symbol: str, findings: Findings) -> tuple[Marker, ...]:
    """Events, complex events, signals and fills on a symbol in time order."""
    results = findings.results
    runs = [
        EngineRows(
            engine.name,
            _recent(results, [e.name for e in results.plan.events if e.engine == engine.name]),
            _recent(results, [c.name for c in results.plan.complexes if c.engine == engine.name]),
        )
        for engine in results.plan.engines
    ]
    rows = symbol_markers(symbol, runs, [row for _, row in results.signals])
    trades = (fill_markers(t) for t in findings.outcome.trades if t.symbol == symbol)
    together = [*rows, *chain.from_iterable(trades)]
    return tuple(sorted(together, key=lambda marker: marker.time_msc))


def _recent(results: Results, names: Sequence[str]) -> list[Mapping[str, Any]]:
    return [row for name in names for row in results.recent.get(name, ())]


def fill_markers(trade: Trade) -> tuple[Marker, Marker]:
    out = "sell" if trade.side == "buy" else "buy"
    size = f"{trade.lots:g} lots"
    gain = f"{trade.reason}, {trade.points:+g} points"
    return (
        Marker(MarkerKind.FILL, trade.opened_msc, trade.signal, trade.open_price, trade.side, size),
        Marker(MarkerKind.FILL, trade.closed_msc, trade.signal, trade.close_price, out, gain),
    )


def fall_text(equity: Equity, digits: int | None) -> str:
    """The deepest fall of the equity, with its greatest share."""
    share = "" if equity.drawdown_share is None else f" ({percent(equity.drawdown_share)})"
    return f"{amount(equity.drawdown, digits)}{share}"


def summary(
    all_: Metrics, results: Results, money: Money, equity: Equity
) -> tuple[tuple[str, str], ...]:
    share = equity.drawdown_share
    return (
        ("Records", f"{results.records:,}"),
        ("Trades", f"{all_.trades:,}"),
        ("Net points", f"{all_.points:,.1f}"),
        *((("Net profit", amount(all_.net, money.digits)),) if money.digits is not None else ()),
        ("Win rate", percent(all_.win_rate)),
        ("Profit factor", ratio(all_.profit_factor)),
        ("Max drawdown", amount(equity.drawdown, money.digits)),
        *((("Of the equity", percent(share)),) if share is not None else ()),
        ("Signals", f"{len(results.signals):,}"),
    )


def doubled_tile(found: Trial) -> tuple[tuple[str, str], ...]:
    """What twice the costs leave: the name and value of a figure of the summary."""
    return (("Net, costs doubled", amount(found.results.net, found.digits)),)


def doubled_text(found: Trial) -> str:
    """The same as a line of the command."""
    net, fall = (amount(value, found.digits) for value in (found.results.net, found.drawdown))
    return (
        f"with doubled costs: net {net}, trades {found.results.trades:,}, not filled "
        f"{found.not_filled:,}, deepest fall {fall} (spread, slippage, commission and swap twice "
        "as high)"
    )


def account_tables(money: Money) -> tuple[Table, ...]:
    """What the account has come to, from what; none where there is no account."""
    if money.digits is None:
        return ()
    amounts = (
        ("Balance at first", money.start), ("Profit of deals", money.profit),
        ("Commission", money.commission), ("Swap", money.swap), ("Balance", money.balance),
        ("Open positions, at the last quotes", money.equity - money.balance),
        ("Equity", money.equity),
    )  # fmt: skip
    rows = [(name, amount(value, money.digits)) for name, value in amounts]
    return (Table("Account", ("Of what", "Amount"), rows),)


def daily_cells(found: Daily) -> list[tuple[str, str]]:
    """Names and texts of the ratios of daily returns."""
    return [
        ("Days", f"{found.days:,}"), ("Annual return", percent(found.annual_return)),
        ("Annual volatility", percent(found.annual_volatility)), ("Sharpe", ratio(found.sharpe)),
        ("Sortino", ratio(found.sortino)), ("Calmar", ratio(found.calmar)),
        ("Drawdown", percent(found.drawdown_share)),
    ]  # fmt: skip


def daily_table(found: Daily) -> Table:
    rows = daily_cells(found) if found.days else []
    return Table("By the day (UTC, a year of 252 days)", ("Of daily returns", "Value"), rows)


METRIC_COLUMNS = (
    "Signal", "Trades", "Win rate", "Points", "A trade", "Profit factor", "Drawdown", "Sharpe",
    "MAE", "MFE", "Exposure", "Profit", "Costs", "Net", "Drawdown of net",
)  # fmt: skip


def metric_cells(name: str, found: Metrics, money_digits: int | None) -> tuple[str, ...]:
    """Texts in the order of METRIC_COLUMNS."""
    money = (found.profit, found.costs, found.net, found.drawdown)
    return (
        name, f"{found.trades:,}", percent(found.win_rate), f"{found.points:,.1f}",
        ratio(found.expectancy_points), ratio(found.profit_factor),
        f"{found.drawdown_points:,.1f}", ratio(found.sharpe), mean(found.mae_points),
        mean(found.mfe_points), percent(found.exposure),
        *(amount(value, money_digits) for value in money),
    )  # fmt: skip


def metrics_table(metrics: Mapping[str, Metrics], money_digits: int | None) -> Table:
    rows = [metric_cells(name, found, money_digits) for name, found in metrics.items()]
    return Table("Results", METRIC_COLUMNS, rows)


def period_table(title: str, found: Mapping[str, Metrics], money_digits: int | None) -> Table:
    columns = ("When", "Trades", "Win rate", "Points", "Profit factor", "Profit", "Costs", "Net")
    rows = [
        (
            name, f"{one.trades:,}", percent(one.win_rate), f"{one.points:,.1f}",
            ratio(one.profit_factor),
            *(amount(value, money_digits) for value in (one.profit, one.costs, one.net)),
        )
        for name, one in found.items()
    ]  # fmt: skip
    return Table(title, columns, rows)


def trade_table(trades: Sequence[Trade]) -> Table:
    columns = (
        "Opened (UTC)", "Closed (UTC)", "Signal", "Symbol", "Side", "Lots", "Open", "Close", "By",
        "Points", "Profit", "Commission", "Swap", "Net", "MAE (points)", "MFE (points)",
    )  # fmt: skip
    rows = [
        (
            Time(t.opened_msc, t.symbol), Time(t.closed_msc, t.symbol), t.signal, t.symbol, t.side,
            t.lots, t.open_price, t.close_price, t.reason, t.points, t.profit,
            t.commission, t.swap, t.net, t.mae_points, t.mfe_points,
        )
        for t in trades
    ]  # fmt: skip
    return Table("Trades", columns, rows)


def refused_table(refused: Mapping[str, int]) -> Table:
    rows = [(why, count) for why, count in sorted(refused.items()) if count]
    return Table("Signals not filled", ("Why", "Signals"), rows)


def dropped_table(dropped: Dropped) -> Table:
    rows = [(title(part), reason.value, count) for part, reason, count in dropped]
    return Table("Dropped", ("What", "Why", "How many"), rows)


def amount(value: float, digits: int | None) -> str:
    """Of an account's money; of price difference times lots where there is none."""
    return f"{value:.6g}" if digits is None else f"{value:,.{digits}f}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def mean(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
