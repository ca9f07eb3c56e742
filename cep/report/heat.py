"""What two settings come to, as a table with colours, readable without the page's script."""

from __future__ import annotations

from html import escape

from cep.report.model import Heat

SHARE_MAX = 45
"""Percent of the colour at most: text stays readable on it."""


def heat_html(heat: Heat) -> str:
    """A figure with its caption; the best cell has a frame."""
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in heat.columns)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>{_cells(heat, number)}</tr>'
        for number, name in enumerate(heat.rows)
    )
    corner = (
        f"{escape(heat.up)} ↓ {escape(heat.across)} →" if heat.up else f"{escape(heat.across)} →"
    )
    return (
        f'<figure class="card heat"><figcaption>{escape(heat.title)}</figcaption>'
        f'<div class="scroll"><table><thead><tr><th scope="col">{corner}</th>{columns}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div></figure>"
    )


def _cells(heat: Heat, row: int) -> str:
    return "".join(
        _cell(text, share, is_best=heat.best == (row, column))
        for column, (text, share) in enumerate(zip(heat.texts[row], heat.shares[row], strict=True))
    )


def _cell(text: str, share: float | None, *, is_best: bool) -> str:
    best = " best" if is_best else ""
    if share is None:
        return f'<td class="number{best}">{escape(text)}</td>'
    kind = "up" if share >= 0.0 else "down"
    percent = round(SHARE_MAX * min(1.0, abs(share)))
    return f'<td class="number {kind}{best}" style="--share: {percent}%">{escape(text)}</td>'
