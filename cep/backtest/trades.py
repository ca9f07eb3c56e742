"""What the broker's deals closed, as trades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cep.account.orders import Order
from cep.backtest.costs import OpeningCosts
from mt5bridge.broker import Record, Specification, codes

END = "end of data"
_REASONS = {codes.BY_STOP: "stop", codes.BY_TARGET: "target", codes.BY_STOP_OUT: "stop out"}


@dataclass(frozen=True, slots=True)
class Trade:
    """What one deal closed of a position, or all that was open at the end.

    `signal` is the one that opened the position, whose price is the mean of what was added to it.
    `profit` is price difference times lots times contract size, in the account's currency where it
    has one. `commission` is that of closing these lots and their share of that of opening them;
    `net` is profit, commission and swap. Over all trades of an account, `net` is what its equity
    has gained. The last six are its `Excursion`.
    """

    signal: str
    symbol: str
    side: str
    lots: float
    opened_msc: int
    open_price: float
    closed_msc: int
    close_price: float
    reason: str
    points: float
    profit: float
    commission: float
    swap: float
    net: float
    worst_price: float
    best_price: float
    mae_points: float
    mfe_points: float
    mae: float
    mfe: float


class Excursion(NamedTuple):
    """How far the market went against a trade and for it while it was open.

    The worst and the best price at which it could have been closed, by the quotes of ticks from the
    one that opened it on, and what that would have brought: in points, and in the account's
    money for its lots, before costs. Losses are negative.
    """

    worst_price: float
    best_price: float
    mae_points: float
    mfe_points: float
    mae: float
    mfe: float

    @classmethod
    def of(
        cls,
        prices: tuple[float, float],
        opened: float,
        size: float,
        symbol: Specification,
        costs: OpeningCosts,
        *,
        is_long: bool,
    ) -> Excursion:
        """Of what was opened at a price; `prices` are the worst and the best, and a difference of 1
        between prices is `size` of the account's money.
        """
        points = [in_points(opened, price, is_long, symbol.point) for price in prices]
        amounts = [costs.rounded(_gain(opened, price, is_long) * size) for price in prices]
        return cls(*prices, *points, *amounts)


def trades_of(
    deals: Iterable[tuple[Record, tuple[float, float]]],
    orders: Sequence[Order],
    symbols: Mapping[str, Specification],
    costs: OpeningCosts,
) -> Iterator[Trade]:
    """Trades of all deals of an account, in their order.

    With each deal come the worst and the best price of what it closes. `orders` are those of the
    tags 1, 2, and so on, `symbols` those of the rows 0, 1, and so on; `costs` learns what is left
    with open positions.
    """
    names = list(symbols)
    for deal, prices in deals:
        name = names[deal["symbol"]]
        commission = costs.charged(deal, symbols[name])
        if not deal["closed_lots"]:
            continue
        is_long = deal["type"] == codes.SELL
        opened, closed = float(deal["open_price"]), float(deal["price"])
        profit, swap, lots = (float(deal[name]) for name in ("profit", "swap", "closed_lots"))
        size = lots * symbols[name].contract_size * float(deal["rate"])
        excursion = Excursion.of(prices, opened, size, symbols[name], costs, is_long=is_long)
        yield Trade(
            orders[deal["opened_by"] - 1].signal, name, "buy" if is_long else "sell",
            lots, int(deal["opened_msc"]), opened, int(deal["time_msc"]),
            closed, _reason(deal, orders), in_points(opened, closed, is_long, symbols[name].point),
            profit, commission, swap, costs.rounded(profit + commission + swap), *excursion,
        )  # fmt: skip


def in_points(opened: float, closed: float, is_long: bool, point: float) -> float:
    """A gain in points of a symbol."""
    return round(_gain(opened, closed, is_long) / point, 6)


def _gain(opened: float, closed: float, is_long: bool) -> float:
    return closed - opened if is_long else opened - closed


def _reason(deal: Record, orders: Sequence[Order]) -> str:
    """Stop or target, a signal to close, or one to the other side."""
    if not deal["tag"]:
        return _REASONS[int(deal["reason"])]
    return "close" if orders[deal["tag"] - 1].side == "close" else "opposite"
