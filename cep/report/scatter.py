"""Dots of two amounts against each other, as SVG without scripts."""

from __future__ import annotations

from html import escape

from cep.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, figure, frame
from cep.report.model import Scatter

DOTS_MAX = 1500
"""Of more, the latest are drawn and the page says so."""


def scatter_html(scatter: Scatter) -> str:
    """A figure with its caption."""
    dots = list(scatter.dots)[-DOTS_MAX:]
    across = Axis([dot.x for dot in dots], LEFT, WIDTH - RIGHT)
    up = Axis([dot.y for dot in dots], HEIGHT - BOTTOM, TOP)
    drawing = frame(across, up, f"{scatter.across} → {scatter.up} ↑")
    for dot in dots:
        kind = "sell" if dot.y < 0 else "buy"
        place = f'cx="{across.place(dot.x):.1f}" cy="{up.place(dot.y):.1f}"'
        drawing.append(
            f'<circle class="dot {kind}" {place} r="3"><title>{escape(dot.text)}</title></circle>'
        )
    cut = "" if len(dots) == len(scatter.dots) else f" (the latest {len(dots):,})"
    return figure(scatter.title + cut, f"{scatter.title}: {len(dots):,} dots", drawing)
