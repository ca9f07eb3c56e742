"""A backtest at many harsher markets: how much latency, slippage and spread a result stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Unpack

from cep.account.harsher import Harsher
from cep.account.market import Market
from cep.backtest.asked import asked
from cep.backtest.bounds import ADDED_MAX, LATENCY_MS_MAX, SPREAD_MAX, SPREAD_MIN
from cep.backtest.errors import BacktestError
from cep.backtest.options import Options, number, rules_text, whole
from cep.backtest.trial import Trial
from cep.backtest.work import Progress, Work, no_progress
from cep.dropped import Dropped

LATENCIES, SLIPPAGES, SPREADS = (0, 50, 200), (0.0, 1.0, 3.0), ("1", "1.5", "2")
CELLS_MOST = 1000


class Spread(NamedTuple):
    """A factor of recorded spreads, and points that are added to them."""

    factor: float = 1.0
    points: float = 0.0

    @classmethod
    def of(cls, text: str) -> Spread:
        """`1.5` is a factor, `+2` are points. BacktestError for what is neither."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        is_added = text.strip().startswith("+")
        least, most = (0.0, ADDED_MAX) if is_added else (SPREAD_MIN, SPREAD_MAX)
        if not least <= value <= most:
            raise BacktestError(
                f"spread {text!r}: no factor from {SPREAD_MIN:g} to {SPREAD_MAX:g}, and no points "
                "to add", "write 1.5, or +2 for points",
            )  # fmt: skip
        return cls(points=value) if is_added else cls(value)

    def __str__(self) -> str:
        return f"+{self.points:g}" if self.points else f"{self.factor:g}"


T = TypeVar("T")


def _once(values: Sequence[T]) -> Sequence[T]:
    return tuple(dict.fromkeys(values))


class Axes(NamedTuple):
    """The values of each axis of a grid, the mildest first."""

    latency: Sequence[int]
    slippage: Sequence[float]
    spread: Sequence[Spread]

    @property
    def checked(self) -> Axes:
        """Each value once. BacktestError where there are none, too many, or one cannot be."""
        found = Axes(
            _once([whole("latency", one, 0, LATENCY_MS_MAX) for one in self.latency]),
            _once([number("slippage", one, 0.0, ADDED_MAX) for one in self.slippage]),
            _once(self.spread),
        )
        for name, values in found._asdict().items():
            if not values:
                raise BacktestError(f"{name}: no value", "name at least one")
        if math.prod(map(len, found)) > CELLS_MOST:
            raise BacktestError(
                f"{math.prod(map(len, found)):,} cells are too many, {CELLS_MOST:,} the most",
                "name fewer values",
            )
        return found


class Place(NamedTuple):
    """Of a cell: ms and points that are added, and what becomes of spreads."""

    latency: int
    slippage: float
    spread: Spread

    def market(self, told: Market) -> Market:
        """The one that was told, made as harsh."""
        harsher = Harsher(*self.spread, slippage_points=self.slippage)
        return replace(told, latency_ms=told.latency_ms + self.latency, harsher=harsher)


class Limit(NamedTuple):
    """How far one axis goes alone, the others at their mildest: the first value at which nothing is
    left, and what is left then; `value` None where something is left at each.
    """

    axis: str
    value: str | None
    net: float
    step: int


@dataclass(frozen=True, slots=True)
class Stress:
    """Results by cell, in the order of the axes, the last of which changes first.

    `told` is what the run did not find, `dropped` what it dropped.
    """

    axes: Axes
    cells: dict[Place, Trial]
    told: list[str]
    dropped: Dropped = field(default_factory=Dropped)

    @property
    def mildest(self) -> Trial:
        """At the first value of each axis."""
        return next(iter(self.cells.values()))

    @property
    def limits(self) -> list[Limit]:
        """Of each axis with several values, the one that breaks first in front: at the earliest
        value, and of several the one that leaves least.
        """
        found = []
        first = next(iter(self.cells))
        for axis, values in self.axes._asdict().items():
            nets = [self.cells[first._replace(**{axis: v})].results.net for v in values]
            step = next((at for at, net in enumerate(nets) if net <= 0.0), len(nets) - 1)
            value = str(values[step]) if nets[step] <= 0.0 else None
            if len(values) > 1:
                found.append(Limit(axis, value, nets[step], step))
        return sorted(found, key=lambda one: (one.value is None, one.step, one.net))

    def rows(self) -> list[dict[str, Any]]:
        """Each cell with its results as plain values."""
        return [
            {
                "latency_ms": place.latency, "slippage_points": place.slippage,
                "spread_factor": place.spread.factor, "spread_points": place.spread.points,
                **asdict(one.results), "equity_drawdown": one.drawdown,
                "not_filled": one.not_filled,
            }
            for place, one in self.cells.items()
        ]  # fmt: skip


def stress(
    rules: Path | str,
    archive: Path | str,
    *,
    latencies: Sequence[int] = LATENCIES,
    slippages: Sequence[float] = SLIPPAGES,
    spreads: Sequence[str | float] = SPREADS,
    **options: Unpack[Options],
) -> Stress:
    """Run rules, the path of a file or their text, over an archive, and fill their signals at each
    cell of a grid. Latencies (ms) and slippages (points) are added to those of `options`; a spread
    is a factor, or `"+2"` for points to add.

    Options are those of `cep.backtest.run`. RuleError, BacktestError or ArchiveError says what
    cannot be.
    """
    axes = Axes(latencies, slippages, [Spread.of(str(one)) for one in spreads])
    return stressed(rules_text(rules), archive, options, axes)


def stressed(
    text: tuple[str, str],
    archive: Path | str,
    options: Options,
    axes: Axes,
    progress: Progress = no_progress,
) -> Stress:
    """As `stress`, of a text and its name."""
    axes, found = axes.checked, asked(text, archive, options)
    if not found.plan.signals or not found.fills:
        raise BacktestError(
            "nothing is traded, so nothing can be stressed", "the rules need a signal, and fills"
        )
    work = Work(found, shows_rows=False, has_report=False)
    told = [work.about_fills, *work.missing()]
    with progress(found.selection.rows) as advance:
        work.take(work.in_this_process(advance), [])
    places = [Place(*values) for values in product(*axes)]
    outcomes = work.outcomes([place.market(found.market) for place in places], progress)
    span_ms = found.selection.span_ms
    cells = {
        place: Trial.of(outcome, span_ms) for place, outcome in zip(places, outcomes, strict=True)
    }
    told = [one for one in (*told, work.silent) if one]
    return Stress(axes, cells, told, work.results.dropped)
