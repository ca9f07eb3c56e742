"""Functions of times, in the namespace `time`, in UTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cep.plan.expressions import Call
from cep.plan.functions.base import Evaluate, Scalar, Setting, constant
from cep.plan.functions.native import NULL, Source, Written
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
DAY_MS = 86_400_000
MARCH_DAYS = 719_468
"""From 0000-03-01 to 1970-01-01."""
JANUARY_DAYS = 306
"""From the first of March to that of January."""
ERA_DAYS = 146_097
"""Of 400 years."""
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


def years_before(year: int) -> int:
    """Days from 0000-03-01 to the first of March of a year."""
    return 365 * year + year // 4 - year // 100 + year // 400


def time_part(time_ms: int, unit: int) -> int:
    """A part of a time by the place of its name in `UNITS`; see `_extracted`.

    Years begin in March here, so that the day which may be missing is their last (H. Hinnant,
    "chrono-compatible low-level date algorithms", 2013).
    """
    if time_ms < FIRST_MS or time_ms > LAST_MS:  # null, too
        return NULL
    days, rest_ms = time_ms // DAY_MS, time_ms % DAY_MS
    if unit == 3:
        return rest_ms // 3_600_000
    if unit == 4:
        return rest_ms // 60_000 % 60
    if unit == 5:
        return rest_ms // 1000 % 60
    if unit == 6:
        return (days + 4) % 7 + 1
    since = days + MARCH_DAYS
    era, of_era = since // ERA_DAYS, since % ERA_DAYS
    in_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    year = 400 * era + in_era
    of_year = since - years_before(year)
    moon = (5 * of_year + 2) // 153
    month = moon + 3 if moon < 10 else moon - 9
    if month < 3:
        year += 1
    if unit == 0:
        return year
    if unit == 1:
        return month
    if unit == 2:
        return of_year - (153 * moon + 2) // 5 + 1
    return since - (years_before(year - 1) + JANUARY_DAYS) + 1


def _write_extract(written: Written) -> str:
    unit = list(UNITS).index(str(constant(written.call)).lower())
    return f"time_part({written.value(0)}, {unit})"


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
    Source(_write_extract, (time_part,)),
    sql={"postgresql": _sql_extracted},
)
