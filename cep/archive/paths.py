"""Where things lie in an archive: Hive-style partition folders with safe names."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

DAY_MS = 86_400_000
MANIFEST = "manifest.jsonl"
PARTS = "manifest"
RETIRED = ".retired"
LOCK = ".lock"
NAME_CHARACTERS = 240
EMPTY = "__HIVE_DEFAULT_PARTITION__"
_EPOCH = datetime.date(1970, 1, 1)
FIRST_DAY = (datetime.date.min - _EPOCH).days
LAST_DAY = (datetime.date.max - _EPOCH).days


def encode_name(name: str) -> str:
    """`name` as one path component on any file system; Spark undoes the same escapes.

    Of one that is too long, which no symbol of a broker is, a part and a digest.
    """
    if not name:
        return EMPTY
    quoted = quote(name, safe="")
    safe = "".join(f"%{ord(char):02X}" if char in ".~" else char for char in quoted)
    if len(safe) <= NAME_CHARACTERS:
        return safe
    digest = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
    return safe[: NAME_CHARACTERS // 2].rpartition("%")[0] + digest


def decode_name(component: str) -> str:
    return "" if component == EMPTY else unquote(component)


def days_of(times_msc: NDArray[np.int64]) -> NDArray[np.int64]:
    """Days since 1970-01-01; times outside the years 1 to 9999 go to the calendar's ends."""
    return np.clip(times_msc // DAY_MS, FIRST_DAY, LAST_DAY)


def date_of(day: int) -> str:
    """ISO date of a day counted from 1970-01-01."""
    return (_EPOCH + datetime.timedelta(days=day)).isoformat()


def partition(stream: str, date: str, symbol: str) -> Path:
    """Folder of one day of one symbol, relative to the archive."""
    return Path(stream) / f"date={date}" / f"symbol={encode_name(symbol)}"
