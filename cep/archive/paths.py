"""Where things lie in an archive: Hive-style partition folders with safe names."""

from __future__ import annotations

import datetime
from pathlib import Path
from urllib.parse import quote, unquote

DAY_MS = 86_400_000
MANIFEST = "manifest.jsonl"
LOCK = ".lock"
EMPTY = "__HIVE_DEFAULT_PARTITION__"
_EPOCH = datetime.date(1970, 1, 1)


def encode_name(name: str) -> str:
    """`name` as one path component on any file system; Spark undoes the same escapes."""
    if not name:
        return EMPTY
    safe = quote(name, safe="")
    return "".join(f"%{ord(char):02X}" if char in ".~" else char for char in safe)


def decode_name(component: str) -> str:
    return "" if component == EMPTY else unquote(component)


def date_of(day: int) -> str:
    """ISO date of a day counted from 1970-01-01."""
    return (_EPOCH + datetime.timedelta(days=day)).isoformat()


def day_of(date: str) -> int:
    return (datetime.date.fromisoformat(date) - _EPOCH).days


def partition(stream: str, date: str, symbol: str) -> Path:
    """Folder of one day of one symbol, relative to the archive."""
    return Path(stream) / f"date={date}" / f"symbol={encode_name(symbol)}"
