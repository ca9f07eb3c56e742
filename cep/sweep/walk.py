"""Walk forward: the best of each training stretch is traded on the stretch behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cep.backtest.metrics import Metrics, metrics
from cep.backtest.pool import Helpers
from cep.backtest.trades import Trade
from cep.lang.parameters import Value
from cep.sweep.alike import Common
from cep.sweep.errors import SweepError
from cep.sweep.search import Search
from cep.sweep.sweep import Advance, Bench
from cep.sweep.together import Variant, run_together
from cep.sweep.tried import Tried, ranked


@dataclass(frozen=True, slots=True)
class Window:
    """Trained from `from_msc` on, traded from `test_msc` on and before `to_msc`."""

    number: int
    from_msc: int
    test_msc: int
    to_msc: int


@dataclass(frozen=True, slots=True)
class Walked:
    """A window: the values that were best in training, None where none traded, what they came to
    there by the measure that chose them, and what they came to on the stretch behind it.
    """

    window: Window
    values: Mapping[str, Value] | None
    trained: float | None
    measures: Metrics
    trades: Sequence[Trade] = field(repr=False, default=())

    def row(self) -> dict[str, Any]:
        """All of it by column, as files have it."""
        window, found = self.window, self.measures
        return {
            "window": window.number, "train_from_msc": window.from_msc,
            "test_from_msc": window.test_msc, "test_to_msc": window.to_msc,
            **(self.values or {}), "trained": self.trained, "net": found.net,
            "trades": found.trades, "win_rate": found.win_rate,
            "profit_factor": found.profit_factor, "sharpe": found.sharpe,
            "drawdown": found.drawdown,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Walk:
    """What is to be walked: what to try, and the measure by which the best is chosen."""

    bench: Bench
    search: Search
    by: str


def windows(first_msc: int, last_msc: int, train_ms: int, test_ms: int) -> list[Window]:
    """All windows of a range, both ends included; the last test may be shorter. SweepError."""
    if min(train_ms, test_ms) <= 0:
        raise SweepError("a stretch needs a length", "for example --train 30d --test 10d")
    starts = range(first_msc + train_ms, last_msc + 1, test_ms)
    if not starts:
        days = (last_msc - first_msc) / 86_400_000
        raise SweepError(
            f"the records last {days:.3g} days, which leaves none behind the first training",
            "give a shorter --train",
        )
    return [
        Window(number, start - train_ms, start, min(start + test_ms, last_msc + 1))
        for number, start in enumerate(starts)
    ]


def walked(
    walk: Walk,
    some: Sequence[Window],
    helpers: Helpers | None = None,
    advance: Advance = lambda n: None,
) -> Iterator[Walked]:
    """Each window in its order, in this process if there are no helpers. `advance` is told of
    variants that are done.
    """
    walk.bench.is_long = walk.bench.is_worth_compiling(walk.search.count)
    if helpers is None:
        yield from (_walked(walk, window, advance) for window in some)
        return
    for found in helpers.each(_alone, walk, some):
        advance(walk.search.count)
        yield found


def total(some: Sequence[Walked]) -> Metrics:
    """What all tests come to together."""
    trades = [trade for one in some for trade in one.trades]
    return metrics(trades, sum(one.window.to_msc - one.window.test_msc for one in some))


def _alone(walk: Walk, window: Window) -> Walked:
    return _walked(walk, window, lambda n: None)


def _walked(walk: Walk, window: Window, advance: Advance) -> Walked:
    best = _trained(walk, window, advance)
    if best is None:
        return Walked(window, None, None, metrics((), window.to_msc - window.test_msc))
    trades = _traded(walk, window, best.values)
    measures = metrics(trades, window.to_msc - window.test_msc)
    return Walked(window, best.values, best.measures[walk.by], measures, trades)


def _trained(walk: Walk, window: Window, advance: Advance) -> Tried | None:
    """The best of the training; None where none has a trade."""
    bench = _bench(walk, window.from_msc, window.test_msc)
    found: list[Tried] = []
    for block in walk.search.rows(bench):
        found += block
        advance(len(block))
    traded = [one for one in found if one.measures.get("trades")]
    best = ranked(traded, walk.by)[:1]
    return best[0] if best and best[0].measures[walk.by] is not None else None


def _traded(walk: Walk, window: Window, values: Mapping[str, Value]) -> list[Trade]:
    """The trades of the test: rules have seen the training, and nothing of it is traded."""
    bench = _bench(walk, window.from_msc, window.to_msc)
    common, selection = Common.of(bench.variant(dict(values)).plan), bench.asked.selection
    variant = Variant.of(common.plan, selection, is_long=bench.is_long)
    run_together([variant], selection, lambda n: None)
    results = common.results(variant.results)
    results.signals = [one for one in results.signals if one[1]["time_msc"] >= window.test_msc]
    (outcome,) = bench.fills.filled([results], lambda n: None)
    return outcome.trades


def _bench(walk: Walk, from_msc: int, to_msc: int) -> Bench:
    bench = walk.bench.between(from_msc, to_msc)
    if bench.asked.has_account:
        raise SweepError(
            "rules that see their fills, and accounts with [risk], cannot be walked forward",
            "their state would be that of trades of the training",
        )
    return bench
