"""Self-contained HTML pages about a run: charts, events, queues, signals."""

from cep.report.model import (
    Dot,
    Heat,
    Histogram,
    Marker,
    MarkerKind,
    QueueCourse,
    QueueEntry,
    QueueView,
    Report,
    Role,
    Scatter,
    Series,
    Stay,
    SymbolChart,
    Table,
    Time,
    Verdict,
)
from cep.report.page import render

__all__ = [
    "Dot",
    "Heat",
    "Histogram",
    "MarkerKind",
    "Marker",
    "QueueCourse",
    "QueueEntry",
    "QueueView",
    "Report",
    "Role",
    "Scatter",
    "Series",
    "Stay",
    "SymbolChart",
    "Table",
    "Time",
    "Verdict",
    "render",
]
