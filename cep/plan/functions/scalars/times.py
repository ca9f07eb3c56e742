"""Functions of times, in the namespace `time`, in UTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cep.plan.expressions import Call
from cep.plan.functions.base import Evaluate, Scalar, Setting, constant
from cep.plan.functions.sql import Element, Sql
from cep.plan.signatures import TEXT, WHOLE, Parameter, Signature
from cep.plan.types import Type

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


FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""
FIELDS = {"weekday": "dow", "day_of_year": "doy"}


def _extracted(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
    """`time:extract(time_ms, unit)`: a part of a time; null outside the years 1 to 9999."""
    time = arguments[0]
    part = UNITS[str(constant(node)).lower()]

    def extract(row: Any) -> int | None:
        time_ms = time(row)
        if time_ms is None:
            return None
        try:
            return part(EPOCH + timedelta(milliseconds=time_ms))
        except OverflowError:
            return None

    return extract


def _sql_extracted(sql: Sql, node: Call, values: Sequence[Element]) -> Element:
    name = str(constant(node)).lower()
    time_ms = sql.case((values[0].between(FIRST_MS, LAST_MS), values[0]))
    # rounded down, before 1970, too
    time_s = (time_ms - (time_ms % 1000 + 1000) % 1000).op("/", sql.PRODUCT)(1000)
    moment = sql.literal_column("timestamp '1970-01-01'") + time_s * sql.literal_column(
        "interval '1 second'"
    )
    found = sql.cast(sql.extract(FIELDS.get(name, name), moment), sql.BigInteger())
    return found + 1 if name == "weekday" else found


EXTRACT = Scalar(
    Signature(
        "time:extract",
        (
            Parameter("time_ms", WHOLE),
            Parameter("unit", TEXT, "constant", choices=tuple(UNITS)),
        ),
        "a part of a time in ms UTC; weekdays count from 1, Sunday",
        Type.INT,
    ),
    _extracted,
    sql={"postgresql": _sql_extracted},
)
