"""Times given by a cron expression in Quartz's format, in UTC.

`seconds minutes hours day-of-month month day-of-week [year]`; each field `*`, `?`, values, ranges
`a-b`, steps `a/n`, lists; names of months and days; `L`, `L-n`, `W` of days of the month, `nL` and
`n#m` of days of the week (1 is Sunday).
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from cep.plan.signatures import Misfit

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()
YEARS = (1970, 2199)

DayRule = Callable[[date], bool]


@dataclass(frozen=True)
class Cron:
    """A schedule: which seconds, minutes, hours, months and years, and rules for days."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: tuple[int, ...]
    days: tuple[DayRule, ...]
    weekdays: tuple[DayRule, ...]

    @classmethod
    def parse(cls, text: str) -> Cron:
        """A schedule from its text; ValueError says what is wrong."""
        fields = text.upper().split()
        if len(fields) not in (6, 7):
            raise ValueError(
                f"'{text}' has {len(fields)} fields; cron needs 6 or 7: "
                "seconds minutes hours day-of-month month day-of-week [year]"
            )
        second, minute, hour, day, month, weekday = fields[:6]
        if day != "?" and weekday not in ("?", "*") and day != "*":
            raise ValueError(f"'{text}': one of day-of-month and day-of-week must be '?'")
        return cls(
            _numbers(second, 0, 59, "seconds"),
            _numbers(minute, 0, 59, "minutes"),
            _numbers(hour, 0, 23, "hours"),
            frozenset(_numbers(month, 1, 12, "month", MONTHS)),
            _numbers(fields[6] if len(fields) == 7 else "*", *YEARS, "year"),
            tuple(_day_rule(part) for part in day.split(",")),
            tuple(_weekday_rule(part) for part in weekday.split(",")),
        )

    def next_after(self, time_ms: int) -> int | None:
        """The first time of the schedule after `time_ms`, in ms UTC; None when there is none."""
        start = datetime.fromtimestamp(time_ms // 1000 + 1, UTC)
        day, earliest = start.date(), (start.hour, start.minute, start.second)
        while day.year <= self.years[-1]:
            if self.has_day(day):
                found = self._time_of_day(earliest)
                if found is not None:
                    moment = datetime(day.year, day.month, day.day, *found, tzinfo=UTC)
                    return int(moment.timestamp()) * 1000
            day, earliest = self._following(day), (0, 0, 0)
        return None

    def has_day(self, day: date) -> bool:
        """Whether a day is one of the schedule."""
        return (
            day.month in self.months
            and day.year in self.years
            and any(rule(day) for rule in self.days)
            and any(rule(day) for rule in self.weekdays)
        )

    def _following(self, day: date) -> date:
        """The next day worth looking at: months and years without a chance are skipped."""
        if day.month in self.months and day.year in self.years:
            return day + timedelta(days=1)
        return date(day.year + day.month // 12, day.month % 12 + 1, 1)

    def _time_of_day(self, earliest: tuple[int, int, int]) -> tuple[int, int, int] | None:
        for hour in self.hours:
            for minute in self.minutes:
                if (hour, minute, self.seconds[-1]) < earliest:
                    continue
                for second in self.seconds:
                    if (hour, minute, second) >= earliest:
                        return hour, minute, second
        return None


def why_no_cron(text: str) -> Misfit | None:
    """Why a text is no schedule, and what one looks like; None for one."""
    try:
        Cron.parse(text)
    except ValueError as error:
        hint = "for example '0 30 9 ? * MON-FRI': seconds minutes hours day month weekday"
        return Misfit(str(error), hint)
    return None


def _numbers(
    field: str, low: int, high: int, name: str, names: list[str] | None = None
) -> tuple[int, ...]:
    found: set[int] = set()
    for part in field.split(","):
        found.update(_range(part, low, high, name, names or []))
    return tuple(sorted(found))


def _range(part: str, low: int, high: int, name: str, names: list[str]) -> range:
    span, slash, step_text = part.partition("/")
    step = _number(step_text, 1, high, name, []) if slash else 1
    if span in ("*", "?", ""):
        return range(low, high + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, low, high, name, names)
    last = high if slash and not dash else first
    if dash:
        last = _number(last_text, low, high, name, names)
    if last < first:
        raise ValueError(f"{name}: '{part}' runs backwards")
    return range(first, last + 1, step)


def _number(text: str, low: int, high: int, name: str, names: list[str]) -> int:
    if text in names:
        return names.index(text) + low
    if not text.isdecimal() or not low <= int(text) <= high:
        raise ValueError(f"{name}: '{text}' is not within {low} and {high}")
    return int(text)


def _last_day(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _day_rule(part: str) -> DayRule:
    if part.startswith("L"):
        return _from_last(part)
    if part.endswith("W"):
        wanted = _number(part[:-1], 1, 31, "day-of-month", [])
        return lambda day: wanted <= _last_day(day) and day.day == _working_day(day, wanted)
    days = frozenset(_numbers(part, 1, 31, "day-of-month"))
    return lambda day: day.day in days


def _from_last(part: str) -> DayRule:
    if part == "LW":
        return lambda day: day.day == _working_day(day, _last_day(day))
    back = 0 if part == "L" else _number(part.removeprefix("L-"), 0, 30, "day-of-month", [])
    return lambda day: day.day == _last_day(day) - back


def _working_day(month: date, wanted: int) -> int:
    """The day from Monday to Friday nearest to `wanted`, within its month."""
    weekday = month.replace(day=wanted).weekday()
    if weekday == calendar.SATURDAY:
        return wanted - 1 if wanted > 1 else wanted + 2
    if weekday == calendar.SUNDAY:
        return wanted + 1 if wanted < _last_day(month) else wanted - 2
    return wanted


def _weekday(day: date) -> int:
    return day.isoweekday() % 7 + 1


def _weekday_rule(part: str) -> DayRule:
    if part == "L":
        return lambda day: _weekday(day) == 7
    if part.endswith("L"):
        wanted = _number(part[:-1], 1, 7, "day-of-week", WEEKDAYS)
        return lambda day: _weekday(day) == wanted and day.day > _last_day(day) - 7
    if "#" in part:
        left, _, right = part.partition("#")
        wanted = _number(left, 1, 7, "day-of-week", WEEKDAYS)
        which = _number(right, 1, 5, "day-of-week", [])
        return lambda day: _weekday(day) == wanted and (day.day - 1) // 7 + 1 == which
    weekdays = frozenset(_weekdays(part))
    return lambda day: _weekday(day) in weekdays


def _weekdays(part: str) -> list[int]:
    """Days of the week; a range may run over Saturday, as in FRI-MON."""
    first, dash, last = part.partition("-")
    if dash and "/" not in part:
        start = _number(first, 1, 7, "day-of-week", WEEKDAYS)
        length = (_number(last, 1, 7, "day-of-week", WEEKDAYS) - start) % 7
        return [(start + step - 1) % 7 + 1 for step in range(length + 1)]
    return list(_range(part, 1, 7, "day-of-week", WEEKDAYS))
