"""A graph of boxes drawn in layers, left to right, as one SVG without scripts or fonts.

The classic method of layered drawing (Sugiyama, Tagawa, Toda 1981): a layer per longest path from
the start, then a few sweeps that move each box to the mean place of its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

CHARACTER_PX = 6.7
LINE_PX = 15
PADDING_PX = 9
GAP_X_PX = 70
GAP_Y_PX = 16
MARGIN_PX = 20
SWEEPS = 6
LINE_CHARACTERS_MAX = 58
BOLD = ' font-weight="bold"'

COLOURS: Mapping[str, tuple[str, str]] = {
    "stream": ("#e8f1fb", "#3a75b0"),
    "query": ("#fdf6e3", "#b58900"),
    "table": ("#eeeeee", "#6b6b6b"),
    "event": ("#e9f7ec", "#2f8f4e"),
    "complex": ("#f3e9fb", "#7d3cb5"),
    "signal": ("#fde8e6", "#c0392b"),
}
"""Fill and line of each kind of box."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node: its name, its kind (a key of `COLOURS`), lines of text below the name.

    `dashed` marks what is not compiled.
    """

    name: str
    kind: str
    lines: tuple[str, ...] = ()
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one box to another, by name; `label` stands at its middle."""

    source: str
    target: str
    label: str = ""


@dataclass
class _Placed:
    """A box, or (without one) a bend of an arrow that crosses a layer."""

    box: Box | None
    layer: int
    texts: list[str]
    width: float
    height: float
    x: float = 0
    y: float = 0
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def svg(title: str, boxes: Sequence[Box], arrows: Sequence[Arrow]) -> str:
    """The drawing; arrows between boxes that are not there are left out."""
    known = {box.name for box in boxes}
    drawn = [a for a in dict.fromkeys(arrows) if {a.source, a.target} <= known]
    placed = _placed(boxes, drawn)
    paths = [_path(placed, arrow) for arrow in drawn]
    _arrange(placed)
    width = max((p.x + p.width for p in placed.values()), default=0) + MARGIN_PX
    height = max((p.y + p.height for p in placed.values()), default=0) + MARGIN_PX
    arrows_drawn = [_arrow(path, arrow.label) for path, arrow in zip(paths, drawn, strict=True)]
    body = arrows_drawn + [_box(p, p.box) for p in placed.values() if p.box is not None]
    return "\n".join([_head(title, width, height), *body, "</svg>"]) + "\n"


def _placed(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> dict[str, _Placed]:
    layers = _layers(boxes, arrows)
    return {box.name: _measured(box, layers[box.name]) for box in boxes}


def _path(placed: dict[str, _Placed], arrow: Arrow) -> list[_Placed]:
    """The places an arrow goes through: a bend in every layer between its ends."""
    source, target = placed[arrow.source], placed[arrow.target]
    names = [arrow.source]
    for layer in range(source.layer + 1, target.layer):
        names.append(f"{arrow.source}>{arrow.target}>{layer}")
        placed[names[-1]] = _Placed(None, layer, [], 0, LINE_PX)
    names.append(arrow.target)
    for before, after in pairwise(names):
        if before != after:
            placed[before].after.append(after)
            placed[after].before.append(before)
    return [placed[name] for name in names]


def _measured(box: Box, layer: int) -> _Placed:
    texts = [_cut(line) for line in (box.name, *box.lines)]
    width = max(map(len, texts)) * CHARACTER_PX + 2 * PADDING_PX
    return _Placed(box, layer, texts, width, len(texts) * LINE_PX + 2 * PADDING_PX)


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARACTERS_MAX else text[: LINE_CHARACTERS_MAX - 1] + "…"


def _layers(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> dict[str, int]:
    """The longest path to each box; an arrow that closes a circle does not count."""
    layers = {box.name: 0 for box in boxes}
    for _ in boxes:
        moved = False
        for arrow in arrows:
            wanted = layers[arrow.source] + 1
            if arrow.source != arrow.target and layers[arrow.target] < wanted < len(boxes):
                layers[arrow.target], moved = wanted, True
        if not moved:
            break
    return layers


def _arrange(placed: dict[str, _Placed]) -> None:
    """Give every box its place."""
    columns: dict[int, list[_Placed]] = {}
    for box in placed.values():
        columns.setdefault(box.layer, []).append(box)
    order = [columns[layer] for layer in sorted(columns)]
    x = float(MARGIN_PX)
    for column in order:
        width = max(box.width for box in column)
        for box in column:
            box.x = x
            box.width = width if box.box is None else box.width
        _stack(column)
        x += width + GAP_X_PX
    for sweep in range(SWEEPS):
        for column in order if sweep % 2 == 0 else reversed(order):
            column.sort(key=lambda box: _wanted(placed, box, sweep % 2 == 0))
            _stack(column)
    _centre(order)


def _wanted(placed: dict[str, _Placed], box: _Placed, forward: bool) -> float:
    names = box.before if forward else box.after
    return sum(placed[name].middle for name in names) / len(names) if names else box.middle


def _stack(column: list[_Placed]) -> None:
    y = float(MARGIN_PX)
    for box in column:
        box.y = y
        y += box.height + GAP_Y_PX


def _centre(columns: list[list[_Placed]]) -> None:
    """Move short columns to the middle of the drawing."""
    bottoms = [column[-1].y + column[-1].height for column in columns]
    for column, bottom in zip(columns, bottoms, strict=True):
        for box in column:
            box.y += (max(bottoms) - bottom) / 2


def _head(title: str, width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11">'
        f"<title>{escape(title)}</title>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>'
        '<rect width="100%" height="100%" fill="#ffffff"/>'
    )


def _box(placed: _Placed, box: Box) -> str:
    fill, line = COLOURS[box.kind]
    dash = ' stroke-dasharray="5 3"' if box.dashed else ""
    shape = (
        f'<rect x="{placed.x:.1f}" y="{placed.y:.1f}" width="{placed.width:.1f}" '
        f'height="{placed.height:.1f}" rx="5" fill="{fill}" stroke="{line}"{dash}/>'
    )
    lines = [
        f'<text x="{placed.x + PADDING_PX:.1f}" '
        f'y="{placed.y + PADDING_PX + LINE_PX * (index + 0.75):.1f}"'
        f"{'' if index else BOLD}>{escape(text)}</text>"
        for index, text in enumerate(placed.texts)
    ]
    return "".join([shape, *lines])


def _arrow(path: list[_Placed], label: str) -> str:
    """One smooth line through all places of a path."""
    x, y = path[0].x + path[0].width, path[0].middle
    parts = [f"M{x:.1f} {y:.1f}"]
    for place in path[1:]:
        bend = max(abs(place.x - x) / 2, GAP_X_PX / 2)
        ends = f"{place.x - bend:.1f} {place.middle:.1f} {place.x:.1f} {place.middle:.1f}"
        parts.append(f"C{x + bend:.1f} {y:.1f} {ends}")
        x, y = place.x, place.middle
        if place.box is None:
            x += place.width
            parts.append(f"H{x:.1f}")
    curve = " ".join(parts)
    line = f'<path d="{curve}" fill="none" stroke="#555" marker-end="url(#tip)"/>'
    if not label:
        return line
    middle = f'x="{(path[0].x + path[0].width + x) / 2:.1f}" y="{(path[0].middle + y) / 2 - 4:.1f}"'
    return f'{line}<text {middle} text-anchor="middle" fill="#555">{escape(label)}</text>'
