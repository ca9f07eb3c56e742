"""Profits, margin and commission in the account's currency, at rates of the same archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.account.rates import RateError, currencies, profit_currency, route_of
from cep.archive import Archive, import_history
from cep.backtest import run
from cep.backtest.errors import BacktestError
from mt5bridge.broker import REQUEST, Broker, Specification, Terms, codes
from mt5bridge.broker.rates import DIRECT, INVERSE
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK
from tests.backtest.archives import START_MSC

DAY_MS = 86_400_000
DEAL = "define stream Deal (symbol string, entry string, lots double);\n"
RULES = """
define stream Tick (symbol string, bid double, ask double);
define engine Main (queue = 1 hour);
from Tick[symbol == '{symbol}'] select symbol, bid insert into Own;
define event High for each symbol as every Own[bid >= {level}] repeat allow;
define event Low for each symbol as every Own[bid < {level}] repeat allow;
define complex Up for each symbol as Low followed by High within 30 min;
define complex Down for each symbol as High followed by Low within 30 min;
define signal Buy on Up buy 0.30 lots for 2 hours;
define signal Out on Down close for 2 hours;
"""
SEES = "define event Told for each symbol as every Deal[lots > 0.0] repeat allow;\n"
TRADED = {"USDJPY": 150.0, "XAUEUR": 1_800.0, "EURGBP": 0.85}
QUOTED = {"EURUSD": 1.1, "USDJPY": 150.0, "GBPUSD": 1.25}
ACCOUNT = """
[account]
balance = 100000.0
leverage = 30
currency = "{currency}"
[symbols."*"]
contract_size = 1000
commission_per_mille = 0.05
commission_per_lot = 2.0
"""


def walk(seed: int, middle: float, digits: int, rows: int = 400) -> Any:
    """A tick every six minutes, in waves around the middle."""
    random = np.random.default_rng(seed)
    ticks = np.zeros(rows, TICK)
    ticks["time_msc"] = START_MSC + 360_000 * np.arange(rows) + random.integers(0, 99_999)
    ticks["time"] = ticks["time_msc"] // 1000
    waves = 6e-4 * np.sin(np.arange(rows) / 7.0 + seed) + random.normal(0, 1e-4, rows)
    ticks["bid"] = np.round(middle * (1 + waves), digits)
    ticks["ask"] = np.round(ticks["bid"] + 3 * 10.0**-digits, digits)
    ticks["flags"] = 6
    return ticks


def archive_of(folder: Path, *names: str) -> tuple[Archive, dict[str, Any]]:
    """Ticks of these symbols, also as they were made."""
    middles = QUOTED | TRADED
    made = {
        name: walk(at, middles[name], 3 if middles[name] > 100 else 5)
        for at, name in enumerate(sorted(names))
    }
    archive = Archive(folder)
    import_history(archive, [TickBlock(name, ticks) for name, ticks in made.items()])
    return archive, made


def quote_at(ticks: Any, time_msc: int) -> tuple[float, float]:
    """The newest quote at a time, the slow way."""
    known = ticks[ticks["time_msc"] <= time_msc]
    return float(known["bid"][-1]), float(known["ask"][-1])


CASES = [
    ("USDJPY", "USD", ("USDJPY",), lambda q, amount: amount / q("USDJPY")[1], True),
    ("XAUEUR", "USD", ("EURUSD",), lambda q, amount: amount * q("EURUSD")[0], False),
    ("EURGBP", "JPY", ("GBPUSD", "USDJPY"),
     lambda q, amount: amount * q("GBPUSD")[0] * q("USDJPY")[0], False),
    ("USDJPY", "EUR", ("USDJPY", "EURUSD"),
     lambda q, amount: amount / q("USDJPY")[1] / q("EURUSD")[1], True),
    ("EURGBP", "GBP", (), lambda q, amount: amount, False),
]  # fmt: skip


@pytest.mark.parametrize(("symbol", "currency", "pairs", "into", "sees_deals"), CASES)
def test_what_trades_bring_is_converted_at_the_quotes_of_the_moment(
    tmp_path: Path, symbol: str, currency: str, pairs: tuple[str, ...], into: Any, sees_deals: bool
) -> None:
    """Direct, inverse and by a cross, whether or not the rules see their fills."""
    archive, made = archive_of(tmp_path / "a", symbol, *pairs)
    path = tmp_path / "account.toml"
    path.write_text(ACCOUNT.format(currency=currency))
    text = RULES.format(symbol=symbol, level=TRADED[symbol])
    found = run(
        (DEAL if sees_deals else "") + text + (SEES if sees_deals else ""), archive.directory,
        account=path, point=dict.fromkeys(made, 0.001),
    )  # fmt: skip
    outcome = found.finished.outcome
    assert len(outcome.deals) > 10 and not any("no price" in why for why in +outcome.refused)
    opened: dict[int, tuple[float, float]] = {}  # lots, and what they have cost by price
    for deal in outcome.deals:
        time_msc, lots, price = (deal[name].item() for name in ("time_msc", "volume", "price"))

        def quote(name: str, at: int = time_msc) -> tuple[float, float]:
            return quote_at(made[name], at)

        commission = -(2.0 * lots + into(quote, 0.05 / 1000 * 1000 * price * lots))
        assert deal["commission"] == pytest.approx(commission, abs=0.0051)
        if deal["entry"] == codes.IN:
            held, cost = opened.get(int(deal["position_id"]), (0.0, 0.0))
            opened[int(deal["position_id"])] = held + lots, cost + lots * price
            continue
        held, cost = opened.pop(int(deal["position_id"]))
        assert held == pytest.approx(lots)
        profit = into(quote, (price * lots - cost) * 1000)
        assert deal["profit"] == pytest.approx(profit, abs=0.0051)
    gained = sum(one.net for one in outcome.trades)
    assert outcome.money.equity == pytest.approx(100_000.0 + gained, abs=0.02)
    assert outcome.equity.equity[-1] == pytest.approx(outcome.money.equity, abs=0.02)


def test_a_rate_that_is_missing_is_told_with_what_to_do(tmp_path: Path) -> None:
    archive, _ = archive_of(tmp_path / "a", "XAUEUR", "GBPUSD")
    path = tmp_path / "account.toml"
    path.write_text(ACCOUNT.format(currency="USD"))
    text = RULES.format(symbol="XAUEUR", level=1_800.0)
    points = {"XAUEUR": 0.001, "GBPUSD": 0.00001}
    for more in ("", DEAL + SEES):
        with pytest.raises(
            BacktestError, match="no ticks of EURUSD, USDEUR or two pairs"
        ) as caught:
            run(more + text, archive.directory, account=path, point=points)
        assert "import ticks of EURUSD" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("available", "route"),
    [
        (["EURUSD", "USDEUR"], (("EURUSD", DIRECT),)),
        (["USDEUR", "EURGBP", "GBPUSD"], (("USDEUR", INVERSE),)),
        (["EURUSD.m", "EURUSD"], (("EURUSD", DIRECT),)),
        (["EURUSD.m"], (("EURUSD.m", DIRECT),)),
        (["EURCHF", "USDCHF", "EURGBP", "GBPUSD"], (("EURGBP", DIRECT), ("GBPUSD", DIRECT))),
        (["EURCHF", "USDCHF"], (("EURCHF", DIRECT), ("USDCHF", INVERSE))),
        (["EURUSDT", "EURUSDC.x", "EURUSDX"], None),
        (["NZDEUR", "NZDUSD"], (("NZDEUR", INVERSE), ("NZDUSD", DIRECT))),
    ],
)
def test_a_direct_pair_comes_before_an_inverse_one_and_both_before_a_cross(
    available: list[str], route: Any
) -> None:
    if route is None:
        with pytest.raises(RateError, match="DAX brings EUR, the account has USD"):
            route_of("DAX", "EUR", "USD", available)
        return
    assert route_of("DAX", "EUR", "USD", available) == route
    assert route_of("DAX", "EUR", "USD", reversed(available)) == route
    assert route_of("DAX", "EUR", "", available) == route_of("DAX", "EUR", "EUR", ()) == ()


def test_currencies_are_told_by_names_or_by_the_file() -> None:
    assert currencies("EURUSD") == currencies("EURUSD.m") == ("EUR", "USD")
    assert currencies("EURUSDm") == ("EUR", "USD") and currencies("XAUEUR") == ("XAU", "EUR")
    assert currencies("US500") is currencies("DAX") is currencies("eurusd") is None
    assert currencies("BTCUSDT") is None  # whose profits are no dollars
    assert profit_currency("US500", "USD") == "USD" and profit_currency("EURUSD", "") == "USD"
    with pytest.raises(RateError, match="currency of US500's profits is not known") as caught:
        profit_currency("US500", "")
    assert "profit_currency" in caught.value.hint and '[symbols."US500"]' in caught.value.hint


def test_currencies_may_have_longer_names() -> None:
    assert route_of("BTCUSDT", "USDT", "USDT", ()) == ()
    assert route_of("BTCUSDT", "USDT", "USD", ["USDTUSD"]) == (("USDTUSD", DIRECT),)
    assert route_of("DAX", "EUR", "USDT", ["EURUSDT.x"]) == (("EURUSDT.x", DIRECT),)


def request(kind: int, lots: float, action: int = codes.DEAL, **more: Any) -> Any:
    record = np.zeros(1, REQUEST)[0]
    for name, value in {"tag": 1, "action": action, "type": kind, "lots": lots, **more}.items():
        record[name] = value
    return record


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([(), (DIRECT,), (DIRECT, INVERSE)]))
def test_a_stop_out_comes_at_the_first_tick_at_which_the_margin_is_short(
    seed: int, hedging: bool, ways: tuple[int, ...]
) -> None:
    """Also where nothing but a rate has moved; against sums over all positions at each tick."""
    random = np.random.default_rng(seed)
    terms = Terms(hedging, 1_000.0, 50.0, 2, stop_out_percent=50.0)
    broker = Broker(
        terms, [Specification(0.01, 0.01, 100.0), Specification(0.0), Specification(0.0)]
    )
    broker.convert(0, tuple(zip((1, 2), ways, strict=False)))
    quotes, held = [(0.0, 0.0)] * 3, False
    for step in range(150):
        row = int(random.integers(3)) if step > 2 else step
        middle = 100.0 if row == 0 else 1.0
        bid = max(round((quotes[row][0] or middle) * (1 + random.normal(0, 0.02)), 4), 0.1)
        quotes[row] = bid, bid + 0.01
        before = [one.copy() for one in broker.positions]
        where, prices = np.array([[row], [step], [step]]), np.array(quotes[row])
        broker.run(*where, prices[:1], prices[1:])
        rate = quotes[1][0] if ways else 1.0
        if len(ways) > 1 and step > 1:
            rate /= quotes[2][1]
        short = held and is_short(before, quotes[0], rate, broker.balance)
        deals = broker.take_deals()
        assert bool(len(deals)) == short
        held = bool(len(broker.positions))
        if not held and step > 3:
            kind = int(random.integers(2))
            broker.execute(request(kind, 5.0 / rate if rate > 0 else 1.0))
            broker.take_deals()
            held = bool(len(broker.positions))


def is_short(positions: list[Any], quote: tuple[float, float], rate: float, balance: float) -> bool:
    """Whether equity is below half of the margin, at these quotes."""
    worth = blocked = 0.0
    for one in positions:
        side, price = (1, quote[0]) if one["side"] > 0 else (-1, quote[1])
        gain = (price - one["price"]) * side * one["lots"] * 100.0
        worth += round(gain * rate + 1e-12, 2)
        blocked += round(one["lots"] * 100.0 * one["price"] / 50.0 * rate + 1e-12, 2)
    return (balance + worth) / blocked * 100.0 < 50.0
