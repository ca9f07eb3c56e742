"""Rules that see the fills of their own signals: in parts as large as can be, and tick by tick."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.account.account_file import AccountFile, SymbolPart
from cep.account.market import Market
from cep.archive import Archive
from cep.backtest.account import Account
from cep.backtest.asked import asked
from cep.backtest.dealt import comment, dealt
from cep.backtest.gathered import gathered
from cep.backtest.options import Options
from cep.backtest.orders import orders
from cep.backtest.points import Point
from cep.backtest.records import read
from cep.backtest.results import Results, some
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.backtest.simulate import account_of, outcome_of, simulate, tick_selection
from cep.backtest.ticks import Ticks
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.market import DEAL_STREAM, TICK_STREAM
from cep.plan import compile_rules
from mt5bridge.broker import Terms
from tests.backtest.archives import SYMBOLS, imported, recorded
from tests.backtest.rules import BANDS, REVERSALS, TICK
from tests.campaign import examples

DEAL = """
define stream Deal (symbol string, ticket long, magic long, comment string, side string,
                    entry string, lots double, price double, profit double, reason int);
"""
CHAIN = """
define event Opened for each symbol as every Deal[entry == 'in' and magic == 77] repeat allow;
define event Stopped for each symbol as every Deal[reason == 4] repeat allow;
define event Fell for each symbol as Band[mid < ma - sd] repeat refresh;
define complex Again for each symbol as Opened followed by Fell within 25 min;
define complex Enough for each symbol as Opened followed by Opened within 20 min;
define signal Add on Again buy 0.20 lots stop 15 points target 25 points for 30 min;
define signal Out on Enough close for 1 hour;
define complex Loss for each symbol as Stopped within 1 sec;
define signal Back on Loss buy 0.05 lots stop 9 points for 1 hour;
from Deal select symbol, ticket, comment, side, lots, price, profit insert into Copies;
"""
FED_BACK = "".join((TICK, DEAL, BANDS, REVERSALS, CHAIN))
DEAF = "".join((TICK, DEAL, BANDS, REVERSALS, "from Deal select lots insert into Copies;"))
POINT = Point(1e-5, "given")
POINTS = dict.fromkeys(SYMBOLS, 1e-5)
SIGNALS = {"Fade", "Add", "Out", "Back"}
Build = Callable[[Path], Archive]


SIDES, ENTRIES = ("buy", "sell"), ("in", "out", "inout")


def one_by_one(
    rules: Compiled, selection: Selection, market: Market
) -> tuple[list[bytes], Account]:
    """What it means: a tick, what it leads to, the same tick at the account, then the deals."""
    run = rules.by_interpreter.begun(mode="sorted")
    account = Account(iter(()), SYMBOLS, lambda name: POINT, market, limits=market.limits)
    found: list[bytes] = []

    def took(rows: Rows, place: int) -> None:
        found.extend(rows.json_lines())
        account.signals([(place, row) for row in rows.dicts() if row["stream"] in SIGNALS])

    steps = read(selection.without(DEAL_STREAM), rules.plan)
    ticks = (tick for step in steps for tick in step[TICK_STREAM].to_pylist())
    for ingest, together in groupby(ticks, itemgetter("ingest")):
        deals = []  # which come behind all ticks that share a place
        for tick in together:
            shown = {**tick, "volume": tick["volume_real"]}
            took(run.push_row(TICK_STREAM, tick["time_msc"], shown), 2 * ingest)
            deals += pushed(account, tick["symbol"], 2 * ingest, tick)
        for deal in deals:
            took(run.push_row(DEAL_STREAM, deal.pop("time_msc"), deal), 2 * ingest + 1)
    return found, account


def pushed(account: Account, name: str, place: int, tick: dict[str, Any]) -> list[dict[str, Any]]:
    """The deals that a tick makes, as rules see them."""
    trading = account.trading
    if name not in trading.symbols:
        return []
    cells = trading.symbols.index(name), place, tick["time_msc"], tick["bid"], tick["ask"]
    deals = trading.push(Ticks(*(np.array([cell]) for cell in cells)))
    account.hear(deals)
    return [
        {
            **{key: deal[key].item() for key in ("ticket", "magic", "price", "profit", "reason")},
            "time_msc": int(deal["time_msc"]),
            "symbol": trading.symbols[deal["symbol"]],
            "comment": comment(deal, trading),
            "side": SIDES[deal["type"]],
            "entry": ENTRIES[deal["entry"]],
            "lots": deal["volume"].item(),
        }
        for deal in deals
    ]


def in_parts(
    rules: Compiled, archive: Archive, selection: Selection, market: Market
) -> tuple[list[bytes], Account]:
    account = account_of(archive, selection, rules.plan, POINTS, market)
    found = dealt(rules, selection, account)
    return [line for rows in found for line in rows.json_lines()], account


def outcomes(account: Account) -> tuple[Any, ...]:
    found = outcome_of(account)
    return found.trades, +found.refused, found.deals.tobytes()


@settings(max_examples=examples(6), deadline=None)
@given(
    st.integers(0, 10_000), st.booleans(), st.sampled_from([0, 0, 5_000, 400_000]),
    st.sampled_from([(1.0,), (0.6, 0.4)]), st.sampled_from([1, 7, 256]),
    st.sampled_from(
        [{}, {}, {"lots_per_symbol": 0.3}, {"orders_per_minute": 1}, {"loss_per_day": 1e-5}]
    ),
    st.sampled_from(["", "EUR", "USD"]),
)  # fmt: skip
def test_fills_come_back_as_if_all_went_tick_by_tick(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    hedging: bool,
    latency_ms: int,
    fills: tuple[float, ...],
    window: int,
    risk: dict[str, float],
    currency: str,
) -> None:
    archive = imported(tmp_path_factory.mktemp("any"), seed=seed, rows=120)
    plan = compile_rules(FED_BACK)
    rules, selection = Compiled(plan), select(archive, plan)
    told = AccountFile(risk=risk, symbols={"^GSPC": SymbolPart(profit_currency="USD")})
    market = Market(Terms(hedging, fills=fills, currency=currency), latency_ms, account=told)
    expected, reference = one_by_one(rules, selection, market)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cep.backtest.dealt.WINDOW", window)
        patch.setattr("cep.backtest.account.LOOK_TICKS", window)
        found, account = in_parts(rules, archive, selection, market)
    assert found == expected
    assert outcomes(account) == outcomes(reference)


def test_the_rules_are_fed_back_at_all(tmp_path: Path) -> None:
    archive = imported(tmp_path, rows=600)
    plan = compile_rules(FED_BACK)
    found, account = in_parts(Compiled(plan), archive, select(archive, plan), Market())
    seen = Counter(json.loads(line)["stream"] for line in found)
    assert min(seen[name] for name in ("Copies", "Opened", "Stopped", "Again", *SIGNALS)) > 0, seen
    deals = account.trading.deals
    assert seen["Copies"] == len(deals) > 100
    copies = [json.loads(line) for line in found if b'"stream":"Copies"' in line]
    assert [row["ticket"] for row in copies] == deals["ticket"].tolist()
    assert copies[0]["comment"].startswith("0000000000000001 Fade")
    assert any(row["comment"].startswith("[sl ") for row in copies)


@pytest.mark.parametrize("build", [recorded, imported])
def test_rules_that_do_nothing_with_fills_trade_as_those_that_see_none(
    tmp_path: Path, build: Build
) -> None:
    archive = build(tmp_path)
    deaf, blind = compile_rules(DEAF), compile_rules(TICK + BANDS + REVERSALS)
    found, account = in_parts(Compiled(deaf), archive, select(archive, deaf), Market())
    selection, results = select(archive, blind), Results(blind)
    for rows in sequential(Compiled(blind, machine="always"), selection):
        results.take(rows)
    wanted, _ = orders(results.signals, 60_000)
    expected = simulate(tick_selection(archive, selection, set(SYMBOLS)), wanted, POINTS)
    assert outcome_of(account).trades == expected.trades
    assert len(account.trading.deals) == sum(b'"stream":"Copies"' in line for line in found) > 100


def test_recorded_deals_are_not_among_those_of_the_account(tmp_path: Path) -> None:
    """Those of the archive have comments like `leg 1`, and rules see them elsewhere."""
    archive = recorded(tmp_path)
    plan = compile_rules(FED_BACK)
    found, account = in_parts(Compiled(plan), archive, select(archive, plan), Market())
    copies = [json.loads(line) for line in found if b'"stream":"Copies"' in line]
    assert len(copies) == len(account.trading.deals) > 20
    assert not any("leg" in row["comment"] for row in copies)


def test_no_order_is_beyond_a_limit(tmp_path: Path) -> None:
    """Signals are judged by the risk guard before they become orders, whatever the rules see."""
    archive = imported(tmp_path, rows=400)
    plan = compile_rules(TICK + BANDS + REVERSALS)
    rules, selection = Compiled(plan, machine="always"), select(archive, plan)

    def traded(**risk: float) -> Account:
        market = Market(account=AccountFile(risk=risk))
        account = account_of(archive, selection, plan, POINTS, market)
        for _ in dealt(rules, selection, account, shows_deals=False):
            pass
        return account

    free, few = traded(lots_per_day=1e9), traded(lots_per_symbol=0.2)
    assert len(free.trading.orders) > 40 and not +free.refused
    held: Counter[int] = Counter()
    for deal in few.trading.deals:
        held[int(deal["symbol"])] += round(100 * deal["volume"]) * (1 if deal["type"] == 0 else -1)
        assert abs(held[int(deal["symbol"])]) <= 20
    assert few.refused["limit lots_per_symbol"] > 3
    slow = traded(orders_per_minute=1)
    times = [order.time_msc for order in slow.trading.orders]
    assert min(np.diff(times)) >= 60_000 and slow.refused["limit orders_per_minute"] > 3
    day_ms, sent = 86_400_000, Counter[int]()
    day = traded(lots_per_day=1.0)
    for order in day.trading.orders:
        sent[order.time_msc // day_ms] += round(100 * order.lots)
    assert max(sent.values()) == 100 and day.refused["limit lots_per_day"] > 3
    lost = traded(loss_per_day=1e-9)
    assert 0 < len(lost.trading.orders) < len(free.trading.orders) / 4
    assert lost.refused["limit loss_per_day"] > 3


def test_rules_stop_where_they_signal_and_not_where_they_put_out_rows() -> None:
    """Each tick leads to a row here: going on from each would cost a hundred times the rules."""
    text = TICK + "from Tick select symbol, bid insert into Bids;"
    plan = compile_rules(text + "define signal Buy on Bids[bid > 2.0] buy;")
    program = Compiled(plan, jit=False).as_program("sorted")
    assert program is not None
    run = program.begun(mode="sorted")
    bids = np.array([1.0, 1.1, 2.1, 1.2, 1.3, 2.2, 1.4])
    columns = {
        name: ["EURUSD"] * 7 if name == "symbol" else np.zeros(7, np.int64)
        for name in plan.stream(TICK_STREAM).schema.names
    }
    columns["bid"] = bids
    batch = run.encoder.encode(TICK_STREAM, columns, np.arange(7), np.arange(7))
    stops, start = [], 0
    while start < len(batch):
        start, rows = run.feed_until_signal(batch, start)
        stops.append((start, [row["stream"] for row in rows.dicts()]))
    assert stops == [(3, [*["Bids"] * 3, "Buy"]), (6, [*["Bids"] * 3, "Buy"]), (7, ["Bids"])]


@pytest.mark.parametrize("size", [1, 5, 1 << 13])
def test_pieces_are_gathered_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    archive = imported(tmp_path, rows=200)
    plan = compile_rules(FED_BACK)
    run = Compiled(plan, jit=False).begun(mode="sorted")
    pieces = list(sequential(Compiled(plan, jit=False), select(archive, plan)))
    small = [some(rows, slice(n, n + 1)) for rows in pieces for n in range(len(rows))]
    monkeypatch.setattr("cep.backtest.gathered.GATHERED_ROWS", size)
    found = list(gathered(iter([*small, *pieces]), run.masks))
    expected = [line for rows in [*pieces, *pieces] for line in rows.json_lines()]
    assert [line for rows in found for line in rows.json_lines()] == expected
    assert len(expected) > 400 and len(found) <= -(-len(expected) // size)


def test_fills_that_nobody_reads_are_not_waited_for(tmp_path: Path) -> None:
    archive = imported(tmp_path, rows=50)
    own = "define signal Buy on Tick[bid < 0.0] buy;"
    unread, read_ = TICK + DEAL + own, TICK + DEAL + own + "from Deal select lots insert into Lots;"
    assert not asked((unread, "a.cep"), archive.directory, Options()).has_account
    assert asked((read_, "a.cep"), archive.directory, Options()).has_account
