"""How much worse than the quote orders fill, against a list of all ticks that is looked through."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt5bridge.broker import REQUEST, Broker, Specification, Terms, codes
from mt5bridge.broker.slippage import draw
from tests.campaign import examples

POINT = 0.01


@dataclass
class Ticks:
    """All ticks of a symbol so far, and what they come to."""

    told: Specification
    seen: list[tuple[int, float, float]] = field(default_factory=list)

    def slipped(self, number: int, lots: float) -> float:
        """What the `number`-th order of the account fills worse, the first of which is 0."""
        told = self.told
        _, bid, ask = self.seen[-1]
        points = told.impact_points * (lots / told.impact_lots) ** told.impact_power
        points += told.slippage_random_points * chance(told.slippage_seed, number)
        grown = told.slippage_spread * max(ask - bid, 0.0) + points * told.point
        grown += told.slippage_range * self.range() if told.slippage_range_ms else 0.0
        steps = math.ceil(grown / told.tick_size - 1e-6)
        return told.slippage_points * told.point + steps * told.tick_size

    def range(self) -> float:
        """Of bids in the newest period, or the one before it."""
        periods: dict[int, list[float]] = {}
        newest = -1
        for time_msc, bid, _ in self.seen:
            newest = max(newest, time_msc // self.told.slippage_range_ms)
            periods.setdefault(newest, []).append(bid)
        found = [periods.get(newest - back, [0.0]) for back in (0, 1)]
        return max(max(bids) - min(bids) for bids in found)


def chance(seed: int, number: int) -> float:
    """As documented, in words of 32 bits that wrap around by themselves."""
    found = np.uint32(0)
    with np.errstate(over="ignore"):
        for word in (seed, number, 0):
            found = found + np.uint32(0x1E3779B9) + np.uint32(word)
            found = (found ^ (found >> np.uint32(16))) * np.uint32(0x21F0AAAD)
            found = (found ^ (found >> np.uint32(15))) * np.uint32(0x735A2D97)
            found ^= found >> np.uint32(15)
    return float(found) / 2.0**32


TERMS = st.builds(
    Specification,
    st.just(POINT),
    tick_size=st.sampled_from([0.01, 0.05]),
    slippage_points=st.sampled_from([0.0, 1.5]),
    slippage_spread=st.sampled_from([0.0, 0.3]),
    impact_points=st.sampled_from([0.0, 2.5]),
    impact_lots=st.sampled_from([0.5, 3.0]),
    impact_power=st.sampled_from([1.0, 0.5, 0.7]),
    slippage_range=st.sampled_from([0.0, 0.2]),
    slippage_range_ms=st.sampled_from([100, 1_000]),
    slippage_random_points=st.sampled_from([0.0, 8.0]),
    slippage_seed=st.integers(0, 3),
)


def request(**named: Any) -> Any:
    record = np.zeros(1, REQUEST)[0]
    for name, value in {"tag": 1, **named}.items():
        record[name] = value
    return record


@settings(max_examples=examples(60), deadline=None)
@given(TERMS, TERMS, st.integers(0, 10_000), st.booleans(), st.sampled_from([1, 1_000_001]))
def test_orders_fill_as_all_ticks_so_far_say(
    one: Specification, other: Specification, seed: int, in_batches: bool, first: int
) -> None:
    random = np.random.default_rng(seed)
    broker = Broker(Terms(True, first_ticket=first), [one, other])
    reference, time_msc = [Ticks(one), Ticks(other)], 5
    for _ in range(25):
        rows = random.integers(0, 2, int(random.integers(1, 9)))
        times = time_msc + np.cumsum(random.integers(-40, 200, len(rows)))
        times = np.maximum(times, 0)
        bids = np.round(100.0 + random.integers(-40, 41, len(rows)) * POINT, 2)
        asks = np.round(bids + random.integers(0, 9, len(rows)) * POINT, 2)
        ticks = list(zip(times.tolist(), bids.tolist(), asks.tolist(), strict=True))
        if in_batches:
            broker.run(rows, np.arange(len(rows)), times, bids, asks)
        for row, tick in zip(rows.tolist(), ticks, strict=True):
            reference[row].seen.append(tick)
            if not in_batches:
                broker.tick(row, *tick)
        time_msc = int(times[-1])
        row, kind = int(random.integers(0, 2)), int(random.integers(0, 2))
        if not reference[row].seen:
            continue
        lots = float(random.choice([0.1, 1.0, 7.0]))
        answer = broker.execute(request(action=codes.DEAL, type=kind, symbol=row, lots=lots))
        slipped = reference[row].slipped(int(answer["order"]) - first, lots)
        (deal,) = broker.take_deals()
        _, bid, ask = reference[row].seen[-1]
        assert deal["price"] == (ask + slipped if kind == codes.BUY else bid - slipped)


@pytest.mark.parametrize(("price", "filled"), [(105.0, 101.0), (120.0, 120.0)])
def test_limits_and_targets_do_not_slip_and_stops_do(price: float, filled: float) -> None:
    """Two lots, as there are at the stop and the target, slip twice as far as one."""
    slips = Specification(1.0, 1.0, impact_points=2.0)
    broker = Broker(Terms(), [slips])
    broker.tick(0, 1, 100.0, 100.0)
    pending = {"action": codes.PENDING, "lots": 1.0}
    broker.execute(request(**pending, type=codes.BUY_LIMIT, price=90.0))
    broker.execute(request(**pending, type=codes.BUY_STOP, price=110.0))
    broker.tick(0, 2, 90.0, 90.0)
    broker.tick(0, 3, 110.0, 110.0)
    assert broker.take_deals()["price"].tolist() == [90.0, 112.0]
    broker.execute(request(action=codes.SLTP, sl=105.0, tp=120.0))
    broker.tick(0, 4, price, price)
    assert broker.take_deals()["price"].tolist() == [filled]


def test_what_is_drawn_depends_on_seed_and_order_alone_and_is_even() -> None:
    found = np.array([[draw(seed, number) for number in range(4_000)] for seed in range(3)])
    assert (found >= 0.0).all() and (found < 1.0).all()
    assert found[1, 7] == draw(1, 7) == chance(1, 7)
    counts = np.apply_along_axis(lambda row: np.histogram(row, 10, (0, 1))[0], 1, found)
    assert abs(counts - 400).max() < 100
    assert abs(np.corrcoef(found)[~np.eye(3, dtype=bool)]).max() < 0.06
    assert abs(np.corrcoef(found[0][:-1], found[0][1:])[0, 1]) < 0.06


def test_more_of_anything_never_fills_better() -> None:
    """Each term makes it worse: none is left out, whatever the others are."""
    plain = Specification(POINT, POINT, slippage_range_ms=100)
    prices = []
    for name, value in {
        "slippage_points": 1.0, "slippage_spread": 0.5, "impact_points": 1.0,
        "slippage_range": 0.5, "slippage_random_points": 500.0,
    }.items():  # fmt: skip
        broker = Broker(Terms(), [replace(plain, **{name: value})])
        for time_msc, bid in ((0, 100.0), (50, 100.1), (120, 100.0)):
            broker.tick(0, time_msc, bid, bid + 0.04)
        broker.execute(request(action=codes.DEAL, type=codes.BUY, lots=2.0))
        prices.append(round(float(broker.take_deals()["price"][0]), 6))
    assert prices[:4] == [100.05, 100.06, 100.06, 100.09] and prices[4] > 100.04
