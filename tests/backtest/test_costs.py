"""Costs of each trade: none is lost or counted twice, to the cent of the account's balance."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.account.account_file import AccountFile, AccountPart, SymbolPart
from cep.account.market import Market
from cep.account.orders import Order
from cep.archive import Archive
from cep.backtest.metrics import ALL, by_signal
from cep.backtest.page import Findings, report
from cep.backtest.results import Results
from cep.backtest.selection import select
from cep.backtest.simulate import Outcome, simulate, tick_selection
from cep.backtest.ticks import Ticks
from cep.backtest.trades import END
from cep.backtest.trading import Trading
from cep.plan import compile_rules
from cep.report import render
from mt5bridge.broker import Specification, Terms, codes
from tests.backtest.archives import POINTS, imported
from tests.backtest.rules import TICK
from tests.backtest.test_trading import as_ticks, session

DAY_MS = 86_400_000
SIDES = [codes.EACH_SIDE, codes.ENTRY_SIDE, codes.EXIT_SIDE]
SYMBOL = Specification(
    0.01, 0.01, 10.0, commission_per_lot=1.37, commission_per_mille=0.3,
    swap_mode=codes.SWAP_MONEY, swap_long=-1.11, swap_short=0.37,
)  # fmt: skip
PLAIN = Terms(balance=10_000.0, money_digits=2)


def naive(trading: Trading, side: int) -> list[Fraction]:
    """The commission of each trade, exactly: every deal is charged by the lot, none is rounded."""
    pools: dict[int, tuple[Fraction, Fraction]] = {}
    found = []
    for deal in trading.deals:
        key = int(deal["position_id"])
        lots, closed = (Fraction(round(1e8 * deal[name])) / 10**8
                        for name in ("volume", "closed_lots"))  # fmt: skip
        charged = {codes.EACH_SIDE: lots, codes.ENTRY_SIDE: lots - closed}.get(side, closed)
        a_lot = Fraction(float(deal["commission"])) / charged if charged else Fraction(0)
        closing = Fraction(0) if side == codes.ENTRY_SIDE else a_lot * closed
        held, pool = pools.pop(key, (Fraction(0), Fraction(0)))
        if closed:
            found.append(closing + pool * closed / held)
            held, pool = held - closed, pool - pool * closed / held
        opening = Fraction(0) if side == codes.EXIT_SIDE else a_lot * (lots - closed)
        if held + lots - closed:
            pools[key] = held + lots - closed, pool + opening
    open_ = {int(position["identifier"]) for position in trading._broker.positions}
    assert open_ == pools.keys()
    return [*found, *(pool for _, pool in pools.values())]


def traded(
    seed: int, side: int, digits: int, edges: list[int], *, hedging: bool, fills: tuple[float, ...]
) -> Trading:
    """A session whose ticks lie hours apart, so that there are nights, in batches."""
    orders, rows = session(seed, 0.01)
    slow = [(place, time * DAY_MS // 3, bid, ask) for place, time, bid, ask in rows]
    later = [
        replace(one, time_msc=one.time_msc * DAY_MS // 3,
                valid_until_msc=one.valid_until_msc * DAY_MS) for one in orders
    ]  # fmt: skip
    part = AccountPart(hedging=hedging, balance=5_000.0, money_digits=digits, fills=fills)
    market = Market(AccountFile(account=part).terms(PLAIN))
    found = Trading(later, {"X": replace(SYMBOL, commission_side=side)}, market)
    for start, stop in pairwise([0, *sorted(min(e, len(slow)) for e in edges), len(slow)]):
        found.push(as_ticks(slow[start:stop]))
    return found


def check(found: Trading, side: int, digits: int) -> Counter[str]:
    """Sums are exact; single shares are those of exact ones but for what rounding moves."""
    trades, money = found.trades, found.money
    cent = 10**-digits

    def total(name: str, *, is_closed: bool = False) -> float:
        return sum(float(getattr(t, name)) for t in trades if not (is_closed and t.reason == END))

    assert total("commission") == pytest.approx(money.commission, abs=cent / 100)
    assert total("net") == pytest.approx(money.equity - money.start, abs=cent / 100)
    assert total("profit", is_closed=True) == pytest.approx(money.profit, abs=cent / 100)
    assert total("swap", is_closed=True) == pytest.approx(money.swap, abs=cent / 100)
    opening = sum(t.commission for t in trades if t.reason == END)
    gained = total("net", is_closed=True) + opening
    assert money.start + gained == pytest.approx(money.balance, abs=cent / 100)
    all_ = by_signal(trades, 1)[ALL]
    assert all_.net == pytest.approx(money.equity - money.start, abs=cent / 100)
    assert all_.net == pytest.approx(all_.profit + all_.costs, abs=cent / 100)
    expected = sorted(float(share) for share in naive(found, side))
    assert sorted(t.commission for t in trades) == pytest.approx(expected, abs=3 * cent)
    return Counter(t.reason for t in trades)


@given(
    st.integers(0, 2**32), st.sampled_from(SIDES), st.sampled_from([0, 2, 3]),
    st.lists(st.integers(0, 40), max_size=3), st.booleans(),
    st.sampled_from([(1.0,), (0.6, 0.4)]),
)  # fmt: skip
def test_trades_bear_what_the_account_was_charged(
    seed: int, side: int, digits: int, edges: list[int], hedging: bool, fills: tuple[float, ...]
) -> None:
    check(traded(seed, side, digits, edges, hedging=hedging, fills=fills), side, digits)


def test_the_sessions_hold_every_hard_case() -> None:
    found: Counter[str] = Counter()
    for seed in range(60):
        trading = traded(seed, SIDES[seed % 3], 2, [], hedging=seed % 2 == 0, fills=(0.6, 0.4))
        found += check(trading, SIDES[seed % 3], 2)
        found["turned"] += int((trading.deals["entry"] == codes.INOUT).sum())
        found["swap"] += int((trading.deals["swap"] != 0).sum())
    assert min(found[case] for case in ("stop", "close", "opposite", END, "turned", "swap")) > 2


def test_worked_by_hand() -> None:
    """0.3 lots bought for 3.00 are closed in parts: the cent that is left goes with the last."""
    market = Market(AccountFile().terms(PLAIN))
    symbol = Specification(0.01, contract_size=100.0, commission_per_lot=1 / 0.3)
    asked = [
        Order(10 * n, n, "Go", "X", side, lots, None, None, 99)
        for n, side, lots in ((1, "buy", 0.3), (2, "sell", 0.1), (3, "sell", 0.2))
    ]
    trading = Trading(asked, {"X": symbol}, market)
    steps = np.arange(1, 6)
    prices = (1 + steps).astype(np.float64)
    trading.push(Ticks(np.zeros(5, np.int64), 10 * steps, steps, prices, prices))
    found = trading.trades
    assert [(t.lots, t.profit, t.commission, t.swap, t.net) for t in found] == [
        (0.1, 10.0, -0.66, 0.0, 9.34), (0.2, 40.0, -1.34, 0.0, 38.66),
    ]  # fmt: skip
    assert (trading.money.commission, trading.money.balance) == (-2.0, 10_048.0)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return imported(tmp_path_factory.mktemp("archive"), rows=300)


def outcome_of(archive: Archive, file: AccountFile, asked: list[Order]) -> Outcome:
    plan = compile_rules(TICK)
    ticks = tick_selection(archive, select(archive, plan), {"EURUSD"})
    return simulate(ticks, asked, POINTS, Market(file.terms(PLAIN), account=file))


def test_the_report_shows_the_money_of_the_account(archive: Archive, tmp_path: Path) -> None:
    """Its table, summary and chart are those of the account, to the cent."""
    plan = compile_rules(TICK)
    selection = select(archive, plan)
    first, last = selection.interval_msc
    part = SymbolPart(contract_size=100_000.0, commission_per_lot=3.5)
    file = AccountFile(account=AccountPart(balance=1_234_567.0), symbols={"EURUSD": part})
    asked = [
        Order(40 * n, first, "Go", "EURUSD", side, 0.5, 30, 40, last + 1)
        for n, side in enumerate(("buy", "sell", "buy"))
    ]
    outcome = outcome_of(archive, file, asked)
    assert len(outcome.trades) >= 2 and outcome.money.commission < 0
    found = by_signal(outcome.trades, selection.span_ms)
    findings = Findings("Costs", "", Results(plan), outcome, found, [])
    page = report(findings, tick_selection(archive, selection, {"EURUSD"}))
    account = {name: text for table in page.tables if table.title == "Account"
               for name, text in table.rows}  # fmt: skip
    assert account["Balance at first"] == "1,234,567.00"
    assert account["Equity"] == f"{outcome.money.equity:,.2f}"
    assert account["Commission"] == f"{outcome.money.commission:,.2f}"
    gained = outcome.money.equity - outcome.money.start
    assert dict(page.summary)["Net profit"] == f"{gained:,.2f}"
    [chart] = [chart for chart in page.charts if chart.symbol == "Equity"]
    assert chart.series[0].values[-1] == pytest.approx(outcome.money.equity, abs=1e-6)
    results = next(table for table in page.tables if table.title == "Results")
    net = list(results.columns).index("Net")
    assert results.rows[-1][net] == f"{gained:,.2f}"
    assert "1,234,567.00" in render(page)


def test_an_account_that_trades_nothing_has_its_money(archive: Archive) -> None:
    money = outcome_of(archive, AccountFile(account=AccountPart(balance=50.0)), []).money
    assert (money.start, money.balance, money.equity, money.digits) == (50.0, 50.0, 50.0, 2)
