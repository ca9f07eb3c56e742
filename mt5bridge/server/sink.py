"""Where the server's findings go, and what it counts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from loguru import logger

from mt5bridge.server.batch import Batch, Funds, Gap, Outcome, Trader

_COMPLAINTS = 20


def _take(_batch: Batch) -> bool:
    return True


def _ignore(_item: object) -> None:
    return None


def _rest() -> None:
    return None


@dataclass(slots=True)
class Sink:
    """Callbacks, called in the server's thread.

    `on_batch` returns whether it took the batch; one not taken is asked for again later. `on_taken`
    says that all that had come was handed over, so that work on it can be done together.
    `on_trader` tells of a terminal that trades, `on_funds` of its account. `complaints` holds the
    newest ones.
    """

    on_batch: Callable[[Batch], bool] = _take
    on_taken: Callable[[], None] = _rest
    on_gap: Callable[[Gap], None] = _ignore
    on_outcome: Callable[[Outcome], None] = _ignore
    on_trader: Callable[[Trader], None] = _ignore
    on_funds: Callable[[Funds], None] = _ignore
    counters: Counter[str] = field(default_factory=Counter)
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=_COMPLAINTS))

    def count(self, name: str, number: int = 1) -> None:
        """Add to a counter."""
        self.counters[name] += number

    def complain(self, name: str, text: str) -> None:
        """Count, and log the 1st, 2nd, 4th, 8th ... time, so that no peer can flood the log."""
        self.counters[name] += 1
        self.complaints.append(f"{name}: {text}")
        times = self.counters[name]
        if times & (times - 1) == 0:
            logger.warning("{} (no. {}): {}", name, times, text)
