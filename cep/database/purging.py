"""When which rows are not needed any more."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cep.database.batches import Arrivals
from cep.database.progress import Progress
from cep.database.steps import Kept, Retention

PURGE_ROWS = 500
"""So many rows of a stream at least go at once: fewer are not worth a statement."""
LOOK_EVENTS = 200
"""So many events at least lie between two looks at what may go."""
MOMENT_ROWS = 125
"""So many rows at least lie between two moments that are remembered."""
MOMENTS = 8
"""So many moments of one batch are remembered at most."""


@dataclass(slots=True)
class Horizon:
    """Remembers how many rows streams had at past times, so that nobody need look for it.

    After a restart it has forgotten, and rows stay until it has seen their time pass once.
    """

    _times: list[int] = field(default_factory=list)
    _rows: list[Mapping[str, int]] = field(default_factory=list)
    _looked: int = -LOOK_EVENTS

    def is_time(self, progress: Progress) -> bool:
        """Whether to look at what may go, before a batch."""
        if self._looked <= progress.seq < self._looked + LOOK_EVENTS:
            return False
        self._looked = progress.seq
        return True

    def remember(
        self, kept: Mapping[str, Kept], progress: Progress, batch: Sequence[Arrivals]
    ) -> None:
        """After a batch: the rows there are at its time, and were at times within it.

        Moments older than any stream's retention are dropped, but for the newest of those.
        """
        longest = max((one.retention.time_ms for one in kept.values()), default=0)
        if not longest:  # rows go by their number alone
            return
        if self._rows and sum(progress.last.values()) - sum(self._rows[-1].values()) < MOMENT_ROWS:
            return
        for time, rows in (*_within(progress, batch), (progress.now_msc, progress.last)):
            self._times.append(time)
            self._rows.append(rows)
        useless = bisect_right(self._times, progress.now_msc - longest) - 1
        if useless > 0:
            del self._times[:useless]
            del self._rows[:useless]

    def due(self, kept: Mapping[str, Kept], progress: Progress) -> Iterator[tuple[str, int]]:
        """(stream, number of its last row that may go), for the batch that is about to come.

        `progress` has the times of that batch: nothing live at the one before may go.
        """
        for name, one in kept.items():
            row = self._row(name, one.retention, progress)
            if row - progress.purged.get(name, 0) >= PURGE_ROWS:
                yield name, row

    def _row(self, name: str, retention: Retention, progress: Progress) -> int:
        """The newest row that is too old, and not the last such."""
        by_number = progress.base.get(name, 0) - retention.rows
        if retention.time_ms == 0:
            return by_number
        place = bisect_right(self._times, progress.first_msc - retention.time_ms) - 1
        by_age = self._rows[place].get(name, 0) - 1 if place >= 0 else 0
        return min(by_number, by_age)


def _within(
    progress: Progress, batch: Sequence[Arrivals]
) -> Iterator[tuple[int, Mapping[str, int]]]:
    """Times within a batch and the rows of then; of what queries made, the rows of before it."""
    longest = max((one.times for one in batch), key=len, default=np.zeros(0, np.int64))
    count = min(MOMENTS, sum(len(one.times) for one in batch) // MOMENT_ROWS)
    for number in range(1, count):
        time = longest[len(longest) * number // count]
        rows = dict(progress.base)
        for one in batch:
            if one.stream in rows:
                rows[one.stream] += int(np.searchsorted(one.times, time, "right"))
        yield int(time), rows
