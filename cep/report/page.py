"""A report as one HTML page that needs nothing else: no network, no library, no other file."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

from cep.report.chart import encode
from cep.report.heat import heat_html
from cep.report.histogram import histogram_html
from cep.report.model import Report, Verdict
from cep.report.scatter import scatter_html
from cep.report.tables import queue_html, table_html

POINTS_MAX = 4000


def render(report: Report, *, points_max: int = POINTS_MAX) -> str:
    """The page's HTML; each line of a chart is drawn with about `points_max` points at most."""
    return Template(resource("page.html")).substitute(
        title=escape(report.title),
        subtitle=escape(report.subtitle),
        style=resource("page.css"),
        script=resource("page.js"),
        verdict=verdict_html(report.verdict),
        summary=summary_html(report.summary),
        charts='<section id="charts" class="card" hidden></section>' if report.charts else "",
        planes=planes_html(report),
        heats="\n".join(map(heat_html, report.heats)),
        tables="\n".join(map(table_html, report.tables)),
        queues="\n".join(map(queue_html, report.engines)),
        data=encode(report.charts, points_max),
    )


def resource(name: str) -> str:
    return files("cep.report").joinpath(name).read_text(encoding="utf-8")


def verdict_html(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    name, sign = ("good", "✓") if verdict.good else ("bad", "✗")
    mark = f'<span aria-hidden="true">{sign}</span>'
    return f'<p class="verdict {name}" role="status">{mark} {escape(verdict.text)}</p>'


def planes_html(report: Report) -> str:
    """Histograms and scatters, side by side."""
    drawn = [*map(histogram_html, report.histograms), *map(scatter_html, report.scatters)]
    figures = "\n".join(drawn)
    return f'<section class="card planes">\n{figures}\n</section>' if figures else ""


def summary_html(pairs: tuple[tuple[str, str], ...]) -> str:
    tiles = (f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="summary">{"".join(tiles)}</dl>' if pairs else ""
