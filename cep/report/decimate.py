"""Fewer points, same picture: the extremes of every slice of a line are kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def kept_points(values: NDArray[np.float64], points_max: int) -> NDArray[np.int64]:
    """Positions to draw, ascending, about `points_max` at most.

    Of each of `points_max / 4` equal slices these are the first, the lowest, the highest and the
    last, so a line at screen resolution looks as if nothing were missing. NaN counts as neither
    low nor high.
    """
    n = len(values)
    if n <= points_max:
        return np.arange(n, dtype=np.int64)
    edges = np.linspace(0, n, max(points_max // 4, 1) + 1).astype(np.int64)
    starts, ends = edges[:-1], edges[1:]
    low = [
        start + extreme(values[start:end], -1.0) for start, end in zip(starts, ends, strict=True)
    ]
    high = [
        start + extreme(values[start:end], 1.0) for start, end in zip(starts, ends, strict=True)
    ]
    return np.unique(np.concatenate([starts, np.array(low), np.array(high), ends - 1]))


def extreme(values: NDArray[np.float64], sign: float) -> int:
    """Position of the largest (`sign` 1) or smallest (-1) number; 0 when all are NaN."""
    return int(np.argmax(np.where(np.isnan(values), -np.inf, sign * values)))
