"""Charts as the plain data the page's script draws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.report.decimate import kept_points
from cep.report.model import Marker, MarkerKind, QueueCourse, Role, Series, SymbolChart

MARKERS_MAX = 1500
"""Markers of one kind on one chart; of more, the latest are drawn and the page says so."""
STAYS_MAX = 1500
"""Events of one queue on one chart; of more, the latest are shown and the page says so."""


def encode(charts: tuple[SymbolChart, ...], points_max: int) -> str:
    """JSON for a `<script>` element: no text in it can end the element or start markup."""
    text = json.dumps([chart_data(chart, points_max) for chart in charts], separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def chart_data(chart: SymbolChart, points_max: int) -> dict[str, Any]:
    start = start_msc(chart)
    markers = [marker for kind in MarkerKind for marker in latest(chart.markers, kind)]
    return {
        "symbol": chart.symbol,
        "digits": chart.digits,
        "start": start,
        "series": [series_data(series, start, chart.digits, points_max) for series in chart.series],
        "markers": [marker_data(marker, chart, start) for marker in markers],
        "queues": [queue_data(queue, start) for queue in chart.queues],
        "totals": {kind.value: sum(m.kind is kind for m in chart.markers) for kind in MarkerKind},
    }


def queue_data(queue: QueueCourse, start: int) -> dict[str, Any]:
    """Stays as lists: number, event, key, its time, when it entered and left, what it was bound to
    and when. Of more than `STAYS_MAX` the latest, and what they are known from.
    """
    shown, known = queue.stays[-STAYS_MAX:], queue.known_msc
    if len(shown) < len(queue.stays):
        known = max(shown[0].entered_msc, known or shown[0].entered_msc)
    stays = [
        [
            stay.number, stay.event, stay.key, stay.time_msc - start, stay.entered_msc - start,
            stay.left_msc - start, [[name, msc - start] for name, msc in stay.binds],
        ]
        for stay in shown
    ]  # fmt: skip
    known_at = None if known is None else known - start
    return {"engine": queue.engine, "span": queue.span_ms, "known": known_at, "stays": stays}


def start_msc(chart: SymbolChart) -> int:
    """The chart's first moment; the page's times count from here."""
    firsts = [int(series.time_msc[0]) for series in chart.series if len(series.time_msc)]
    return min(firsts + [marker.time_msc for marker in chart.markers], default=0)


def latest(markers: tuple[Marker, ...], kind: MarkerKind) -> list[Marker]:
    return [marker for marker in markers if marker.kind is kind][-MARKERS_MAX:]


def series_data(series: Series, start: int, digits: int, points_max: int) -> dict[str, Any]:
    at = kept_points(series.values, points_max)
    return {
        "name": series.name,
        "role": series.role.value,
        "t": (series.time_msc[at] - start).tolist(),
        "v": rounded(series.values[at], digits + 1),
    }


def rounded(values: NDArray[np.float64], digits: int) -> list[float | None]:
    """JSON has no NaN and no infinity; both become null."""
    return [round(value, digits) if np.isfinite(value) else None for value in values.tolist()]


def marker_data(marker: Marker, chart: SymbolChart, start: int) -> dict[str, Any]:
    price = marker.price if marker.price is not None else price_at(chart, marker.time_msc)
    data = {
        "kind": marker.kind.value,
        "t": marker.time_msc - start,
        "p": None if price is None or not np.isfinite(price) else round(price, chart.digits + 1),
        "label": marker.label,
        "side": marker.side,
        "detail": marker.detail,
        "id": marker.id,
        "parts": list(marker.parts),
    }
    return {name: value for name, value in data.items() if value not in ("", [])}


def price_at(chart: SymbolChart, time_msc: int) -> float | None:
    """The last price at or before a time, the first one before all; None without a price line."""
    price = next((series for series in chart.series if series.role is Role.PRICE), None)
    if price is None or not len(price.time_msc):
        return None
    at = int(np.searchsorted(price.time_msc, time_msc, side="right")) - 1
    return float(price.values[max(at, 0)])
