"""Moments as options of a command."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import click

_FORM = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?:[ T](?P<time>\d\d:\d\d(?::\d\d)?)(?P<part>\.\d{1,9})?)?"
    r"\s*(?P<zone>Z|UTC|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>[0-5]\d)?)?",
    re.IGNORECASE,
)
_DAYS_TO_SECONDS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]
_EXAMPLES = "2024-03-01, 2024-03-01T09:30 or 2024-03-01T09:30:00"


class _Moment(click.DateTime):
    """A moment in UTC, or with a zone that is turned into it; no finer than a millisecond."""

    def get_metavar(self, *_args: Any, **_given: Any) -> str:
        """In place of the forms, one after the other."""
        return "2024-03-01T09:30"

    def __init__(self, *, has_zone: bool = True) -> None:
        super().__init__(_DAYS_TO_SECONDS)
        self.has_zone = has_zone

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        match = _FORM.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} does not match the formats {_EXAMPLES}", param, ctx)
        if match["zone"] and not self.has_zone:
            self.fail(f"{value!r} has a zone; write the server's own time", param, ctx)
        if (match["part"] or "")[4:].strip("0"):
            self.fail(f"{value!r} is finer than a millisecond; round it", param, ctx)
        try:
            clock = datetime.fromisoformat(f"{match['date']}T{match['time'] or '00:00'}+00:00")
            part = timedelta(milliseconds=int((match["part"] or ".")[1:4].ljust(3, "0")))
            return (clock + part).replace(tzinfo=_zone(match)).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            self.fail(f"{value!r} is no moment ({error})", param, ctx)


def _zone(match: re.Match[str]) -> timezone:
    if not match["sign"]:
        return UTC
    ahead = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    return timezone(-ahead if match["sign"] == "-" else ahead)


MOMENT = _Moment()
SERVER_MOMENT = _Moment(has_zone=False)
"""What a server's clock shows, called UTC."""


def utc_msc(moment: datetime | None) -> int | None:
    """The moment in ms UTC."""
    return None if moment is None else round(moment.replace(tzinfo=UTC).timestamp() * 1000)
