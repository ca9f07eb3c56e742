"""Harsher markets: each is what a backtest comes to over such ticks at such an account."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.account.harsher import AS_TOLD, DOUBLED, Harsher
from cep.archive import Archive, import_history
from cep.backtest import run, stress
from cep.backtest.errors import BacktestError
from cep.backtest.grid import Axes, Place, Spread, Stress
from cep.backtest.metrics import metrics
from cep.backtest.ticks import Ticks
from cep.backtest.trial import Trial
from mt5bridge.broker import Specification
from mt5bridge.history import TickBlock
from mt5bridge.records import Records
from tests.backtest.archives import DAY_MS, START_MSC, walk, with_points
from tests.backtest.test_dealt import DEAL
from tests.campaign import examples

POINTS = {"EURUSD": 1e-5, "GBPUSD": 1e-5}
BIDS = """
define stream Tick (symbol string, bid double);
from Tick#window.time(5 min) select symbol, bid, avg(bid) as ma group by symbol insert into Band;
define engine Main (queue = 2 hours);
define event Up for each symbol as Band[bid > ma] repeat refresh;
define event Down for each symbol as Band[bid < ma] repeat refresh;
define complex Turn for each symbol as Up followed by Down within 9 min;
define signal Fade on Turn sell 0.10 lots stop 20 points target 30 points for 30 min;
"""
"""Rules that see no ask: other spreads change no signal."""
FED = (
    BIDS
    + DEAL
    + """
define event Opened for each symbol as every Deal[entry == 'in'] repeat allow;
define complex Enough for each symbol as Opened followed by Opened within 50 min;
define signal Out on Enough close for 1 hour;
"""
)
ACCOUNT = """
[account]
balance = 1000.0
server_ahead_hours = 3
[symbols."*"]
contract_size = 100000
slippage_points = {slippage}
commission_per_lot = {commission}
commission_per_mille = {mille}
swap_mode = "points"
swap_long = {long}
swap_short = {short}
"""
TOLD = {"slippage": 1.0, "commission": 3.5, "mille": 0.02, "long": 2.0, "short": -7.1}
TWICE = {"slippage": 2.0, "commission": 7.0, "mille": 0.04, "long": 2.0, "short": -14.2}
"""What costs is doubled; what is paid stays."""


def history(
    folder: Path, seed: int = 2, *, rows: int = 600, factor: int = 1, more: int = 0
) -> Archive:
    """Days of two symbols with spreads so many times as wide, and so many points more."""
    random = np.random.default_rng(seed)
    blocks = []
    for symbol in ("EURUSD", "GBPUSD"):
        ticks = walk(random, START_MSC, 2 * DAY_MS, rows)
        ticks["time_msc"] = START_MSC + 240_000 * np.arange(rows)
        blocks.append(TickBlock(symbol, wider(ticks, factor, more)))
    archive = Archive(folder)
    import_history(archive, blocks)
    return with_points(archive)


def wider(ticks: Records, factor: int, more: int) -> Records:
    points = np.rint((ticks["ask"] - ticks["bid"]) * 1e5)
    asks = np.round(ticks["bid"] + (points * factor + more) * 1e-5, 5)
    ticks["ask"] = np.where((ticks["ask"] > 0) & (ticks["bid"] > 0), asks, ticks["ask"])
    return ticks


def told(folder: Path, values: dict[str, float]) -> Path:
    path = folder / "account.toml"
    path.write_text(ACCOUNT.format(**values))
    return path


@settings(max_examples=examples(4), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([BIDS, FED]), st.booleans())
def test_each_cell_is_what_its_single_backtest_comes_to(
    tmp_path_factory: pytest.TempPathFactory, seed: int, text: str, has_account: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    own: Any = {"point": POINTS}
    if has_account:  # whose slippage the grid adds to
        own |= {"account": told(folder, TOLD | {"slippage": 0.0})}
    plain = history(folder / "1", seed, rows=120)
    double = history(folder / "2", seed, rows=120, factor=2)
    more = history(folder / "3", seed, rows=120, more=3)
    found = stress(
        text, plain.directory, latencies=[0, 300_000], slippages=[2], spreads=[1, 2, "+3"],
        **own,
    )  # fmt: skip
    assert len(found.cells) == 6
    for place, cell in found.cells.items():
        archive = {"1": plain, "2": double, "+3": more}[str(place.spread)]
        single = run(text, archive.directory, latency=place.latency, slippage=place.slippage, **own)
        assert cell.results == single.finished.metrics["all"]
        assert cell.drawdown == single.finished.outcome.equity.drawdown
        assert cell.not_filled == sum(single.finished.outcome.refused.values())
    nets = {cell.results.net for cell in found.cells.values()}
    assert not found.mildest.results.trades or len(nets) > 2


@pytest.mark.parametrize("text", [BIDS, FED])
def test_doubled_costs_are_a_run_of_its_own_at_twice_the_costs(tmp_path: Path, text: str) -> None:
    """Spread, slippage, commission and swap twice as high; where swap is paid it stays."""
    plain = history(tmp_path / "1")
    double = history(tmp_path / "2", factor=2)
    one = run(text, plain.directory, point=POINTS, account=told(tmp_path, TOLD))
    other = run(text, double.directory, point=POINTS, account=told(tmp_path, TWICE))
    doubled = one.finished.doubled
    assert doubled is not None and doubled.results == other.finished.metrics["all"]
    assert doubled.drawdown == other.finished.outcome.equity.drawdown
    assert doubled.results.costs < one.finished.metrics["all"].costs < 0
    assert doubled.results.net < one.finished.metrics["all"].net
    told_ = one.metrics["doubled_costs"]
    assert told_["results"]["net"] == doubled.results.net and told_["digits"] == 2
    assert "Net, costs doubled" in one.report()


def test_nothing_is_doubled_where_nothing_is_filled(tmp_path: Path) -> None:
    archive = history(tmp_path / "1")
    assert run(BIDS, archive.directory, fills="none").metrics["doubled_costs"] is None
    silent = "define stream Tick (symbol string, bid double);"
    silent += " from Tick select bid insert into Copy;"
    assert run(silent, archive.directory).metrics["doubled_costs"] is None


prices = st.integers(1, 2_000_000).map(lambda n: Decimal(n) / 10**5)


@given(
    st.lists(st.tuples(prices, st.integers(-3, 40), st.booleans()), min_size=1, max_size=20),
    st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 2.75]), st.sampled_from([0.0, 1.0, 3.0]),
)  # fmt: skip
def test_spreads_are_those_of_exact_arithmetic(
    quotes: list[tuple[Decimal, int, bool]], factor: float, more: float
) -> None:
    point = Decimal("0.00001")
    bids = [bid for bid, _, _ in quotes]
    asks = [Decimal(0) if gone else bid + points * point for bid, points, gone in quotes]
    expected = []
    for bid, ask in zip(bids, asks, strict=True):
        points = (ask - bid) / point
        if points > 0 and factor != 1.0:
            points = (points * Decimal(factor)).to_integral_value(ROUND_CEILING)
        expected.append(float(ask if ask <= 0 else bid + (points + int(more)) * point))
    n = len(quotes)
    ticks = Ticks(
        np.zeros(n, np.int64), np.arange(n), np.arange(n), np.array(bids, np.float64),
        np.array(asks, np.float64),
    )  # fmt: skip
    found = ticks.with_spreads(Harsher(factor, more), np.array([1e-5]))
    assert found.ask.tolist() == expected
    assert found.bid is ticks.bid


@given(st.lists(st.tuples(st.integers(0, 2), prices, st.integers(-3, 40)), min_size=1, max_size=20))
def test_spreads_of_several_symbols_are_those_of_each_alone(
    quotes: list[tuple[int, Decimal, int]],
) -> None:
    rows, bids, points = (np.array(column, np.float64) for column in zip(*quotes, strict=True))
    sizes, places = np.array([1e-5, 1e-3, 0.0]), np.arange(len(quotes))  # the last is only quoted
    ticks = Ticks(rows.astype(np.int64), places, places, bids, np.round(bids + points * 1e-5, 5))
    found = ticks.with_spreads(Harsher(2.0, 1.0), sizes)
    for row in range(3):
        own = ticks.part(rows == row)
        alone = Ticks(np.zeros_like(own.order), own.order, own.time_msc, own.bid, own.ask)
        wider = alone.with_spreads(Harsher(2.0, 1.0), sizes[row : row + 1])
        assert found.ask[rows == row].tolist() == wider.ask.tolist()
    assert found.ask[rows == 2].tolist() == ticks.ask[rows == 2].tolist()


def test_what_is_paid_to_the_account_stays() -> None:
    told_ = Specification(
        0.01, slippage_points=2.0, commission_per_lot=3.0, commission_per_mille=-0.1,
        swap_long=-4.0, swap_short=1.5, slippage_spread=0.25, impact_points=3.0,
        slippage_range=0.1, slippage_range_ms=1_000, slippage_random_points=5.0, slippage_seed=4,
    )  # fmt: skip
    assert AS_TOLD.specification(told_) == told_
    twice = DOUBLED.specification(told_)
    assert (twice.slippage_points, twice.commission_per_lot, twice.swap_long) == (4.0, 6.0, -8.0)
    assert (twice.commission_per_mille, twice.swap_short) == (-0.1, 1.5)
    assert (twice.impact_points, twice.slippage_range, twice.slippage_random_points) == (6, 0.2, 10)
    assert twice.slippage_spread == 0.25  # of spreads that are twice as wide
    assert (twice.slippage_seed, twice.slippage_range_ms) == (4, 1_000)
    assert Harsher(slippage_points=1.5).specification(told_).slippage_points == 3.5


def test_what_breaks_first_is_the_axis_that_takes_all_at_its_mildest() -> None:
    def cell(net: float) -> Trial:
        nothing = metrics([], 1)
        values = {name: getattr(nothing, name) for name in nothing.__slots__}
        return Trial(type(nothing)(**{**values, "net": net, "trades": 1}), 0.0, 0, None)

    axes = Axes([0, 50, 200], [0.0, 1.0], [Spread(), Spread(2.0)])
    nets = {(50, 0.0, 1.0): 3.0, (200, 0.0, 1.0): -0.5, (0, 1.0, 1.0): -1.0, (0, 0.0, 2.0): -2.0}
    cells = {
        Place(latency, slippage, spread): cell(nets.get((latency, slippage, spread.factor), 4.0))
        for latency in axes.latency
        for slippage in axes.slippage
        for spread in axes.spread
    }
    limits = Stress(axes, cells, []).limits
    assert [(one.axis, one.value, one.net) for one in limits] == [
        ("spread", "2", -2.0), ("slippage", "1.0", -1.0), ("latency", "200", -0.5),
    ]  # fmt: skip
    nets.clear()
    cells = {place: cell(5.0 - place.slippage) for place in cells}
    assert {one.value for one in Stress(axes, cells, []).limits} == {None}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"spreads": ["wide"]}, "spread 'wide': no factor"),
        ({"spreads": ["-1"]}, "spread '-1': no factor"),
        ({"spreads": ["nan"]}, "spread 'nan': no factor"),
        ({"spreads": []}, "spread: no value"),
        ({"latencies": [-1]}, "-1 is out of its range"),
        ({"slippages": [float("nan")]}, "nan is out of its range"),
        ({"latencies": list(range(400))}, "3,600 cells are too many"),
        ({"fills": "none"}, "nothing is traded"),
    ],
)
def test_what_is_no_grid_is_refused(tmp_path: Path, asked: Any, said: str) -> None:
    archive = history(tmp_path / "1")
    with pytest.raises(BacktestError, match=said):
        stress(BIDS, archive.directory, point=POINTS, **asked)
