"""The functions of the namespace `time`, in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from cep.interpreter.context import Context
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Call, Constant

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

UNITS: dict[str, Callable[[datetime], int]] = {
    "year": lambda time: time.year,
    "month": lambda time: time.month,
    "day": lambda time: time.day,
    "hour": lambda time: time.hour,
    "minute": lambda time: time.minute,
    "second": lambda time: time.second,
    "weekday": lambda time: time.isoweekday() % 7 + 1,
    "day_of_year": lambda time: time.timetuple().tm_yday,
}


def extracted(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """`time:extract(time_ms, unit)`: a part of a time; null outside the years 1 to 9999."""
    time, unit = arguments[0], node.arguments[1]
    assert isinstance(unit, Constant)
    part = UNITS[str(unit.value).lower()]

    def extract(row: Row) -> int | None:
        time_ms = time(row)
        if time_ms is None:
            return None
        try:
            return part(EPOCH + timedelta(milliseconds=time_ms))
        except OverflowError:
            return None

    return extract
