"""From orders to trades: one book a symbol, over the archived ticks it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.archive import Archive
from cep.archive.parts import int64
from cep.archive.schema import TICKS
from cep.backtest.book import NO_TICK, Book, Ticks, Trade
from cep.backtest.orders import Order
from cep.backtest.points import SAMPLE_ROWS, known_points
from cep.backtest.records import order_of, shown_tables
from cep.backtest.selection import Selection
from cep.market import TICK_STREAM

PRICES = {"bid", "ask"}
NO_SYMBOL = "no symbol"


@dataclass(slots=True)
class Outcome:
    """Trades in the order of closing, why orders were not filled, and each symbol's point.

    `why_points` says how the size of each is known.
    """

    trades: list[Trade] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    points: dict[str, float] = field(default_factory=dict)
    why_points: dict[str, str] = field(default_factory=dict)


def tick_selection(archive: Archive, selection: Selection, symbols: set[str]) -> Selection:
    """Files with the ticks of `symbols` in the range of `selection`."""
    files = archive.files(TICKS, symbols, selection.from_msc, selection.to_msc)
    return Selection(selection.directory, tuple(files), selection.from_msc, selection.to_msc)


def simulate(
    ticks: Selection,
    orders: list[Order],
    points: Mapping[str, float],
    advance: Callable[[int], None] = lambda n: None,
) -> Outcome:
    """Fill orders on archived ticks; `points` are known sizes, others are derived from prices.

    BacktestError names the symbols whose prices do not show it.
    """
    outcome = Outcome()
    by_symbol: dict[str, list[Order]] = {}
    for order in orders:
        by_symbol.setdefault(order.symbol, []).append(order)
    available = ticks.by_symbol()
    samples = {name: _sample(available[name]) for name in sorted(by_symbol) if name in available}
    known = known_points(points, samples)
    outcome.points = {symbol: point.size for symbol, point in known.items()}
    outcome.why_points = {symbol: point.why for symbol, point in known.items()}
    for symbol, waiting in sorted(by_symbol.items()):
        if symbol not in available:
            outcome.refused[NO_TICK] += len(waiting)
            continue
        part = available[symbol]
        book = Book(waiting, known[symbol].size)
        _add(outcome, _run(book, waiting[0].order, part, advance))
    outcome.trades.sort(key=lambda trade: (trade.closed_msc, trade.symbol))
    return outcome


def _add(outcome: Outcome, book: Book) -> None:
    outcome.trades += book.trades
    outcome.refused += book.refused


def _run(book: Book, first: int, part: Selection, advance: Callable[[int], None]) -> Book:
    """Push the symbol's ticks through its book, from the first file that can fill an order."""
    for table in shown_tables(part.after(first >> 1), TICK_STREAM, PRICES):
        book.push(as_ticks(table))
        advance(table.num_rows)
        if book.is_done:
            break
    book.end()
    return book


def as_ticks(table: pa.Table) -> Ticks:
    return Ticks(
        order_of(int64(table, "ingest"), TICK_STREAM),
        int64(table, "time_msc"),
        table["bid"].to_numpy(),
        table["ask"].to_numpy(),
    )


def _sample(part: Selection) -> Iterator[NDArray[np.float64]]:
    """Prices of the first ticks."""
    left = SAMPLE_ROWS
    for table in shown_tables(part, TICK_STREAM, PRICES):
        found = table.slice(0, left)
        yield found["bid"].to_numpy()
        yield found["ask"].to_numpy()
        left -= found.num_rows
        if not left:
            return
