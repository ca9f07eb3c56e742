"""The JEPC interface: event processing by composed objects, whatever engine is behind it.

Article "Event processing on your own database" (Glombiewski and others, 2013), section 3.
"""

from __future__ import annotations

from cep.database.errors import EventError
from cep.jepc.errors import QueryError
from cep.jepc.expressions import attribute, call, literal
from cep.jepc.federation import Federation
from cep.jepc.native import NativeProvider
from cep.jepc.processor import EventProcessor
from cep.jepc.provider import Event, Provider, Result
from cep.jepc.queries import (
    Aggregate,
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    PatternMatcher,
    PatternSymbol,
    Projector,
    Stream,
    TimeWindow,
    average,
    count,
    deviation,
    greatest,
    least,
    total,
)
from cep.jepc.sql import parse_sql

__all__ = [
    "EventProcessor", "Provider", "NativeProvider", "Federation", "Event", "Result",
    "parse_sql", "EventError", "QueryError",
    "Stream", "TimeWindow", "CountWindow",
    "Filter", "Aggregator", "Correlator", "PatternMatcher", "PatternSymbol", "Projector",
    "Aggregate", "count", "total", "average", "least", "greatest", "deviation",
    "attribute", "literal", "call",
]  # fmt: skip
