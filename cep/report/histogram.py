"""How often amounts lie between two values, as bars: SVG without scripts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cep.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, STEPS, TOP, WIDTH, Axis, figure, frame
from cep.report.model import Histogram

BARS_MAX = 40
EXTREMES = (1.0, 99.0)
"""Percentiles: what lies beyond them stands in the first and the last bar where it is far off."""


def histogram_html(histogram: Histogram) -> str:
    """A figure with its caption; losses in another colour than gains."""
    values = np.asarray(histogram.values, np.float64)
    lows, counts, width = bars(values)
    across = Axis([*lows.tolist(), float(lows[-1]) + width], LEFT, WIDTH - RIGHT)
    up = Axis([float(counts.max())], HEIGHT - BOTTOM, TOP)
    drawing = frame(across, up, f"{histogram.across} → how many ↑")
    foot = up.place(0.0)
    for low, count, said in zip(
        lows.tolist(), counts.tolist(), spans(values, lows, width), strict=True
    ):
        left, right, top = across.place(low), across.place(low + width), up.place(count)
        kind = "sell" if low < 0 else "buy"
        drawing.append(
            f'<rect class="bar {kind}" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{foot - top:.1f}"><title>{said}: {count:,}</title>'
            "</rect>"
        )
    title = f"{histogram.title}: {about(values)}"
    return figure(title, f"{title}, {len(values):,} values", drawing)


def about(values: NDArray[np.float64]) -> str:
    """Mean and median, and what the worst twentieth is below."""
    worst, median = np.percentile(values, [5.0, 50.0]).tolist()
    return f"mean {values.mean():.4g}, median {median:.4g}, 5 % below {worst:.4g}"


def spans(values: NDArray[np.float64], lows: NDArray[np.float64], width: float) -> list[str]:
    """What each bar is of."""
    said = [f"{low:.6g} to {low + width:.6g}" for low in lows.tolist()]
    if values.min() < lows[0]:
        said[0] = f"below {lows[0] + width:.6g}"
    if values.max() >= lows[-1] + width:
        said[-1] = f"from {lows[-1]:.6g} on"
    return said


def bars(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    """The lower edge of each bar, how many values it holds, and the width of all.

    Widths are round, and 0 is an edge, which belongs to the bar above it. The width follows
    Freedman and Diaconis (1981): twice the middle half over the cube root of how many there are,
    but at least so great that `BARS_MAX` bars reach from 0 to all but the extremes, which count in
    the outermost bars.
    """
    low, high = np.percentile(values, EXTREMES).tolist()
    middle = float(np.subtract(*np.percentile(values, [75.0, 25.0])))
    spread = max(high, 0.0) - min(low, 0.0)
    rough = max(2.0 * middle / len(values) ** (1 / 3), spread / (BARS_MAX - 2)) or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(power * step for step in STEPS if power * step >= rough * (1 - 1e-9))
    first, last = math.floor(low / width), math.floor(high / width)
    places = np.clip(np.floor(values / width), first - 1, last + 1).astype(np.int64)
    lowest = int(places.min())
    counts = np.bincount(places - lowest).astype(np.int64)
    return (lowest + np.arange(len(counts), dtype=np.float64)) * width, counts, width
