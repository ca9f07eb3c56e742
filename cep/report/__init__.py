"""Self-contained HTML pages about a run: charts, events, queues, signals."""

from cep.report.model import (
    Marker,
    MarkerKind,
    QueueEntry,
    QueueView,
    Report,
    Role,
    Series,
    SymbolChart,
    Table,
    Time,
    Verdict,
)
from cep.report.page import render

__all__ = [
    "MarkerKind",
    "Marker",
    "QueueEntry",
    "QueueView",
    "Report",
    "Role",
    "Series",
    "SymbolChart",
    "Table",
    "Time",
    "Verdict",
    "render",
]
