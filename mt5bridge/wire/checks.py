"""What values frames may hold beyond their layout (PROTOCOL.md sections 1 and 11)."""

from __future__ import annotations

import math
import re
from typing import NoReturn

from mt5bridge.wire.errors import Reason, WireError

SEQUENCE_MAX = 2**63 - 1
TIME_MSC_MIN = -62_135_596_800_000  # the years 1 to 9999
TIME_MSC_MAX = 253_402_300_799_999
UTC_OFFSET_MS_MAX = 86_400_000
# A fixed list (PROTOCOL.md 1.5), so that both sides agree whatever Unicode each of them knows.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff"
    "\ufeff\ufff9-\ufffb]"
)


def require(condition: bool, detail: str) -> None:
    """WireError with a detail unless a condition holds."""
    if not condition:
        refuse(detail)


def refuse(detail: str) -> NoReturn:
    """WireError; where each number of a signal is looked at, a text is made of a wrong one only."""
    raise WireError(Reason.BAD_VALUE, detail)


def check_name(name: str, what: str, bytes_max: int) -> None:
    """1 to `bytes_max` bytes, all of them printable."""
    size = len(name.encode())
    require(1 <= size <= bytes_max, f"{what} has {size} bytes, 1 to {bytes_max} allowed")
    require(not _UNPRINTABLE.search(name), f"{what} {name!r} is not printable")


def check_interval(first: int, last: int) -> None:
    """Sequences of an interval."""
    require(1 <= first <= last <= SEQUENCE_MAX, f"sequences {first}..{last} are no interval")


def check_offset(utc_offset_ms: int) -> None:
    """Server time minus UTC: within a day."""
    require(abs(utc_offset_ms) <= UTC_OFFSET_MS_MAX, f"offset {utc_offset_ms} ms is beyond a day")


def check_sizes(*numbers: float) -> None:
    """Finite, and not negative."""
    for number in numbers:
        if not (math.isfinite(number) and number >= 0):
            refuse(f"{number} is no size")


def check_finite(*numbers: float) -> None:
    """No infinity, and no NaN."""
    for number in numbers:
        if not math.isfinite(number):
            refuse(f"{number} is no finite number")


def check_times(*times: int) -> None:
    """Times of somebody's clock."""
    for time_msc in times:
        if not TIME_MSC_MIN <= time_msc <= TIME_MSC_MAX:
            refuse(f"time {time_msc} is not in the years 1 to 9999")


def check_sequences(*sequences: int) -> None:
    """0 to 2^63 - 1."""
    for sequence in sequences:
        require(sequence <= SEQUENCE_MAX, f"sequence {sequence} is too large")


def check_count(count: int, count_max: int, what: str) -> None:
    """Entries of a list."""
    require(count <= count_max, f"{count} {what}, at most {count_max} allowed")
