"""Calendars as lists of numbers in the program; see `kernels.calendars`."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

from cep.engine.machine.program import Builder
from cep.plan.cron import YEARS, Cron

FIRST_DAY = date(1970, 1, 1)
BITS = 32


@lru_cache(maxsize=64)
def days_of(text: str) -> tuple[int, ...]:
    """The days from 1970 on that a schedule has, as bits. O(days), a tenth of a second."""
    cron = Cron.parse(text)
    day, words = FIRST_DAY, list[int]()
    for number in range((date(YEARS[1] + 1, 1, 1) - FIRST_DAY).days):
        if number % BITS == 0:
            words.append(0)
        if day.month in cron.months and day.year in cron.years and cron.has_day(day):
            words[-1] |= 1 << number % BITS
        day += timedelta(days=1)
    return tuple(words)


def calendar(builder: Builder, text: str) -> int:
    """The place of a schedule in the program."""
    cron, days = Cron.parse(text), days_of(text)
    lists = (cron.seconds, cron.minutes, cron.hours)
    places = [builder.block(one) for one in lists]
    return builder.block((*map(len, lists), *places, len(days) * BITS, builder.block(days)))
