"""Curves over a logarithmic axis, several panels side by side, as an SVG file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PANEL_WIDTH, PANEL_HEIGHT = 300, 230
LEFT, TOP, RIGHT, BOTTOM = 52, 30, 14, 34
"""Around the area of a panel."""
PER_ROW = 3
LABELS = {0: "1", 3: "1 k", 6: "1 M"}
INK, GRID, PAPER = "#24292f", "#d8dee4", "#ffffff"


@dataclass(frozen=True, slots=True)
class Line:
    """Points (x, y) in the order of x; one alone is a diamond."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram."""

    title: str
    lines: Sequence[Line]


def svg(panels: Sequence[Panel], x_max: float, decades: tuple[int, int], axes: str) -> str:
    """The panels and a legend; y between powers of ten. `axes` says what is what."""
    cells = len(panels) + 1
    width = PANEL_WIDTH * PER_ROW
    height = PANEL_HEIGHT * math.ceil(cells / PER_ROW)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
    ]
    for place, panel in enumerate(panels):
        parts += _at(place, _panel(panel, x_max, decades))
    lines = {line.name: line for panel in panels for line in panel.lines}
    parts += _at(len(panels), _legend(list(lines.values()), axes))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _at(place: int, parts: Sequence[str]) -> list[str]:
    row, column = divmod(place, PER_ROW)
    shift = f"translate({column * PANEL_WIDTH} {row * PANEL_HEIGHT})"
    return [f'<g transform="{shift}">', *parts, "</g>"]


def _panel(panel: Panel, x_max: float, decades: tuple[int, int]) -> list[str]:
    wide, high = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM
    low, top = decades

    def place(x: float, y: float) -> tuple[float, float]:
        up = (math.log10(y) - low) / (top - low)
        return round(LEFT + x / x_max * wide, 1), round(TOP + (1 - up) * high, 1)

    parts = [f'<text x="{LEFT}" y="{TOP - 10}" font-weight="bold">{panel.title}</text>']
    for decade in range(low, top + 1):
        y = place(0, 10.0**decade)[1]
        parts.append(f'<path d="M{LEFT} {y}h{wide}" stroke="{GRID}"/>')
        if decade in LABELS:
            parts.append(
                f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{LABELS[decade]}</text>'
            )
    for step in range(5):
        at = x_max * step / 4
        x = place(at, 10.0**low)[0]
        parts.append(f'<text x="{x}" y="{TOP + high + 16}" text-anchor="middle">{at:g}</text>')
    for line in panel.lines:
        parts += _drawn(line, [place(x, y) for x, y in line.points])
    return parts


def _drawn(line: Line, points: Sequence[tuple[float, float]]) -> list[str]:
    if len(points) == 1:
        return [_diamond(*points[0], line.colour)]
    path = " ".join(f"{x},{y}" for x, y in points)
    dash = ' stroke-dasharray="5 3"' if line.dashed else ""
    return [
        f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2"{dash}/>'
    ]


def _diamond(x: float, y: float, colour: str) -> str:
    return f'<path d="M{x} {y - 5}l5 5l-5 5l-5 -5z" fill="{colour}"/>'


def _legend(lines: Sequence[Line], axes: str) -> list[str]:
    parts = [f'<text x="{LEFT}" y="{TOP - 10}">{axes}</text>']
    for number, line in enumerate(lines):
        y = TOP + 12 + 20 * number
        parts += _drawn(line, [(LEFT, y), (LEFT + 26, y)][: min(2, len(line.points))])
        parts.append(f'<text x="{LEFT + 34}" y="{y + 4}">{line.name}</text>')
    return parts
