"""From orders to trades: one account at the one broker, over the archived ticks it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.account.market import NEXT_TICK, Market
from cep.account.orders import Order
from cep.archive import Archive
from cep.archive.parts import int64
from cep.archive.schema import TICKS
from cep.backtest.account import BEFORE_ALL, BEHIND_ALL, Account
from cep.backtest.ahead import ahead, each
from cep.backtest.choice import cores_here
from cep.backtest.equity import Equity
from cep.backtest.held_ticks import Held
from cep.backtest.points import SAMPLE_ROWS, Point, known_points
from cep.backtest.rates import convert
from cep.backtest.records import PRICES, order_of, shown_tables
from cep.backtest.selection import Selection
from cep.backtest.ticks import Ints, Ticks
from cep.backtest.trades import Trade
from cep.backtest.trading import NO_TICK, Money, Trading
from cep.market import TICK_STREAM, table_text
from cep.plan.nodes import Plan, says_of
from mt5bridge.broker import Table
from mt5bridge.broker.state import DEAL_ROW


@dataclass(slots=True)
class Outcome:
    """Trades in the order of closing, why orders were not filled, and each symbol's point.

    `why_points` says how the size of each is known. `orders` are in the order of their numbers, the
    first of which is 1; `retcodes` are their answers, 0 where no tick came. `deals` are the
    broker's (`DEAL_ROW`), the rows of their symbols those of `symbols`, which are quoted for the
    account: traded, or at whose rates its profits are converted.
    """

    trades: list[Trade] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    points: dict[str, float] = field(default_factory=dict)
    why_points: dict[str, str] = field(default_factory=dict)
    deals: Table = field(default_factory=lambda: np.zeros(0, DEAL_ROW))
    money: Money = field(default_factory=Money)
    equity: Equity = field(default_factory=Equity)
    orders: Sequence[Order] = ()
    symbols: Sequence[str] = ()
    retcodes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))


def tick_selection(
    archive: Archive, selection: Selection, symbols: set[str], market: Market = NEXT_TICK
) -> Selection:
    """Files with the ticks of `symbols` in the range of `selection`, and of the pairs at which
    their profits are converted for the account of `market`.
    """
    if market.terms.currency:
        everywhere = {file.symbol for file in archive.files(TICKS)}
        symbols = symbols | market.pairs(symbols, everywhere)
    files = archive.files(TICKS, symbols, selection.from_msc, selection.to_msc)
    files.sort(key=lambda file: (file.first_ingest, file.symbol, file.path))
    return msgspec.structs.replace(selection, files=tuple(files), clock=())


def simulate(
    ticks: Selection,
    orders: list[Order],
    points: Mapping[str, float | Point],
    market: Market = NEXT_TICK,
    advance: Callable[[int], None] = lambda n: None,
) -> Outcome:
    """Fill orders on archived ticks; `points` are known sizes.

    BacktestError names the symbols whose size is not known.
    """
    return simulate_all(ticks, orders, points, [market], advance)[0]


def simulate_all(
    ticks: Selection,
    orders: list[Order],
    points: Mapping[str, float | Point],
    markets: Sequence[Market],
    advance: Callable[[int], None] = lambda n: None,
    held: Held | None = None,
) -> list[Outcome]:
    """As `simulate`, at an account of each market; the ticks are read once for all of them, or not
    at all if they are `held`.
    """
    available = ticks.by_symbol()
    wanted = sorted({order.symbol for order in orders} & available.keys())
    known = known_points(points, {name: prices_of(available[name]) for name in wanted})
    fillable = [order for order in orders if order.symbol in known]
    all_trading = [
        Trading(
            fillable, {name: market.specification(name, one.size) for name, one in known.items()},
            market,
        )
        for market in markets
    ]  # fmt: skip
    for trading in all_trading:
        convert(trading, known, available)
    if fillable:
        names = all_trading[0].symbols
        wanted_ticks = ticks.only(names)
        if len(names) == len(known):  # else a rate may have been quoted long before
            wanted_ticks = wanted_ticks.after(fillable[0].order >> 1)
        tables = None if held is None else held.tables(wanted_ticks)
        if tables is None:
            tables = ahead(shown_tables(wanted_ticks, TICK_STREAM, PRICES))
        _run(all_trading, tables, list(names), advance)
    homeless = [order for order in orders if order.symbol not in known]
    return [outcome_at(trading, known, homeless) for trading in all_trading]


def outcome_at(trading: Trading, known: Mapping[str, Point], homeless: Sequence[Order]) -> Outcome:
    """What an account has come to, and orders of symbols that have no ticks."""
    return Outcome(
        trading.trades,
        trading.refused + Counter({NO_TICK: len(homeless)}),
        {symbol: point.size for symbol, point in known.items()},
        {symbol: point.why for symbol, point in known.items()},
        trading.deals,
        trading.money,
        trading.equity,
        [*trading.orders, *homeless],
        trading.symbols,
        np.concatenate([trading.retcodes, np.zeros(len(homeless), np.int64)]),
    )


def account_of(
    archive: Archive,
    selection: Selection,
    plan: Plan,
    points: Mapping[str, float | Point],
    market: Market = NEXT_TICK,
    valid_ms: int = 60_000,
) -> Account:
    """An account for a run whose rules see its fills. Points are as for `simulate`, symbol by
    symbol when it is traded.
    """
    named = {signal.symbol for signal in plan.signals if signal.symbol is not None}
    ticks = tick_selection(archive, selection, {*selection.symbols, *named}, market)
    names, available = ticks.symbols, ticks.by_symbol()
    return Account(
        (as_ticks(table, names) for table in shown_tables(ticks, TICK_STREAM, PRICES)),
        names,
        lambda name: known_points(points, {name: prices_of(available[name])})[name],
        market,
        valid_ms,
        market.limits,
        says_of(plan),
    )


def outcome_of(account: Account) -> Outcome:
    """What an account has come to."""
    found = outcome_at(account.trading, account.points, ())
    found.refused += account.refused
    return found


def _run(
    all_trading: Sequence[Trading],
    tables: Iterable[pa.Table],
    symbols: list[str],
    advance: Callable[[int], None],
) -> None:
    """Push ticks, from the first that can fill an order on, until nothing can change.

    Those of a symbol count from its first order on, as where orders come while the ticks pass; all
    do of a pair that converts profits.
    """
    first = np.full(len(symbols), BEHIND_ALL)
    for order in reversed(all_trading[0].orders):
        first[symbols.index(order.symbol)] = order.order
    for name in all_trading[0].pairs:
        first[symbols.index(name)] = BEFORE_ALL
    cores = cores_here()
    with ThreadPoolExecutor(cores) as threads:
        pool = threads if cores > 1 else None  # on one core they would only wait for each other
        for table in tables:
            found = as_ticks(table, symbols)
            counts = found.order > first[found.symbol]
            if counts.any():
                fillable = found if counts.all() else found.part(counts)
                going = [trading for trading in all_trading if not trading.is_done]
                each(pool, partial(Trading.push, ticks=fillable), going)
            advance(table.num_rows)
            if all(trading.is_done for trading in all_trading):
                break


def as_ticks(table: pa.Table, symbols: list[str]) -> Ticks:
    """Ticks of an archive's table; `symbols` are all that it has."""
    if len(symbols) == 1:
        rows = np.zeros(table.num_rows, np.int64)
    else:
        names = table_text(table, "symbol")
        places = [symbols.index(name) for name in names.dictionary.to_pylist()]
        rows = np.array(places, np.int64)[names.indices.to_numpy()]
    columns = (int64(table, "time_msc"), table["bid"].to_numpy(), table["ask"].to_numpy())
    own = (np.require(column, requirements=["C", "W"]) for column in columns)
    return Ticks(rows, order_of(int64(table, "ingest"), TICK_STREAM), *own)


def prices_of(part: Selection) -> Iterator[NDArray[np.float64]]:
    """Prices of the first ticks of the files: the point is the symbol's, whenever and until when
    anything is asked of it.
    """
    left = SAMPLE_ROWS
    for table in shown_tables(part.whole(), TICK_STREAM, PRICES):
        found = table.slice(0, left)
        yield found["bid"].to_numpy()
        yield found["ask"].to_numpy()
        left -= found.num_rows
        if not left:
            return
