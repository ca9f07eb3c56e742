"""The size of a point, which archives do not hold: derived from the prices."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

DIGITS_MAX = 8
SAMPLE_ROWS = 50_000


def point_of(prices: Iterable[NDArray[np.float64]]) -> float:
    """The largest power of ten, 1 at most, that all prices are multiples of; 1e-8 when none is."""
    return 10.0 ** -max((digits_of(values) for values in prices), default=0)


def digits_of(values: NDArray[np.float64]) -> int:
    """Decimals that the values have, 8 at most."""
    finite = values[np.isfinite(values)]
    for digits in range(DIGITS_MAX):
        steps = finite * 10.0**digits
        # half a millionth of a step: what doubles of that size can lose, and no real decimal
        if np.all(np.abs(steps - np.rint(steps)) < 1e-6 * np.maximum(1.0, np.abs(steps) * 1e-7)):
            return digits
    return DIGITS_MAX
