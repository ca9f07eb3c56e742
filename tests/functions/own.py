"""A file of functions as a user writes one, and rules that call them."""

from __future__ import annotations

from pathlib import Path

from cep.functions import load_functions

FILE = '''
"""What this trader looks at."""

from collections import deque
from typing import NamedTuple

from cep.functions import function, indicator


@function(name="own:pips")
def pips(bid: float, ask: float, scale: float = 10_000) -> float | None:
    """The spread in pips."""
    return None if bid is None or ask is None else round((ask - bid) * scale, 1)


@indicator(name="own:mean")
class Mean:
    """The mean of the last `n` values."""

    def __init__(self, n: int = 3) -> None:
        if n < 1:
            raise ValueError("n must be at least 1")
        self.recent = deque(maxlen=n)

    def update(self, x: float) -> float | None:
        self.recent.append(x)
        full = len(self.recent) == self.recent.maxlen
        return sum(self.recent) / len(self.recent) if full else None


class Range(NamedTuple):
    low: float
    high: float


@indicator(name="own:range")
class Extremes:
    """The smallest and the largest value so far."""

    def __init__(self) -> None:
        self.low = self.high = None

    def update(self, x: float) -> Range:
        self.low = x if self.low is None else min(x, self.low)
        self.high = x if self.high is None else max(x, self.high)
        return Range(self.low, self.high)


@indicator(name="own:nulls")
class Nulls:
    """How many nulls have come; it says itself what it remembers."""

    def __init__(self) -> None:
        self._found = 0

    def update(self, x: float | None) -> int:
        self._found += x is None
        return self._found

    def state(self) -> int:
        return self._found

    def restore(self, state: int) -> None:
        self._found = state
'''
STREAM = "define stream Tick (symbol string, bid double, ask double);\n"
RULES = STREAM + (
    "from Tick#own:range(bid) select symbol, low, high, own:mean(bid, 2) as mean,"
    " own:pips(bid, ask) as spread, own:nulls(ask) as nulls group by symbol insert into Out;\n"
)
TICKS = (
    (1_000, "A", 1.0, 1.0001),
    (2_000, "B", 5.0, 5.0002),
    (3_000, "A", 3.0, None),
    (4_000, "B", 7.0, 7.0001),
    (5_000, "A", None, None),
    (6_000, "A", 2.0, 2.0003),
)
EXPECTED = (
    ("A", 1.0, 1.0, None, 1.0, 0),
    ("B", 5.0, 5.0, None, 2.0, 0),
    ("A", 1.0, 3.0, 2.0, None, 1),
    ("B", 5.0, 7.0, 6.0, 1.0, 0),
    ("A", 1.0, 3.0, 2.0, None, 2),
    ("A", 1.0, 3.0, 2.5, 3.0, 2),
)
"""symbol, low, high, mean, spread, nulls after each tick."""


def written(folder: Path, text: str = FILE, name: str = "own.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str = FILE, name: str = "own.py") -> Path:
    """A file, whose functions are known from now on instead of those of others."""
    path = written(folder, text, name)
    load_functions([path])
    return path
