"""`--account FILE`: every key reaches the broker, mistakes are named, and money adds up."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.account.account_file import (
    DAYS,
    AccountFile,
    AccountFileError,
    SymbolPart,
    laid_over,
    read_account,
)
from cep.account.known import SpecificationError, known
from cep.account.market import Market, market_at
from cep.account.orders import Order
from cep.backtest.ticks import Ticks
from cep.backtest.trading import Trading
from mt5bridge.broker import REQUEST, Broker, Specification, Terms, codes
from mt5bridge.orders import Limits
from tests.campaign import examples

EVERYTHING = """
[account]
hedging = true
balance = 500.0
currency = "CHF"
leverage = 30
money_digits = 3
stop_out_percent = 20
server_ahead_hours = 2
fills = [0.5, 0.5]

[symbols.EURUSD]
point = 0.00001
tick_size = 0.00005
contract_size = 100000
profit_currency = "JPY"
volume_min = 0.01
volume_max = 50
volume_step = 0.01
stops_level_points = 3
freeze_level_points = 2
depth_lots = 2.5
filling_modes = ["ioc", "return"]
slippage_points = 4
slippage_spread = 0.25
impact_points = 2
impact_lots = 5
impact_power = 0.5
slippage_range = 0.1
slippage_range_seconds = 30
slippage_random_points = 3
slippage_seed = 7
commission_per_lot = 3.5
commission_per_mille = 0.02
commission_side = "exit"
swap_mode = "percent"
swap_long = -1.5
swap_short = 0.5
swap_triple_day = "friday"
sessions = ["monday-tuesday 01:00-24:00", "friday 00:00-22:59"]

[symbols."*"]
commission_per_lot = 1.0
"""


SLIPPING = {
    "slippage_spread": 0.25, "impact_points": 2.0, "impact_lots": 5.0, "impact_power": 0.5,
    "slippage_range": 0.1, "slippage_range_ms": 30_000, "slippage_random_points": 3.0,
    "slippage_seed": 7,
}  # fmt: skip


def read(folder: Path, text: str) -> AccountFile:
    path = folder / "account.toml"
    path.write_text(text)
    return read_account(path)


def test_every_key_reaches_the_broker(tmp_path: Path) -> None:
    found = read(tmp_path, EVERYTHING)
    assert found.terms(Terms()) == Terms(
        True,
        500.0,
        30.0,
        3,
        (0.5, 0.5),
        stop_out_percent=20.0,
        server_ahead_ms=7_200_000,
        currency="CHF",
    )
    market = Market(slippage_points=9.0, account=found)
    assert market.specification("EURUSD", 1e-5) == Specification(
        1e-5, 5e-5, 100_000.0, 0.01, 50.0, 0.01, 3.0, 2.0, 4.0, 3.5, 0.02, codes.EXIT_SIDE,
        codes.SWAP_PERCENT, -1.5, 0.5, 5,
        tuple((60_000 * first, 60_000 * end) for first, end in
              ((1_500, 2_880), (2_940, 4_320), (7_200, 8_579))),
        *SLIPPING.values(), 2.5, codes.IOC, 1 << codes.IOC | 1 << codes.RETURN,
        "JPY",
    )  # fmt: skip
    assert market.specification("XAUUSD", 0.01) == Specification(
        0.01, 0.01, slippage_points=9.0, commission_per_lot=1.0
    )
    assert found.points == {"EURUSD": 1e-5}
    said = {name.replace("_seconds", "_ms") for name in SymbolPart.__struct_fields__}
    assert (said | {"filling"}) - {"tick_value"} == set(Specification.__dataclass_fields__)


def test_a_file_that_says_nothing_of_money_makes_no_account(tmp_path: Path) -> None:
    """docs/backtest.md: "otherwise a backtest has no account's money, as without a file"."""
    path = tmp_path / "account.toml"
    for text, balance in (("hedging = true", 0.0), ("leverage = 30", 10_000.0), ("balance = 5", 5)):
        path.write_text(f"[account]\n{text}\n")
        terms = market_at(known(path), Terms(), 0, 0.0).terms
        assert (terms.balance, terms.money_digits) == (balance, 2 if balance else None)


def test_rates_of_swap_need_their_mode(tmp_path: Path) -> None:
    market = Market(account=read(tmp_path, '[symbols."A \\"B\\""]\nswap_long = -7.1'))
    with pytest.raises(SpecificationError, match='a rate of swap is told of A "B"') as caught:
        market.check_told(['A "B"'])
    head = '[symbols."A \\"B\\""]'
    assert head in caught.value.hint
    market = Market(account=read(tmp_path, f"{head}\nswap_long = -7.1\nswap_mode = 'none'"))
    market.check_told(['A "B"'])


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("tick_size = 0.25\ntick_value = 12.5", 50.0),
        ("point = 0.00001\ntick_value = 1", 100_000.0),
        ("tick_size = 0.001\ntick_value = 0.9", 900.0),
        ("tick_size = 0.25\ntick_value = 12.5\ncontract_size = 50", 50.0),
    ],
)
def test_the_value_of_a_tick_says_what_a_contract_is(
    tmp_path: Path, text: str, size: float
) -> None:
    file = read(tmp_path, f"[account]\nbalance = 5\n[symbols.X]\n{text}")
    market = Market(account=file)
    market.check_told(["X"])
    assert market.specification("X", 0.00001).contract_size == size


def test_a_contract_size_stands_over_the_value_that_somebody_else_told() -> None:
    told = SymbolPart(tick_size=0.25, tick_value=12.5, contract_size=1.0)
    plain = Specification(0.25, 0.25)
    assert told.specification(plain, 0.0).contract_size == 50.0
    assert SymbolPart(contract_size=20.0).over(told).specification(plain, 0.0).contract_size == 20
    assert SymbolPart(tick_value=5.0).over(told).specification(plain, 0.0).contract_size == 20.0
    assert laid_over({"tick_value": 12.5}, {"contract_size": 20.0})["tick_value"] is None
    both = {"tick_value": 5.0, "contract_size": 1.0}
    assert laid_over({"tick_value": 12.5}, both) == both


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("[account]\nbalance = 10000", "EURUSD, XAUUSD"),
        ("[account]\ncurrency = 'USD'", "EURUSD, XAUUSD"),
        ("[account]\nleverage = 30\n[symbols.EURUSD]\ncontract_size = 1", "XAUUSD"),
        ("[symbols.EURUSD]\ncommission_per_lot = 1", "EURUSD"),
        ("[symbols.'*']\nswap_mode = 'money'", "EURUSD, XAUUSD"),
        ("[account]\nbalance = 5\n[symbols.'*']\ncontract_size = 10", ""),
        ("[account]\nhedging = true\nfills = [0.5, 0.5]", ""),
        ("[risk]\nlots_per_day = 3", ""),
        ("[risk]\nloss_per_day = 3", "EURUSD, XAUUSD"),
        ("[symbols.'*']\ncommission_per_mille = 1\nswap_mode = 'points'", ""),
    ],
)
def test_money_needs_a_contract_size(tmp_path: Path, text: str, untold: str) -> None:
    """docs/backtest.md: "a run whose account has money, or whose symbols cost amounts, is refused
    as long as nobody tells it"."""
    market = Market(account=read(tmp_path, text))
    with pytest.raises(SpecificationError) if untold else nullcontext() as caught:
        market.check_told(["XAUUSD", "EURUSD"])
    if caught is not None:
        assert f"contract size of {untold}, and" in str(caught.value)
        assert untold.partition(",")[0] in caught.value.hint


def test_the_risk_guard_has_its_limits(tmp_path: Path) -> None:
    text = "[risk]\nlots_per_day = 3.5\nsymbols = ['EURUSD']\norders_per_minute = 2"
    found = Market(account=read(tmp_path, text)).limits
    assert found == Limits(lots_per_day=3.5, symbols=("EURUSD",), orders_per_minute=2)
    assert Market(account=read(tmp_path, "")).limits is None


@settings(max_examples=examples(60))
@given(
    st.integers(0, 6), st.integers(0, 6), st.integers(0, 1439), st.integers(1, 1440),
    st.integers(0, 4_000_000_000_000), st.sampled_from([0, 2, -5]),
)  # fmt: skip
def test_a_symbol_is_traded_in_its_sessions(
    one: int, other: int, first: int, length: int, time_msc: int, ahead: int
) -> None:
    """By the calendar: the day of the week and the time of the server's clock."""
    days, last = sorted((one, other)), min(first + length, 1440)
    clock = "-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in (first, last))
    text = f"{DAYS[days[0]]}-{DAYS[days[1]]} {clock}"
    symbol = SymbolPart(sessions=(text,)).specification(Specification(1.0), 0.0)
    broker = Broker(Terms(server_ahead_ms=ahead * 3_600_000), [symbol])
    broker.tick(0, time_msc, 10.0, 11.0)
    then = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time_msc, hours=ahead)
    minute = 60 * then.hour + then.minute
    is_open = days[0] <= then.isoweekday() % 7 <= days[1] and first <= minute < last
    request = np.zeros(1, REQUEST)[0]
    request["action"], request["lots"] = codes.DEAL, 1.0
    expected = codes.DONE if is_open else codes.MARKET_CLOSED
    assert broker.execute(request)["retcode"] == expected


def test_symbols_that_the_file_does_not_name_cost_nothing(tmp_path: Path) -> None:
    market = Market(account=read(tmp_path, "[symbols.EURUSD]\ncommission_per_lot = 7"))
    assert market.specification("XAUUSD", 0.01) == Specification(0.01, 0.01)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[account]\nleverage = 'high'",
            "`account.leverage`: expected a number, got text in quotes",
        ),
        ("[account]\nfills = [0.5]", "make their sum 1"),
        (
            "[symbols.EURUSD]\ncomission_per_lot = 1",
            "comission_per_lot`: no such key; did you mean `commission_per_lot`?",
        ),
        ("[symbols.EURUSD]\nswap_triple_day = 'wed'", "'wed'"),
        ("[symbols.EURUSD]\ncontract_size = 0", "contract_size"),
        ("[symbols.EURUSD]\ntick_value = -1", "tick_value"),
        (
            "[symbols.ES]\ntick_size = 0.25\ntick_value = 12.5\ncontract_size = 1",
            "tick_value 12.5 for 0.25 is a contract_size of 50, and not 1; leave one",
        ),
        ("[symbols.X]\ncommission_per_lot = nan", "commission_per_lot`: expected a number"),
        ("[symbols.X]\nswap_long = inf", "swap_long`: expected a number <="),
        ("[account]\nleverage = inf", "`account.leverage`: expected a number <="),
        ("[symbols.X]\nvolume_min = 5\nvolume_max = 1", "volume_max 1 is below volume_min 5"),
        ("[symbols.'*']\npoint = 0.1", "symbols have points of their own"),
        ("[risk]\nlots_a_day = 3", "`risk.lots_a_day`: no such key"),
        ("[risk]\nlots_per_day = -3", "lots_per_day = -3"),
        ("[risk]\nlots_per_day = 'x'", "lots_per_day"),
        ("[risk]\ndry_run = true", "`risk.dry_run`: no such key"),
        ("[symbols.X]\nsessions = ['mon 00:00-24:00']", "session 'mon 00:00-24:00'"),
        ("[symbols.X]\nsessions = ['friday-monday 00:00-24:00']", "monday-friday 00:05-23:55"),
        ("[symbols.X]\nsessions = ['friday 10:00-09:00']", "must follow each other"),
        ("[symbols.X]\nsessions = ['friday 10:00-24:01']", "must follow each other"),
        ("[symbols.X]\nsessions = ['friday 10:70-11:00']", "must follow each other"),
        ("[account]\ncurrency = 'usd'", "`account.currency` 'usd' is no currency"),
        ("[symbols.X]\nprofit_currency = '€'", "`symbols.X.profit_currency` '€' is no currency"),
        ("[symbols.X]\nfilling_modes = ['all']", "filling_modes"),
        ("[symbols.X]\nfilling_modes = []", "filling_modes"),
        ("[symbols.X]\ndepth_lots = -1", "depth_lots`: expected a number >="),
        ("[symbols.X]\nimpact_lots = 0", "impact_lots`: expected a number >"),
        ("[symbols.X]\nslippage_seed = -1", "slippage_seed"),
        ("[symbols", "account.toml"),
        ("[symbols.A]\n[symbols.B]\ncontract_size = 0", "`symbols.B.contract_size`: expected"),
        ("[symbols.A]\nswap_mode = 'point'", "'point'; there are none, points, money, percent"),
        ("[symbols.A]\nfilling_modes = ['x']", "there are fok, ioc, return"),
        ("[symbols.EURUSD.m]\npoint = 1", 'in quotes: [symbols."EURUSD.m"]'),
        ("symbols = 3", "symbols"),
        ("[symbols]\nEURUSD = 3", "symbols.EURUSD"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(AccountFileError, match=r"account\.toml") as caught:
        read(tmp_path, text)
    assert said in str(caught.value) and caught.value.hint


def test_money_adds_up(tmp_path: Path) -> None:
    """Bought at 1.1002, over a night, half closed by a sell, the rest open at the end."""
    text = """
    [account]
    balance = 1000.0
    [symbols.EURUSD]
    contract_size = 100000
    commission_per_lot = 5.0
    swap_mode = "money"
    swap_long = -3.0
    """
    file = read(tmp_path, text)
    market = Market(file.terms(Terms()), account=file)
    day_ms = 86_400_000
    asked = [
        Order(2, 1_000, "Long", "EURUSD", "buy", 0.2, None, None, 10 * day_ms),
        Order(6, day_ms + 1, "Half", "EURUSD", "sell", 0.1, None, None, 10 * day_ms),
    ]
    trading = Trading(asked, {"EURUSD": market.specification("EURUSD", 1e-5)}, market)
    times = np.array([1_000, 2_000, day_ms, day_ms + 5])
    bids = np.array([1.1, 1.1, 1.101, 1.103])
    places = np.array([2, 4, 6, 8])
    trading.push(Ticks(np.zeros(4, np.int64), places, times, bids, bids + 0.0002))
    money = trading.money
    assert (money.start, money.profit) == (1_000.0, 28.0)  # 0.0028 of 10,000
    assert (money.commission, money.swap) == (-1.5, -0.3)  # a night of 0.2 lots, half of it
    assert money.balance == pytest.approx(1_000 + 28 - 1.5 - 0.3)
    assert money.equity == pytest.approx(money.balance + 28 - 0.3)
