"""Self-contained HTML pages about a run: charts, events, queues, signals."""

from cep.report.model import (
    Dot,
    Heat,
    Marker,
    MarkerKind,
    QueueEntry,
    QueueView,
    Report,
    Role,
    Scatter,
    Series,
    SymbolChart,
    Table,
    Time,
    Verdict,
)
from cep.report.page import render

__all__ = [
    "Dot",
    "Heat",
    "MarkerKind",
    "Marker",
    "QueueEntry",
    "QueueView",
    "Report",
    "Role",
    "Scatter",
    "Series",
    "SymbolChart",
    "Table",
    "Time",
    "Verdict",
    "render",
]
