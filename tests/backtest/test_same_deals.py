"""The simulated terminal's account and a backtest over the same records: the same deals."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cep.account.market import Market
from cep.account.orders import Order
from cep.archive import Archive
from cep.backtest.orders import orders
from cep.backtest.records import order_of, shown_tables
from cep.backtest.results import Results
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.backtest.simulate import PRICES, simulate, tick_selection
from cep.backtest.trading import TAKEN_BACK
from cep.engine.native import Compiled
from cep.live.signals import signal_of
from cep.market import TICK_STREAM
from cep.plan import compile_rules
from mt5bridge.broker import Terms, codes
from mt5bridge.records import TICK
from mt5bridge.simulator import Account, simulated_symbol
from mt5bridge.simulator.account import specification
from mt5bridge.simulator.deals import as_deals
from mt5bridge.simulator.wish import Wish, wish_of
from tests.backtest.archives import POINTS, SYMBOLS, recorded
from tests.backtest.rules import CHAINED

PLAN = compile_rules(CHAINED)
TRADED = [simulated_symbol(name) for name in sorted(SYMBOLS)]
SLIPPING = {
    "slippage_spread": 0.5, "impact_points": 2.0, "slippage_random_points": 9.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return recorded(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def made(archive: Archive) -> list[Order]:
    found = Results(PLAN)
    for rows in sequential(Compiled(PLAN), select(archive, PLAN)):
        found.take(rows)
    return orders(found.signals, 60_000)[0]


def lived(account: Account, ticks: Selection, made: list[Order], latency_ms: int) -> list[Wish]:
    """The market tick by tick, and each signal at the first one that may execute it."""
    waiting = {symbol.name: deque[tuple[int, Order]]() for symbol in TRADED}
    signals = [signal_of(order, number, 0) for number, order in enumerate(made, 1)]
    for pair in enumerate(made):
        waiting[pair[1].symbol].append(pair)
    for table in shown_tables(ticks, TICK_STREAM, PRICES):
        places = order_of(table["ingest"].to_numpy(), TICK_STREAM)
        for place, row in zip(places.tolist(), table.to_pylist(), strict=True):
            tick = np.zeros(1, TICK)
            for name in ("time_msc", "bid", "ask"):
                tick[name] = row[name]
            account.take_ticks({row["symbol"]: tick})
            queue = waiting[row["symbol"]]
            while queue and queue[0][1].order < place:
                if queue[0][1].time_msc + latency_ms > row["time_msc"]:
                    break
                account.execute(signals[queue.popleft()[0]])
    return [wish_of(signal) for signal in signals]


@pytest.mark.parametrize(
    ("hedging", "fills", "latency_ms", "more"),
    [
        (False, (1.0,), 0, {}), (True, (1.0,), 0, {}), (False, (0.6, 0.4), 250, {}),
        (True, (0.5, 0.5), 90_000, SLIPPING),
    ],
)  # fmt: skip
def test_the_terminal_and_the_backtest_make_the_same_deals(
    archive: Archive, made: list[Order], hedging: bool, fills: tuple[float, ...], latency_ms: int,
    more: dict[str, float],
) -> None:  # fmt: skip
    ticks = tick_selection(archive, select(archive, PLAN), set(SYMBOLS))
    account = Account(fills, hedging=hedging)
    specifications = {
        symbol.name: replace(specification(symbol), **more) for symbol in TRADED
    }  # fmt: skip
    for symbol in TRADED:
        account.add(symbol, specifications[symbol.name])
    wishes = lived(account, ticks, made, latency_ms)
    terms = Terms(hedging, 10_000.0, 0.0, 2, fills, 1_000_001)
    outcome = simulate(
        ticks, made, POINTS, Market(terms, latency_ms, magic=0, symbols=specifications)
    )
    assert list(outcome.points) == [symbol.name for symbol in TRADED]
    assert as_deals(outcome.deals, TRADED, wishes).tobytes() == account.deals.tobytes()
    assert len(account.deals) > 50 and {0, 1} <= set(account.deals["entry"].tolist())


def priced(made: list[Order], prices: dict[str, list[tuple[int, float]]]) -> list[Order]:
    """Each second order waits at a price, one of three has levels and distances in prices, and what
    closes closes a part. Some change what is held, or take back what is pending.
    """
    found = []
    for at, one in enumerate(made):
        bid = next(bid for place, bid in reversed(prices[one.symbol]) if place <= one.order)
        unit, side = bid * 1e-5, 1 if one.side == "buy" else -1
        more: dict[str, Any] = {"valid_until_msc": one.time_msc + 600_000}
        if at % 5 == 4:
            more |= {"side": ("modify", "cancel")[at % 2], "lots": 0.0}
            more |= {"stop_points": None, "target_points": None}
            more |= {"stop_distance": 8 * unit} if at % 2 == 0 else {}
        elif one.side == "close":
            more = {"lots": (0.0, 0.05)[at % 2]}
        elif kind := ("", "limit", "", "stop")[at % 4]:
            away = side * (at % 5) * unit
            more |= {"kind": kind, "price": bid + (4 * away if kind == "stop" else -away)}
        if one.side != "close" and at % 3 == 0 and at % 5 != 4:
            more |= {"stop_points": None, "target_points": None}
            more |= {"stop": bid - side * 9 * unit, "target_distance": 7 * unit}
            more |= {"lots": (0.0, 2.0)[at % 2], "risk_percent": 0.01} if at % 6 == 3 else {}
        found.append(replace(one, **more))
    return found


@pytest.mark.parametrize("hedging", [False, True])
def test_signals_with_prices_make_the_same_deals(
    archive: Archive, made: list[Order], hedging: bool
) -> None:
    """Limit and stop orders, levels, distances in prices and closing in part."""
    ticks = tick_selection(archive, select(archive, PLAN), set(SYMBOLS))
    prices: dict[str, list[tuple[int, float]]] = {name: [] for name in SYMBOLS}
    for table in shown_tables(ticks, TICK_STREAM, PRICES):
        places = order_of(table["ingest"].to_numpy(), TICK_STREAM)
        for place, row in zip(places.tolist(), table.to_pylist(), strict=True):
            prices[row["symbol"]].append((place, row["bid"]))
    wanted = priced(made, prices)
    account = Account(hedging=hedging)
    for symbol in TRADED:
        account.add(symbol)
    wishes = lived(account, ticks, wanted, 0)
    terms = Terms(hedging, 10_000.0, 0.0, 2, (1.0,), 1_000_001)
    symbols = {symbol.name: specification(symbol) for symbol in TRADED}
    outcome = simulate(ticks, wanted, POINTS, Market(terms, 0, magic=0, symbols=symbols))
    assert as_deals(outcome.deals, TRADED, wishes).tobytes() == account.deals.tobytes()
    filled = {outcome.orders[tag - 1].kind for tag in outcome.deals["tag"].tolist() if tag}
    assert filled == {"", "limit", "stop"}
    assert {codes.BY_STOP, codes.BY_TARGET} <= set(outcome.deals["reason"].tolist())
    done = {
        one.side
        for one, code in zip(outcome.orders, outcome.retcodes.tolist(), strict=True)
        if code == codes.DONE
    }
    assert {"modify", "cancel"} <= done and TAKEN_BACK in outcome.retcodes


def test_three_sells_are_three_deals(archive: Archive, made: list[Order]) -> None:
    """As at the terminal; one of them was a trade and two were refused."""
    sells = [order for order in made if order.side == "sell" and order.symbol == "EURUSD"][:3]
    plain = [
        Order(o.order, o.time_msc, o.signal, o.symbol, "sell", 0.1, None, None, 1 << 60)
        for o in sells
    ]
    ticks = tick_selection(archive, select(archive, PLAN), {"EURUSD"})
    outcome = simulate(ticks, plain, POINTS)
    assert outcome.deals["volume"].tolist() == [0.1] * 3 and not outcome.refused
    assert [trade.lots for trade in outcome.trades] == [0.3]
