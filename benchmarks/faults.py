"""What has befallen a terminal, as its journal tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_MARKS = {
    "script: reinit ": "reinitialisations",
    "script: account ": "account_switches",
    "script: no ": "file_failures",
}


def told(journal: Iterable[str]) -> Counter[str]:
    """How often what has happened, by the names of an outcome's fields."""
    texts = [line.rpartition("\t")[2] for line in journal]
    return Counter(name for text in texts for mark, name in _MARKS.items() if text.startswith(mark))
