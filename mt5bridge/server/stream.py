"""One stream's place in its sequence: what is next, what is on disk, what is missing."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from mt5bridge.position import START, Position
from mt5bridge.records import TICK, Records
from mt5bridge.server.batch import DEALS, StreamKey
from mt5bridge.server.recount import Agreement, Ledger
from mt5bridge.validate import ALL_GOOD, QualityArray, near_times

_NOTHING = np.empty(0, TICK)
_PARTS_MAX = 256
_RECORDS_MAX = 4_096
"""So much that is on disk is kept to be looked at together."""


class Verdict(Enum):
    """What an offered interval is to the stream."""

    NEW = "new"
    DUPLICATE = "duplicate"
    BEYOND = "beyond"


@dataclass(slots=True)
class Stream:
    """Go-back-N receiver: takes the expected sequence, drops older ones, refuses later ones."""

    key: StreamKey
    stored: int = 0  # the last sequence on disk
    expected: int = 1
    latest_msc: int = 0
    seen: int = 0  # the highest sequence that this connection has told of
    asked_ms: int | None = None  # when the missing interval was last asked for
    pending: deque[tuple[int, Records, QualityArray]] = field(default_factory=deque)
    gaps: int = 0
    lost: int = 0
    ledger: Ledger = field(default_factory=lambda: Ledger(START))
    recounts: Counter[Agreement] = field(default_factory=Counter)
    last_difference: str = ""
    _durable: Position = START  # of what was looked at, which `stored` is ahead of

    @classmethod
    def resumed(cls, key: StreamKey, durable: Position) -> Stream:
        """A stream that goes on behind what is on disk."""
        after = durable.sequence
        return cls(
            key,
            after,
            expected=after + 1,
            latest_msc=durable.time_msc,
            ledger=Ledger(durable),
            _durable=durable,
        )

    @property
    def durable(self) -> Position:
        """How far the stream is on disk."""
        self._look()
        return self._durable

    def judge(self, first: int, last: int) -> Verdict:
        """Whether an interval holds the expected sequence, only older or only later ones."""
        if first > self.expected:
            self.seen = max(self.seen, last)
            return Verdict.BEYOND
        return Verdict.NEW if last >= self.expected else Verdict.DUPLICATE

    def take(self, records: Records, now_ms: int, quality: QualityArray = ALL_GOOD) -> None:
        """`records`, the first of which was expected, have been handed on."""
        self.expected += len(records)
        self.pending.append((self.expected - 1, records, quality))
        if self.key != DEALS:
            self.ledger.take(near_times(records, quality))
        self._moved(now_ms)

    def skip_to(self, last: int, now_ms: int) -> None:
        """Everything up to `last` is lost."""
        self.gaps += 1
        self.lost += last + 1 - self.expected
        self.ledger.skip_to(last)
        self.expected = last + 1
        self._moved(now_ms)

    def refuse(self, last: int, now_ms: int) -> None:
        """The consumer has no room for the records up to `last`: ask again later, not now."""
        self.seen = max(self.seen, last)
        self.asked_ms = now_ms

    def reconnected(self) -> None:
        """A new connection will tell anew what exists, beginning behind `durable`."""
        self.seen = 0
        self.asked_ms = None

    def ask(self, now_ms: int, again_after_ms: int) -> bool:
        """Whether to ask for what is missing now; True at most once per `again_after_ms`."""
        if self.asked_ms is not None and now_ms - self.asked_ms < again_after_ms:
            return False
        self.asked_ms = now_ms
        return True

    def missing(self) -> tuple[int, int] | None:
        """The interval that must be sent again, if later sequences are known."""
        return (self.expected, self.seen) if self.seen >= self.expected else None

    def acknowledge(self, sequence: int) -> bool:
        """All up to `sequence` is on disk; whether that is news."""
        sequence = min(sequence, self.expected - 1)
        if sequence <= self.stored:
            return False
        self.stored = sequence
        is_much = sequence - self._durable.sequence >= _RECORDS_MAX
        if is_much or len(self.pending) >= _PARTS_MAX:
            self._look()
        return True

    def _look(self) -> None:
        """Look at the times of what is on disk: of much together, as that costs far less."""
        if self.stored <= self._durable.sequence:
            return
        done = []
        while self.pending and self.pending[0][0] <= self.stored:
            last, records, quality = self.pending.popleft()
            done.append((records, quality))
        if done:
            self._durable = self._durable.advanced_by(last, done)
        self._look_at_part(self.stored)

    def _look_at_part(self, sequence: int) -> None:
        if self.pending:
            last, records, quality = self.pending[0]
            count = max(0, sequence - (last - len(records)))
            self.pending[0] = (last, records[count:], quality[count:])
            self._durable = self._durable.advanced(sequence, records[:count], quality[:count])
        else:
            self._durable = self._durable.advanced(sequence, _NOTHING)

    def _moved(self, now_ms: int) -> None:
        # Progress is the answer to what was asked; asking again now would bring it all twice.
        self.asked_ms = now_ms if self.missing() else None
