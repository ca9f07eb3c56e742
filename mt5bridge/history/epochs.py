"""Which numbers are times of a market: the one place that says so.

The years 1971 to 2099 are far enough apart that a number tells its unit: seconds, milli-, micro-
and nanoseconds of these years are all different numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mt5bridge.history.block import HistoryError

Ints = npt.NDArray[np.int64]

FIRST_SECOND, PAST_SECOND = 31_536_000, 4_102_444_800
"""1971-01-01 and 2100-01-01, the end excluded, UTC seconds."""

UNITS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
"""How many of each unit make a second."""

NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
YEARS = "the years 1971 to 2099"
FORMS = "2024-03-01 09:30:00.250 as text, whole seconds in `time`, or milliseconds in `time_msc`"
"""What a time may look like, for messages."""

REMEDIES = {
    "s": "call the column time, which holds seconds",
    "ms": "call the column time_msc, which holds milliseconds",
    "us": "divide it by 1,000 and call the column time_msc",
    "ns": "divide it by 1,000,000 and call the column time_msc",
}


class BadRow(Exception):
    """A row whose time or symbol cannot be used; a `fatal` one speaks for its whole file."""

    def __init__(self, row: int, what: str, remedy: str, *, fatal: bool = False) -> None:
        super().__init__(f"{what}; {remedy}")
        self.row, self.what, self.remedy, self.fatal = row, what, remedy, fatal

    def at(self, place: str) -> HistoryError:
        """The error for users, `place` being where the row is."""
        return HistoryError(f"{place}: {self}")


def unit_of(number: int) -> str | None:
    """The unit in which `number` is a time of a market, or None."""
    for unit, per_second in UNITS.items():
        if FIRST_SECOND * per_second <= number < PAST_SECOND * per_second:
            return unit
    return None


def explained(number: int, unit: str) -> tuple[str, str]:
    """What is wrong with `number` as a time in `unit`, and the remedy."""
    likely = unit_of(number)
    if likely is None:
        return f"{number} {NAMES[unit]} are not in {YEARS}", f"give {FORMS}"
    return f"{number} is not in {YEARS} as {NAMES[unit]}, it is as {NAMES[likely]}", REMEDIES[
        likely
    ]


def as_msc(numbers: Ints, unit: str, *, is_typed: bool = False) -> Ints:
    """Times in `unit` as ms. BadRow for one that is no time of a market, or finer than a ms.

    `is_typed` says that the unit is part of the column's type, not of its name.
    """
    low, high = FIRST_SECOND * UNITS[unit], PAST_SECOND * UNITS[unit]
    if len(numbers) and (numbers.min() < low or numbers.max() >= high):
        bad = (numbers < low) | (numbers >= high)
        row = int(np.argmax(bad))
        what, remedy = explained(int(numbers[row]), unit)
        # Where none of many is right, the column is wrong and not a line.
        is_column = len(bad) > 1 and bool(bad.all())
        remedy = "write the column with the right unit" if is_typed else remedy
        raise BadRow(row, what, remedy, fatal=is_column)
    return scaled(numbers, unit)


def check_msc(msc: Ints) -> None:
    """BadRow for a time that is none of a market."""
    low, high = FIRST_SECOND * 1000, PAST_SECOND * 1000
    if len(msc) and (msc.min() < low or msc.max() >= high):
        row = int(np.argmax((msc < low) | (msc >= high)))
        raise BadRow(row, f"the time is not in {YEARS}", "correct it")


def scaled(numbers: Ints, unit: str) -> Ints:
    """Times in `unit` as ms, whatever they are. BadRow for one that is finer than a ms."""
    per_ms = UNITS[unit] // 1000
    if per_ms == 0:
        return numbers * 1000
    if per_ms == 1:
        return numbers
    whole = numbers // per_ms
    fine = whole * per_ms != numbers
    if fine.any():
        raise BadRow(
            int(np.argmax(fine)), "a time finer than a millisecond",
            "round times to whole milliseconds, the resolution of MetaTrader",
        )  # fmt: skip
    return whole
