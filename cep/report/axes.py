"""Axes of small drawings, as SVG without scripts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 12, 40
TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Axis:
    """From values to places between two edges of the drawing; 0 is among them."""

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


def frame(across: Axis, up: Axis, caption: str) -> list[str]:
    """Grid, zero lines and values of both axes, and what they are."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    found = [line(x, TOP, x, bottom, "grid") for x in map(across.place, across.ticks)]
    found += [line(LEFT, y, right, y, "grid") for y in map(up.place, up.ticks)]
    x, y = across.place(0.0), up.place(0.0)
    found += [line(x, TOP, x, bottom, "zero"), line(LEFT, y, right, y, "zero")]
    found += [label(across.place(at), bottom + 16, "middle", f"{at:g}") for at in across.ticks]
    found += [label(LEFT - 6, up.place(at) + 4, "end", f"{at:g}") for at in up.ticks]
    return [*found, label((LEFT + right) / 2, HEIGHT - 6, "middle", caption)]


def figure(title: str, about: str, drawing: Sequence[str]) -> str:
    """The drawing below its title; `about` tells those who cannot see it."""
    return (
        f'<figure class="plane"><figcaption>{escape(title)}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(about)}">'
        f"{''.join(drawing)}</svg></figure>"
    )


def line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def label(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
