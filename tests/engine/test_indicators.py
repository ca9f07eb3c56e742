"""Averages, bands and time windows against `ta`, pandas and exact fractions, on real ticks."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from ta.trend import SMAIndicator
from ta.volatility import BollingerBands

from cep.engine.native import Compiled
from cep.plan.build import compile_rules
from cep.plan.types import Type
from tests.data.real_ticks import needs_real_ticks, table
from tests.reference.aggregates import aggregate

Floats = npt.NDArray[np.float64]
RELATIVE = 1e-9
LENGTH = 20
RULES = """
define stream Tick (symbol string, bid double);
from Tick[symbol == '{symbol}']#window.{window}
select bid, avg(bid) as ma, stdDev(bid) as sd, sum(bid) as total,
    min(bid) as low, max(bid) as high, count() as n
insert into Band;
from Tick#window.time(5 min) select symbol, avg(bid) as ma, stdDev(bid) as sd group by symbol
insert into BySymbol;
"""


@functools.cache
def ticks() -> pd.DataFrame:
    """A day of two symbols, mixed by time."""
    frame = table(["oanda_eurusd", "oanda_xauusd"], days=1).to_pandas()
    return frame[["time_msc", "symbol", "bid"]]


def run(frame: pd.DataFrame, window: str, stream: str, symbol: str = "EURUSD") -> pd.DataFrame:
    plan = compile_rules(RULES.format(symbol=symbol, window=window), "indicators.cep")
    columns = {"symbol": frame["symbol"].tolist(), "bid": frame["bid"].to_numpy()}
    rows = Compiled(plan, outputs=[stream]).start()
    return pd.DataFrame(rows.push("Tick", columns, frame["time_msc"].to_numpy()).dicts())


def of(symbol: str) -> pd.Series:
    """Bids of one symbol by time."""
    frame = ticks()[ticks()["symbol"] == symbol]
    times = pd.to_datetime(frame["time_msc"], unit="ms")
    return pd.Series(frame["bid"].to_numpy(), index=pd.DatetimeIndex(times))


@needs_real_ticks
@pytest.mark.parametrize("symbol", ["EURUSD", "XAUUSD"])
def test_moving_average_and_bollinger_bands_of_a_length(symbol: str) -> None:
    found = run(ticks(), f"length({LENGTH})", "Band", symbol)
    close = of(symbol).reset_index(drop=True)
    bands = BollingerBands(close, window=LENGTH, window_dev=2)
    full = slice(LENGTH - 1, None)
    for ours, theirs in (
        (found["ma"], SMAIndicator(close, window=LENGTH).sma_indicator()),
        (found["ma"], bands.bollinger_mavg()),
        (found["ma"] + 2 * found["sd"], bands.bollinger_hband()),
        (found["ma"] - 2 * found["sd"], bands.bollinger_lband()),
    ):
        np.testing.assert_allclose(ours[full], theirs[full], rtol=RELATIVE)


@needs_real_ticks
@pytest.mark.parametrize("symbol", ["EURUSD", "XAUUSD"])
def test_a_time_window_leaves_out_the_row_exactly_as_old_as_its_span(symbol: str) -> None:
    found = run(ticks(), "time(5 min)", "Band", symbol)
    bids = of(symbol)
    rolling = bids.rolling("5min", closed="right")
    np.testing.assert_allclose(found["ma"], rolling.mean(), rtol=RELATIVE)
    np.testing.assert_allclose(found["total"], rolling.sum(), rtol=RELATIVE)
    np.testing.assert_array_equal(found["n"], rolling.count())
    np.testing.assert_array_equal(found["low"], rolling.min())
    np.testing.assert_array_equal(found["high"], rolling.max())
    for side in (-2, 2):
        band = rolling.mean() + side * rolling.std(ddof=0)
        np.testing.assert_allclose(found["ma"] + side * found["sd"], band, rtol=RELATIVE)
    both_ends = bids.rolling("5min", closed="both").count()
    assert (both_ends.to_numpy() > found["n"].to_numpy()).any()


@needs_real_ticks
def test_groups_of_one_stream_are_windows_of_their_own() -> None:
    found = run(ticks(), "time(5 min)", "BySymbol")
    for symbol, rows in found.groupby("symbol"):
        rolling = of(str(symbol)).rolling("5min", closed="right")
        np.testing.assert_allclose(rows["ma"], rolling.mean(), rtol=RELATIVE)


def engine(prices: Floats, window: str = f"length({LENGTH})") -> pd.DataFrame:
    times = 1_000 * np.arange(len(prices))
    frame = pd.DataFrame({"time_msc": times, "symbol": "EURUSD", "bid": prices})
    return run(frame, window, "Band")


@pytest.mark.parametrize(
    ("level", "spread"), [(1e6, 1e-6), (1e6, 1e-9), (1.1, 1e-5), (1e-6, 1e-9), (1e9, 1e-6)]
)
def test_small_deviations_of_large_prices_are_exact(level: float, spread: float) -> None:
    rng = np.random.default_rng(11)
    prices = level + np.cumsum(rng.normal(0.0, spread, 3_000))
    found = engine(prices)
    for place in range(0, len(prices), 7):
        window = prices[max(0, place - LENGTH + 1) : place + 1].tolist()
        row = found.iloc[place]
        assert row["sd"] == aggregate("stdDev", Type.DOUBLE, window)
        assert row["ma"] == aggregate("avg", Type.DOUBLE, window)


@pytest.mark.parametrize("price", [0.1, 1.09513, 1e6 + 1 / 3, 1e-300, 0.0, -37.63])
@pytest.mark.parametrize("before", [0.0, 1.0, 1e6, 1e12])
def test_a_flat_stretch_has_no_deviation_whatever_went_before(price: float, before: float) -> None:
    prices = np.concatenate([before * np.arange(1.0, 50.0), np.full(200, price)])
    flat = engine(prices).iloc[49 + LENGTH :]
    assert (flat["sd"] == 0.0).all()
    assert (flat["ma"] == price).all()
    assert (flat["total"] == aggregate("sum", Type.DOUBLE, [price] * LENGTH)).all()
