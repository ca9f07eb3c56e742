"""Excursions of trades and the account's equity, against an account that is asked at each tick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cep.account.market import Market
from cep.account.orders import Order
from cep.account.rates import Route
from cep.backtest import course
from cep.backtest.equity import Equity
from cep.backtest.extremes import lowest
from cep.backtest.loop import Walker, walked
from cep.backtest.strides import strides
from cep.backtest.ticks import Ticks
from cep.backtest.trades import END
from cep.backtest.trading import Trading
from mt5bridge.broker import Specification, Terms, codes
from mt5bridge.broker.rates import DIRECT, INVERSE
from mt5bridge.broker.worth import MINUTE_MS, walk
from tests.backtest.test_trading import order, run, session, ticks_of

DAY_MS = 86_400_000
STEP_MS = 7 * MINUTE_MS
SYMBOLS = {
    "X": Specification(0.01, 0.01, 10.0, commission_per_lot=1.5, swap_mode=codes.SWAP_MONEY,
                       swap_long=-1.25, swap_short=0.5),
    "Y": Specification(0.01, 0.01, 3.0, slippage_points=2.0),
}  # fmt: skip


ROUTES: list[dict[str, Route]] = [
    {}, {"Y": (("X", DIRECT),)}, {"X": (("X", INVERSE),)},
    {"X": (("Y", DIRECT), ("X", INVERSE)), "Y": (("Y", INVERSE),)},
]  # fmt: skip
"""Profits that are converted at the quotes of the other symbol, of the same, and of both."""


OWN_ROUTES: list[dict[str, Route]] = [{}, {"X": (("X", INVERSE),)}]
"""The same where X is alone."""
BOTH = tuple(SYMBOLS)


class Session(NamedTuple):
    """Orders and ticks of one or two symbols."""

    orders: list[Order]
    ticks: Ticks
    terms: Terms
    routes: Mapping[str, Route] = {}
    names: Sequence[str] = BOTH


def drawn(
    seed: int,
    *,
    hedging: bool,
    digits: int | None,
    stop_out: bool = False,
    names: Sequence[str] = BOTH,
    step_ms: int = STEP_MS,
) -> Session:
    """Sessions of one symbol each, merged by place; some places are those of both."""
    found: list[tuple[int, int, int, float, float]] = []
    orders: list[Order] = []
    for row, name in enumerate(names):
        made, rows = session(2 * seed + row, 0.01)
        found += [(place, row, time * step_ms, bid, ask) for place, time, bid, ask in rows]
        late = {"time_msc": 0, "symbol": name, "valid_until_msc": 400 * DAY_MS}
        orders += [replace(one, **late) for one in made]  # type: ignore[arg-type]
    found.sort()
    places, rows_, times, bids, asks = map(np.array, zip(*found, strict=True))
    times = times * 40 if seed % 2 else times  # then there are nights
    terms = Terms(hedging, 500.0, money_digits=digits)
    if stop_out:  # three lots of Y block nearly all
        terms = replace(terms, balance=90.5, leverage=1.0, stop_out_percent=100.0)
    ticks = Ticks(rows_, places, times, bids, asks)
    return Session(sorted(orders, key=lambda one: one.order), ticks, terms, names=names)


def account_of(one: Session) -> Trading:
    symbols = {name: SYMBOLS[name] for name in one.names}
    found = Trading(one.orders, symbols, Market(terms=one.terms, symbols=symbols))
    for name, route in one.routes.items():
        found.convert(name, route)
    return found


def traded(one: Session, edges: list[int]) -> Trading:
    found = account_of(one)
    cut = [0, *sorted(min(edge, len(one.ticks)) for edge in edges), len(one.ticks)]
    for edge in pairwise(cut):
        found.push(one.ticks.part(slice(*edge)))
    return found


class Asked:
    """The slow, obvious way: the account is asked behind each tick."""

    def __init__(self, one: Session) -> None:
        account = account_of(one)
        broker = account._broker
        self.equity: list[float] = []
        self.balance: list[float] = []
        self.is_active: list[bool] = []
        self.spans: list[tuple[float, float]] = []
        """Of each closing, then of each open position: the worst and the best price."""
        seen: dict[int, list[float]] = {}
        for at in range(len(one.ticks)):
            deals = account.push(one.ticks.part(slice(at, at + 1)))
            for deal in deals[deals["closed_lots"] > 0]:
                self._close(seen, deal)
            for position in broker.positions:
                symbol = broker.state.symbols[position["symbol"]]
                price = symbol["bid"] if position["side"] > 0 else symbol["ask"]
                seen.setdefault(int(position["identifier"]), []).append(float(price))
            self.equity.append(broker.equity)
            self.balance.append(broker.balance)
            self.is_active.append(bool(len(deals) or len(broker.positions)))
        for position in broker.positions:
            self._span(seen, int(position["identifier"]), int(position["side"]), [])

    def _close(self, seen: dict[int, list[float]], deal: np.void) -> None:
        position, side = int(deal["position_id"]), 1 if deal["type"] == codes.SELL else -1
        self._span(seen, position, side, [float(deal["price"])])
        if deal["entry"] == codes.INOUT:
            seen.pop(position, None)

    def _span(self, seen: dict[int, list[float]], key: int, side: int, last: list[float]) -> None:
        prices = seen.get(key, []) + last
        worst, best = sorted((min(prices), max(prices)), reverse=side < 0)
        self.spans.append((worst, best))


def check(one: Session, edges: list[int]) -> Counter[str]:
    fast, slow = traded(one, edges), Asked(one)
    trades = fast.trades
    found = [(trade.worst_price, trade.best_price) for trade in trades]
    closed = sum(trade.reason != END for trade in trades)
    assert found[:closed] == slow.spans[:closed]
    assert sorted(found[closed:]) == sorted(slow.spans[closed:])
    for trade in trades:
        assert trade.mae_points <= trade.points <= trade.mfe_points
        assert trade.mae <= trade.profit + 1e-9 and trade.profit - 1e-9 <= trade.mfe
    compare(fast.equity, one, slow)
    cases = Counter(trade.reason for trade in trades)
    cases["swap"] = sum(trade.swap != 0.0 for trade in trades)
    cases["two at once"] = len(trades) - len({(trade.opened_msc, trade.symbol) for trade in trades})
    return cases


def compare(found: Equity, one: Session, slow: Asked) -> None:
    """Positions are worth whole cents each, their sum is rounded once: half a cent of each."""
    digits = one.terms.money_digits
    within = 1e-7 if digits is None else (len(one.orders) + 1) * 0.5 * 10**-digits
    start = one.terms.balance
    minutes: dict[int, list[int]] = {}
    newest = 0
    for at, time in enumerate(one.ticks.time_msc.tolist()):
        newest = max(newest, time)
        if slow.is_active[at]:
            minutes.setdefault(newest // MINUTE_MS, []).append(at)
    for column, expected in (
        (found.equity, [slow.equity[own[-1]] for own in minutes.values()]),
        (found.balance, [slow.balance[own[-1]] for own in minutes.values()]),
        (found.low, [min(slow.equity[at] for at in own) for own in minutes.values()]),
        (found.high, [max(slow.equity[at] for at in own) for own in minutes.values()]),
    ):
        assert column.tolist() == pytest.approx(expected, abs=within)
    peak, deepest, share = start, 0.0, 0.0
    for value in slow.equity:
        peak = max(peak, value)
        deepest, share = max(deepest, peak - value), max(share, (peak - value) / peak)
    assert found.drawdown == pytest.approx(deepest, abs=2 * within)
    assert found.drawdown_share == pytest.approx(share, abs=2 * within / start)


@given(
    st.integers(0, 2**31), st.lists(st.integers(0, 80), max_size=5), st.booleans(),
    st.sampled_from([None, 2]), st.booleans(), st.sampled_from(ROUTES),
)  # fmt: skip
@example(25797, [], False, None, True, {})  # a stop-out at a place that two symbols share
def test_as_an_account_that_is_asked_at_each_tick(
    seed: int, edges: list[int], hedging: bool, digits: int | None, stop_out: bool,
    routes: Mapping[str, Route],
) -> None:  # fmt: skip
    one = drawn(seed, hedging=hedging, digits=digits, stop_out=stop_out)
    check(one._replace(routes=routes), edges)


@given(
    st.integers(0, 2**31), st.lists(st.integers(0, 80), max_size=5), st.booleans(),
    st.sampled_from([None, 2]), st.booleans(), st.sampled_from(OWN_ROUTES),
    st.sampled_from([1, 900, 20_000]), st.integers(1, 60),
)  # fmt: skip
def test_the_only_symbol_of_an_account(
    seed: int, edges: list[int], hedging: bool, digits: int | None, stop_out: bool,
    routes: Mapping[str, Route], step_ms: int, batch: int,
) -> None:  # fmt: skip
    """Of which several ticks may be taken at once while it is open, minutes begin in between."""
    one = drawn(
        seed, hedging=hedging, digits=digits, stop_out=stop_out, names=("X",), step_ms=step_ms
    )._replace(routes=routes)
    check(one, edges)
    whole = gone_through(one, [], 1 << 16, strides)
    for walker in (strides, walk, walked.code):
        assert gone_through(one, edges, batch, walker) == whole


def test_minutes_that_begin_while_the_only_symbol_is_open() -> None:
    for seed in range(60):
        one = drawn(seed, hedging=seed % 3 == 0, digits=2, names=("X",), step_ms=20_000)
        assert gone_through(one, [], 1 << 16, walk) == gone_through(one, [], 1 << 16, strides)


def gone_through(one: Session, edges: list[int], batch: int, walker: Walker) -> tuple[object, ...]:
    """All that is said of an account, to the last digit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "BATCH_TICKS", batch)
        patch.setattr(course, "walk_for", lambda ticks: walker)
        account = traded(one, edges)
        found = account.equity
        return account.trades, *(
            column.tobytes() if isinstance(column, np.ndarray) else column
            for column in astuple(found)
        )


@given(
    st.integers(0, 2**31), st.lists(st.integers(0, 80), max_size=5), st.booleans(),
    st.sampled_from([None, 2]), st.booleans(), st.sampled_from(ROUTES), st.integers(1, 40),
)  # fmt: skip
def test_neither_batches_nor_the_compiler_change_a_digit(
    seed: int, edges: list[int], hedging: bool, digits: int | None, stop_out: bool,
    routes: Mapping[str, Route], batch: int,
) -> None:  # fmt: skip
    """Not even of the fall's share, which is not rounded."""
    one = drawn(seed, hedging=hedging, digits=digits, stop_out=stop_out)._replace(routes=routes)
    whole = gone_through(one, [], 1 << 16, strides)
    for walker in (strides, walk, walked.code):
        assert gone_through(one, edges, batch, walker) == whole


@given(
    st.integers(0, 2**31), st.booleans(), st.booleans(), st.sampled_from(ROUTES),
)  # fmt: skip
def test_quiet_ticks_make_no_deal_and_answer_no_order(
    seed: int, hedging: bool, stop_out: bool, routes: Mapping[str, Route]
) -> None:
    """However many there are, and the tick behind them may."""
    one = drawn(seed, hedging=hedging, digits=2, stop_out=stop_out)._replace(routes=routes)
    account, at, loud = account_of(one), 0, Counter[bool]()
    while at < len(one.ticks):
        rest, before = one.ticks.part(slice(at, None)), account.retcodes.tolist()
        count = account.quiet(rest)
        if count:
            assert not len(account.push(rest.part(slice(count))))
            assert account.retcodes.tolist() == before
        if count < len(rest):
            deals = account.push(rest.part(slice(count, count + 1)))
            loud[bool(len(deals) or account.retcodes.tolist() != before)] += 1
        at += count + 1
    assert loud[True] >= (len(account.deals) > 0)


def test_the_sessions_hold_every_hard_case() -> None:
    found: Counter[str] = Counter()
    for seed in range(150):
        digits = (None, 2)[seed // 2 % 2]
        one = drawn(seed, hedging=seed % 3 == 0, digits=digits, stop_out=seed % 3 == 1)
        found += check(one, [seed % 7, 20, 33])
    for case in ("stop", "target", "opposite", "close", "stop out", END, "swap", "two at once"):
        assert found[case] >= 5, (case, found)


def test_worked_by_hand() -> None:
    rows = ticks_of((1, 1), (1.0, 1.02), (0.9, 0.92), (1.3, 1.32), (1.2, 1.22))
    [trade] = run([order(10)], rows).trades
    assert (trade.worst_price, trade.best_price) == (0.9, 1.3)
    assert (trade.mae_points, trade.mfe_points) == (-12.0, 28.0)
    assert (trade.mae, trade.mfe) == (-0.24, 0.56)
    [short] = run([order(10, "sell")], rows).trades
    assert (short.worst_price, short.best_price, short.mae_points) == (1.32, 0.92, -32.0)


def test_what_is_passed_at_the_closing_tick_was_not_to_be_had() -> None:
    """A target fills at its own price, and a stop at that of its tick."""
    rows = ticks_of((1, 1), (1, 1), (2.0, 2.0))
    [reached] = run([order(10, target_points=10)], rows).trades
    assert (reached.best_price, reached.mfe_points, reached.mfe) == (1.1, 10.0, 0.2)
    [gap] = run([order(10, stop_points=10)], ticks_of((1, 1), (1, 1), (0.5, 0.6))).trades
    assert (gap.worst_price, gap.mae_points) == (0.5, -50.0)


def test_equity_falls_with_what_is_open() -> None:
    rows = ticks_of((1, 1), (1.0, 1.0), (0.5, 0.5), (1.5, 1.5))
    found = run([order(10), order(30, "close")], rows, terms=Terms(balance=10.0)).equity
    assert (found.equity.tolist(), found.balance.tolist()) == ([11.0], [11.0])
    assert (found.low.tolist(), found.high.tolist()) == ([9.0], [11.0])
    assert (found.drawdown, found.drawdown_share) == (1.0, 0.1)
    assert (found.peak_msc, found.trough_msc) == (20, 30)


def test_nothing_traded_is_flat() -> None:
    found = run([], ticks_of((1, 1), (2, 2)), terms=Terms(balance=10.0))
    assert found.trades == [] and not len(found.equity.time_msc)
    assert (found.equity.start, found.equity.drawdown, found.equity.drawdown_share) == (10.0, 0, 0)


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8),
)
def test_lowest_of_any_spans(values: list[int], spans: list[tuple[int, int]]) -> None:
    bounds = [tuple(sorted(min(edge, len(values)) for edge in span)) for span in spans]
    starts, ends = np.array(bounds, np.int64).reshape(-1, 2).T
    found = lowest(np.array(values, np.float64), starts, ends)
    expected = [min(values[start:end], default=np.nan) for start, end in bounds]
    assert found.tolist() == pytest.approx(expected, nan_ok=True)
