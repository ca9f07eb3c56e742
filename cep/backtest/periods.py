"""Trades by when they were made: each month, and each hour of the day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from cep.backtest.metrics import Metrics, metrics
from cep.backtest.trades import Trade


def by_month(trades: Sequence[Trade]) -> dict[str, Metrics]:
    """Of those that were closed in each month (UTC), `2024-03`; months without any are left out."""
    return _grouped(trades, lambda trade: f"{_moment(trade.closed_msc):%Y-%m}")


def by_hour(trades: Sequence[Trade]) -> dict[str, Metrics]:
    """Of those that were opened in each hour of the day (UTC), `09:00`, over all days."""
    return _grouped(trades, lambda trade: f"{_moment(trade.opened_msc):%H}:00")


def _moment(msc: int) -> datetime:
    return datetime.fromtimestamp(msc // 1_000, UTC)


def _grouped(trades: Sequence[Trade], name_of: Callable[[Trade], str]) -> dict[str, Metrics]:
    groups: Mapping[str, list[Trade]] = defaultdict(list)
    for trade in trades:
        groups[name_of(trade)].append(trade)
    return {name: metrics(groups[name], 0) for name in sorted(groups)}
