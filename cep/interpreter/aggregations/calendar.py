"""Calendar units in UTC: where they start and end, how they are named and written."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

MILLISECOND = timedelta(milliseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIXED_MS = {"sec": 1_000, "min": 60_000, "hour": 3_600_000, "day": 86_400_000}
TEXT = re.compile(
    r"(\d{4})-(\d\d|\*\*)-(\d\d|\*\*) (\d\d|\*\*):(\d\d|\*\*):(\d\d|\*\*)(?: ([+-]\d\d):(\d\d))?"
)
SPANS = ("year", "month", "day", "hour", "min", "sec")
"""The unit a time names when so many of its parts (less one) are digits."""


def start_of(unit: str, time_ms: int) -> int:
    """Start of the unit that holds a time, in ms UTC."""
    fixed = FIXED_MS.get(unit)
    if fixed is not None:
        return time_ms - time_ms % fixed
    time = EPOCH + time_ms * MILLISECOND
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return to_ms(day - timedelta(days=day.weekday()))
    return to_ms(day.replace(day=1) if unit == "month" else day.replace(month=1, day=1))


def to_ms(time: datetime) -> int:
    """A time of a known zone in ms UTC."""
    return (time - EPOCH) // MILLISECOND


def parse_time(text: str) -> int:
    """`yyyy-MM-dd HH:mm:ss [+HH:MM]`, GMT where no offset stands, in ms UTC; ValueError if not."""
    start, end = parse_span(text)
    if end - start != FIXED_MS["sec"]:
        raise ValueError(f"{text!r} is not a time: write `2024-12-31 23:59:59` or `.. +05:30`")
    return start


def parse_span(text: str) -> tuple[int, int]:
    """Start and end (not in) of what a time such as `2024-12-** **:**:**` names, in ms UTC."""
    match = TEXT.fullmatch(text.strip())
    parts = [] if match is None else list(match.groups()[:6])
    digits = sum(part != "**" for part in parts)
    if match is None or "**" in parts[:digits]:
        raise ValueError(
            f"{text!r} is not a time: write `2024-12-31 23:59:59`, from the right with `**` for "
            "all of a year, month, day, hour or minute, and an offset such as ` +05:30` if not GMT"
        )
    numbers = [int(part) for part in parts[:digits]] + [1, 1, 1, 0, 0, 0][digits:]
    year, month, day, hour, minute, second = numbers
    zone = _zone(match.group(7), match.group(8))
    start = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    return to_ms(start), to_ms(_end(start, SPANS[digits - 1]))


def _zone(hours: str | None, minutes: str | None) -> timezone:
    if hours is None or minutes is None:
        return UTC
    sign = -1 if hours.startswith("-") else 1
    return timezone(timedelta(hours=int(hours), minutes=sign * int(minutes)))


def _end(start: datetime, unit: str) -> datetime:
    if unit == "year":
        return start.replace(year=start.year + 1)
    if unit == "month":
        return (start + timedelta(days=31)).replace(day=1)
    return start + timedelta(milliseconds=FIXED_MS[unit])
