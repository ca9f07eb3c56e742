"""Dots of two amounts against each other, as SVG without scripts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from cep.report.model import Scatter

WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 12, 40
DOTS_MAX = 1500
"""Of more, the latest are drawn and the page says so."""
TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class _Axis:
    """From values to places between two edges of the drawing."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min([0.0, *values]), max([0.0, *values])
        room = (high - low or 1.0) * 0.04
        self._low, self._high = low - room, high + room
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        share = (value - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    @property
    def ticks(self) -> list[float]:
        """Round values, about `TICKS` of them."""
        rough = (self._high - self._low) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * one for one in STEPS if power * one >= rough * (1 - 1e-9))
        first = math.ceil(self._low / step)
        return [n * step for n in range(first, math.floor(self._high / step) + 1)]


def scatter_html(scatter: Scatter) -> str:
    """A figure with its caption."""
    dots = list(scatter.dots)[-DOTS_MAX:]
    across = _Axis([dot.x for dot in dots], LEFT, WIDTH - RIGHT)
    up = _Axis([dot.y for dot in dots], HEIGHT - BOTTOM, TOP)
    parts = [*_lines(across, up), *_labels(scatter, across, up)]
    for dot in dots:
        kind = "sell" if dot.y < 0 else "buy"
        place = f'cx="{across.place(dot.x):.1f}" cy="{up.place(dot.y):.1f}"'
        parts.append(
            f'<circle class="dot {kind}" {place} r="3"><title>{escape(dot.text)}</title></circle>'
        )
    cut = "" if len(dots) == len(scatter.dots) else f" (the latest {len(dots):,})"
    named = escape(f"{scatter.title}: {len(dots):,} dots")
    return (
        f'<figure class="scatter"><figcaption>{escape(scatter.title)}{cut}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{named}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _lines(across: _Axis, up: _Axis) -> list[str]:
    found = [_line(x, TOP, x, HEIGHT - BOTTOM, "grid") for x in map(across.place, across.ticks)]
    found += [_line(LEFT, y, WIDTH - RIGHT, y, "grid") for y in map(up.place, up.ticks)]
    x, y = across.place(0.0), up.place(0.0)
    zeros = _line(x, TOP, x, HEIGHT - BOTTOM, "zero"), _line(LEFT, y, WIDTH - RIGHT, y, "zero")
    return [*found, *zeros]


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def _labels(scatter: Scatter, across: _Axis, up: _Axis) -> list[str]:
    bottom = HEIGHT - BOTTOM + 16
    found = [_text(across.place(value), bottom, "middle", f"{value:g}") for value in across.ticks]
    found += [_text(LEFT - 6, up.place(value) + 4, "end", f"{value:g}") for value in up.ticks]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*found, _text(middle, HEIGHT - 6, "middle", f"{scatter.across} → {scatter.up} ↑")]


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
