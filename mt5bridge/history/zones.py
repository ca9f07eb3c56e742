"""Server wall time -> UTC: a fixed offset, or a zone with its daylight-saving rule."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mt5bridge.history.block import HistoryError

Ints = npt.NDArray[np.int64]
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
OFFSET_MAX_MS = 14 * HOUR_MS
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
_AHEAD = re.compile(
    r"(ny|(?!etc/)[a-z_]+/[a-z_/+-]*[a-z_])([+-]\d{1,2}(?::?[0-5]\d)?)", re.IGNORECASE
)
"""Not from `Etc/GMT`, whose names have the sign that POSIX gives it: `-2` is ahead."""
_NEW_YORK = "America/New_York"
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Shift:
    """A moment (UTC ms) at which a zone's clocks are moved, and their offsets before and after."""

    at_msc: int
    before_ms: int
    after_ms: int

    @property
    def is_gap(self) -> bool:
        """Whether clocks go forward, so that times of `walls` never come; else they come twice."""
        return self.after_ms > self.before_ms

    @property
    def walls(self) -> tuple[int, int]:
        """Clock times [first, past) that never come or come twice."""
        offsets = (self.before_ms, self.after_ms)
        return self.at_msc + min(offsets), self.at_msc + max(offsets)


@dataclass(frozen=True, slots=True)
class ServerTime:
    """What a broker's clock shows: so far ahead of UTC, or of a zone with its daylight saving."""

    utc_offset_ms: int = 0
    zone: zoneinfo.ZoneInfo | None = None

    @classmethod
    def parse(cls, text: str) -> ServerTime:
        """From `UTC`, `+2`, `UTC+02:00`, an IANA zone such as `Europe/Athens`, or so many hours
        from one: `ny+7` is seven ahead of New York, whose close at 17:00 is then midnight.

        A name that there is wins: `Etc/GMT-2` is IANA's, two hours ahead of UTC.
        """
        if text.upper() in ("UTC", "GMT", "Z"):
            return cls()
        if _OFFSET.fullmatch(text):
            return cls(_offset_of(text, text))
        zone, ahead_ms = _zone(text), 0
        if zone is None and (match := _AHEAD.fullmatch(text)):
            zone, ahead_ms = _zone(match[1]), _offset_of(match[2], text)
        if zone is None:
            raise HistoryError(
                f"server time {text!r} is unknown; give an offset such as +02:00, UTC, an IANA "
                "zone such as Europe/Athens, or hours from one such as ny+7"
            )
        return cls(ahead_ms, zone)

    def __str__(self) -> str:
        """As messages name it."""
        hours = f"{self.utc_offset_ms / HOUR_MS:+g} h"
        if self.zone is None:
            return f"UTC{hours}" if self.utc_offset_ms else "UTC"
        return f"{self.zone}{hours}" if self.utc_offset_ms else str(self.zone)

    def shifts(self, wall_msc: Ints) -> tuple[Shift, ...]:
        """The zone's shifts around these clock times, in order."""
        if self.zone is None or not len(wall_msc):
            return ()
        first, last = int(wall_msc.min()) - DAY_MS, int(wall_msc.max()) + DAY_MS
        years = range(_moment(first).year, _moment(last).year + 1)
        found = (shift for year in years for shift in _of_year(self.zone, year))
        return tuple(
            Shift(one.at_msc, one.before_ms + self.utc_offset_ms, one.after_ms + self.utc_offset_ms)
            for one in found
            if first <= one.at_msc <= last
        )

    def offsets_ms(self, wall_msc: Ints) -> Ints:
        """Offset from UTC at each server time; an hour that occurs twice is taken as the first."""
        if self.zone is None:
            return np.full(len(wall_msc), self.utc_offset_ms, np.int64)
        shifts = self.shifts(wall_msc)
        if not shifts:
            offset_ms = _offset_ms(self.zone, int(wall_msc[0])) if len(wall_msc) else 0
            return np.full(len(wall_msc), offset_ms + self.utc_offset_ms, np.int64)
        offsets = np.array([shifts[0].before_ms, *(s.after_ms for s in shifts)], np.int64)
        edges = np.array([shift.walls[1] for shift in shifts], np.int64)
        return offsets[np.searchsorted(edges, wall_msc, side="right")]


def _zone(name: str) -> zoneinfo.ZoneInfo | None:
    """A zone of the IANA, or New York's, `ny`; None when there is none."""
    try:
        return zoneinfo.ZoneInfo(_NEW_YORK if name.lower() == "ny" else name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _offset_of(offset: str, text: str) -> int:
    """An offset such as `+2`, `UTC+02:00`; HistoryError, which shows `text`, when it is none."""
    match = _OFFSET.fullmatch(offset)
    assert match is not None, "both patterns have one form of offsets"
    offset_ms = (int(match[2]) * 60 + int(match[3] or 0)) * MINUTE_MS
    if offset_ms > OFFSET_MAX_MS:
        raise HistoryError(f"server time {text!r} is more than 14 hours off; correct it")
    return -offset_ms if match[1] == "-" else offset_ms


@lru_cache(maxsize=1024)
def _of_year(zone: zoneinfo.ZoneInfo, year: int) -> tuple[Shift, ...]:
    """Shifts of a UTC year, found between days whose offsets differ."""
    start = _msc(datetime.datetime(year, 1, 1, tzinfo=datetime.UTC))
    days = range(start, start + 367 * DAY_MS, DAY_MS)
    offsets = [_offset_ms(zone, day) for day in days]
    found = (
        _between(zone, day, before, after)
        for day, before, after in zip(days, offsets, offsets[1:], strict=False)
        if before != after
    )
    return tuple(shift for shift in found if _moment(shift.at_msc).year == year)


def _between(zone: zoneinfo.ZoneInfo, low: int, before_ms: int, after_ms: int) -> Shift:
    """The shift within the day from `low`, to the second."""
    high = low + DAY_MS
    while high - low > 1000:
        middle = low + (high - low) // 2000 * 1000
        if _offset_ms(zone, middle) == before_ms:
            low = middle
        else:
            high = middle
    return Shift(high, before_ms, after_ms)


def _offset_ms(zone: zoneinfo.ZoneInfo, utc_msc: int) -> int:
    offset = _moment(utc_msc).astimezone(zone).utcoffset()
    assert offset is not None, "a zone has an offset at any time"
    return round(offset.total_seconds() * 1000)


def _moment(utc_msc: int) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(milliseconds=utc_msc)


def _msc(moment: datetime.datetime) -> int:
    return (moment - _EPOCH) // datetime.timedelta(milliseconds=1)


def the_clock(path: Path, said: ServerTime | None, known: ServerTime | None) -> ServerTime | None:
    """What the clock of a file shows: as its format tells, or as it is `said`.

    HistoryError where these differ.
    """
    if said and known and said != known:
        raise HistoryError(
            f"{path}: its times are {known}, as its format has it, and --server-time says {said}; "
            "leave --server-time out for this file"
        )
    return known or said


def wall_text(wall_msc: int) -> str:
    """A clock's reading, for messages."""
    return _moment(wall_msc).replace(tzinfo=None).isoformat(" ", "milliseconds")


UTC = ServerTime()
