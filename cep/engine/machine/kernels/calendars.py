"""Times of a calendar, as `cep.plan.cron` reads them: in the program, as lists of numbers."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.words import Ints

# A schedule: how many seconds, minutes and hours, where each of these lists stands, how many days
# from 1970 on, and where their bits stand, 32 in a word.
SECONDS, MINUTES, HOURS, SECONDS_AT, MINUTES_AT, HOURS_AT, DAYS, DAYS_AT = 0, 1, 2, 3, 4, 5, 6, 7
DAY_SECONDS = 86_400


@inner
def time_after(p: Ints, schedule: int, time_ms: int) -> int:
    """The first time of a schedule after a time, in ms UTC; -1 when there is none."""
    start = time_ms // 1000 + 1
    day, earliest = start // DAY_SECONDS, start % DAY_SECONDS
    while day < p[schedule + DAYS]:
        if day >= 0 and (p[p[schedule + DAYS_AT] + day // 32] >> (day % 32)) & 1:
            found = second_from(p, schedule, earliest)
            if found >= 0:
                return (day * DAY_SECONDS + found) * 1000
        day, earliest = day + 1, 0
    return -1


@inner
def second_from(p: Ints, schedule: int, earliest: int) -> int:
    """The first second of a day in a schedule that is not before another; -1 for none."""
    last = p[p[schedule + SECONDS_AT] + p[schedule + SECONDS] - 1]
    for hour in range(p[schedule + HOURS]):
        for minute in range(p[schedule + MINUTES]):
            first = (
                p[p[schedule + HOURS_AT] + hour] * 3600 + p[p[schedule + MINUTES_AT] + minute] * 60
            )
            if first + last < earliest:
                continue
            for second in range(p[schedule + SECONDS]):
                found = first + p[p[schedule + SECONDS_AT] + second]
                if found >= earliest:
                    return found
    return -1
