"""The size of a point, which archives do not hold: told, or derived where prices show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cep.account.known import Known
from cep.backtest.errors import BacktestError

DIGITS_MAX = 8
SAMPLE_ROWS = 50_000
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
    found = {name: Point(size, "given") for name, size in filed.items()}
    for name, size in told.points.items():
        found[name] = Point(size, f"the archive has it from {told.tellers[name]}")
    return found | {name: Point(size, "given") for name, size in given.items()}


def known_points(
    given: Mapping[str, float | Point], prices: Mapping[str, Iterable[NDArray[np.float64]]]
) -> dict[str, Point]:
    """The point of each symbol of `prices`. BacktestError names those that must be given."""
    found: dict[str, Point] = {}
    problems: dict[str, str] = {}
    for symbol, samples in prices.items():
        if symbol in given:
            size = given[symbol]
            found[symbol] = size if isinstance(size, Point) else Point(size, "given")
            continue
        seen = evidence(samples)
        if seen.problem is None:
            found[symbol] = seen.point
        else:
            problems[symbol] = seen.problem
    if problems:
        named = "; ".join(f"{symbol}: {why}" for symbol, why in problems.items())
        options = " ".join(f"--point {symbol}=SIZE" for symbol in problems)
        raise BacktestError(
            f"the size of a point cannot be told from prices ({named})",
            f"give it as the broker has it, such as EURUSD=0.00001: {options}",
        )
    return found


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
