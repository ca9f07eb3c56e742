"""The size of a point, which is told: to the archive, in an account's file, or to the run.

What prices show of it is for people who are to tell it, and for terminals that are simulated.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cep.account.known import Known
from cep.backtest.errors import BacktestError

DIGITS_MAX = 8
SAMPLE_ROWS = 50_000
GIVEN = "given"
"""Why a point is known that the run itself was told."""
CHECKED_ROWS = 2_000
COARSE = 9.5
"""A tenth, whatever doubles lose of it."""
NAMED = 5
"""So many symbols at most are named to who has to tell of them."""
PRICES_MIN = 5
"""So many different prices: one in 100,000 such samples ends in a zero everywhere by chance."""

SHARE_MAX = 1e-3
"""A point is a smaller share of any price that is quoted: 0.01 of 10 dollars, 0.001 of 1 euro."""


class Point(NamedTuple):
    """The size of a symbol's point, and how it is known."""

    size: float
    why: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What prices show: their decimals (None: no common step), how many differ, the middle one."""

    digits: int | None
    prices: int
    middle: float

    @property
    def problem(self) -> str | None:
        """Why no size can be derived, or None when one can."""
        if self.digits is None:
            return f"its prices have no common step of {DIGITS_MAX} decimals or less"
        if self.prices < PRICES_MIN:
            return f"{self.prices} different prices are too few, {PRICES_MIN} are needed"
        if 10.0**-self.digits > SHARE_MAX * self.middle:
            return f"{self.digits} decimals are too coarse at prices about {self.middle:g}"
        return None

    @property
    def point(self) -> Point:
        assert self.digits is not None, "asked for although there is a problem"
        why = f"from {self.digits} decimals of {self.prices:,} prices"
        return Point(10.0**-self.digits, why)


def told_points(told: Known, given: Mapping[str, float]) -> dict[str, Point]:
    """The sizes of points that an account's file or an archive tells, those `given` before them."""
    filed = {} if told.account is None else told.account.points
    found = {name: Point(size, GIVEN) for name, size in filed.items()}
    for name, size in told.points.items():
        found[name] = Point(size, f"the archive has it from {told.tellers[name]}")
    return found | {name: Point(size, GIVEN) for name, size in given.items()}


def known_points(
    told: Mapping[str, float | Point], prices: Mapping[str, Iterable[NDArray[np.float64]]]
) -> dict[str, Point]:
    """The point of each symbol of `prices`. BacktestError names those that nobody tells, and what
    their prices show.
    """
    if untold := sorted(prices.keys() - told.keys()):
        seen = [(name, evidence(prices[name])) for name in untold[:NAMED]]
        options = " ".join(
            _option(name, "SIZE" if one.problem else point_text(one.point.size))
            for name, one in seen
        )
        more = len(untold) - len(seen)
        raise BacktestError(
            f"nobody has told the size of a point ({'; '.join(_shown(*one) for one in seen)}"
            f"{f'; and of {more:,} other symbols' if more else ''})",
            "tell the archive once, as the broker has it: `mt5cep archive specify ARCHIVE "
            f"{options}`, or --from-prices for what prices show; or this run: --point, or `point`"
            " in the file of --account",
        )
    return {name: _as_point(told[name]) for name in prices}


def derived_points(
    given: Mapping[str, float], prices: Mapping[str, Iterable[NDArray[np.float64]]]
) -> dict[str, Point]:
    """The same where what prices show is enough. BacktestError names those that must be given."""
    seen = {name: evidence(samples) for name, samples in prices.items() if name not in given}
    problems = {name: one.problem for name, one in seen.items() if one.problem is not None}
    if problems:
        named = "; ".join(f"{symbol}: {why}" for symbol, why in problems.items())
        options = " ".join(_option(symbol, "SIZE") for symbol in problems)
        raise BacktestError(
            f"the size of a point cannot be told from prices ({named})",
            f"give it as the broker has it, such as EURUSD=0.00001: {options}",
        )
    return {name: seen[name].point if name in seen else _as_point(given[name]) for name in prices}


def too_coarse(
    symbol: str, told: float | Point, prices: Iterable[NDArray[np.float64]]
) -> Iterator[str]:
    """What to say of a size that is told, where the first prices have steps a tenth of it or less:
    distances and results in points are of another size then.
    """
    seen, size = evidence(one[:CHECKED_ROWS] for one in islice(prices, 2)), _as_point(told).size
    if seen.problem is None and size > COARSE * seen.point.size:
        shown = point_text(seen.point.size)
        yield (
            f"the point of {symbol} is told to be {point_text(size)}, and its prices show {shown}, "
            f"{seen.point.why}: distances in points are {size / seen.point.size:,.0f} times as far "
            f"then; correct what is told, such as {_option(symbol, shown)}"
        )


def _as_point(told: float | Point) -> Point:
    return told if isinstance(told, Point) else Point(told, GIVEN)


def _option(symbol: str, size: str) -> str:
    """What tells a symbol's point, as a shell takes it."""
    return f"--point {shlex.quote(f'{symbol}={size}')}"


def _shown(symbol: str, seen: Evidence) -> str:
    """What prices show of a symbol's point."""
    if seen.problem is not None:
        return f"{symbol}: {seen.problem}"
    return f"{symbol}: perhaps {point_text(seen.point.size)}, {seen.point.why}"


def point_text(size: float) -> str:
    """0.00001, not 1e-05."""
    return np.format_float_positional(size, trim="-")


def evidence(prices: Iterable[NDArray[np.float64]]) -> Evidence:
    """What prices show of the size of a point; those that are no prices are left out."""
    values = np.concatenate([np.empty(0), *prices])
    different = np.unique(values[np.isfinite(values) & (values > 0)])
    digits: int | None = digits_of(different)
    if digits == DIGITS_MAX and not _are_steps(different, DIGITS_MAX):
        digits = None
    middle = float(np.median(different)) if len(different) else 0.0
    return Evidence(digits, len(different), middle)


def digits_of(values: NDArray[np.float64]) -> int:
    """Decimals that the values have, 8 at most."""
    finite = values[np.isfinite(values)]
    return next((digits for digits in range(DIGITS_MAX) if _are_steps(finite, digits)), DIGITS_MAX)


def _are_steps(values: NDArray[np.float64], digits: int) -> bool:
    steps = values * 10.0**digits
    # half a millionth of a step: what doubles of that size can lose, and no real decimal
    return bool(
        np.all(np.abs(steps - np.rint(steps)) < 1e-6 * np.maximum(1.0, np.abs(steps) * 1e-7))
    )
