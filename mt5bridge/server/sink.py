"""Where the server's findings go, and what it counts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from loguru import logger

from mt5bridge.server.batch import Batch, Funds, Gap, Outcome, Trader, Watermark
from mt5bridge.server.specified import Specified

_COMPLAINTS = 20
_COUNT_MAX = 2**63 - 1
_REASON_CHARACTERS = 1_000

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


def _take(_item: object) -> bool:
    return True


def _ignore(_item: object) -> None:
    return None


def _rest() -> None:
    return None


@dataclass(slots=True)
class Sink:
    """Callbacks, called in the server's thread.

    `on_batch` and `on_gap` return whether it was taken; what was not is asked for again later.
    `on_watermark` tells up to when a terminal's ticks were all handed to `on_batch`. `on_taken`
    says that all that had come was handed over, so that work on it can be done together.
    `on_trader` tells of a terminal that trades, `on_funds` of its account, `on_specified` what it
    says of symbols and account, again and again. `complaints` holds the newest ones, `reasons` the
    newest of each counter. What a callback raises ends the server's thread: who stores has failed,
    and no terminal is to blame; `has_failed` tells it from what goes wrong in a session.
    """

    on_batch: Callable[[Batch], bool] = _take
    on_gap: Callable[[Gap], bool] = _take
    on_outcome: Callable[[Outcome], None] = _ignore
    on_trader: Callable[[Trader], None] = _ignore
    on_funds: Callable[[Funds], None] = _ignore
    on_specified: Callable[[Sequence[Specified]], None] = _ignore
    on_taken: Callable[[], None] = _rest
    on_watermark: Callable[[Watermark], None] = _ignore
    counters: Counter[str] = field(default_factory=Counter)
    complaints: deque[str] = field(default_factory=lambda: deque(maxlen=_COMPLAINTS))
    reasons: dict[str, str] = field(default_factory=dict)
    has_failed: bool = False

    def take(self, batch: Batch) -> bool:
        """Hand a batch on; whether it was taken."""
        return self._call(self.on_batch, batch)

    def tell_watermark(self, watermark: Watermark) -> None:
        """Hand on up to when a terminal's ticks are complete."""
        self._call(self.on_watermark, watermark)

    def tell_gap(self, gap: Gap) -> bool:
        """Hand on what is lost; whether it was taken."""
        return self._call(self.on_gap, gap)

    def tell_outcome(self, outcome: Outcome) -> None:
        """Hand a result on."""
        self._call(self.on_outcome, outcome)

    def tell_trader(self, trader: Trader) -> None:
        """Hand on who trades."""
        self._call(self.on_trader, trader)

    def tell_funds(self, funds: Funds) -> None:
        """Hand on how an account stands."""
        self._call(self.on_funds, funds)

    def tell_specified(self, parts: Sequence[Specified]) -> None:
        """Hand on what symbols are like, or an account."""
        self._call(self.on_specified, parts)

    def count(self, name: str, number: int = 1) -> None:
        """Add to a counter, which stays a number that JSON readers know."""
        self.counters[name] = min(self.counters[name] + number, _COUNT_MAX)

    def complain(self, name: str, text: str) -> None:
        """Count, and log the 1st, 2nd, 4th, 8th ... time, so that no peer can flood the log."""
        self.note(name, text)
        self.complaints.append(f"{name}: {text}")
        times = self.counters[name]
        if times & (times - 1) == 0:
            logger.warning("{} (no. {}): {}", name, times, text)

    def note(self, name: str, text: str) -> None:
        """Count, and keep the text as the newest reason."""
        self.count(name)
        self.reasons[name] = text[:_REASON_CHARACTERS]

    def _call(self, callback: Callable[[_Item], _Answer], item: _Item) -> _Answer:
        try:
            return callback(item)
        except BaseException:
            self.has_failed = True
            raise
