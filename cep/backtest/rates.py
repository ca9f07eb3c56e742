"""Profits of an account's symbols become its currency."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cep.account.rates import RateError
from cep.backtest.errors import BacktestError
from cep.backtest.trading import Trading


def convert(trading: Trading, symbols: Iterable[str], available: Collection[str]) -> set[str]:
    """Have profits of these symbols converted; the pairs that this takes, of those `available`.

    BacktestError where there is no rate.
    """
    pairs: set[str] = set()
    for name in symbols:
        try:
            route = trading.market.route(name, available)
        except RateError as problem:
            raise BacktestError(str(problem), problem.hint) from None
        trading.convert(name, route)
        pairs.update(pair for pair, _ in route)
    return pairs
