"""How far a stream has come, in the two ways a terminal can go on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mt5bridge.records import Records
from mt5bridge.validate import ALL_GOOD, QualityArray, near


@dataclass(frozen=True, slots=True)
class Position:
    """The last sequence, and how many records up to it have the newest `time_msc`.

    A terminal that kept its sequences goes on at `sequence + 1`; one that was restarted asks
    its tick base from `time_msc` and skips `count_at_msc` ticks of that millisecond.
    """

    sequence: int = 0
    time_msc: int = 0
    count_at_msc: int = 0

    def advanced_by(self, last: int, parts: Sequence[tuple[Records, QualityArray]]) -> Position:
        """The position after records that came in parts, the last of which ends with `last`."""
        if len(parts) == 1:
            return self.advanced(last, *parts[0])
        return self._after(last, _times(parts))

    def advanced(self, last: int, records: Records, quality: QualityArray = ALL_GOOD) -> Position:
        """The position after `records`, whose last sequence is `last`.

        Those whose `quality` is far do not move the time: a terminal would look for what follows
        behind it, and find nothing.
        """
        records = near(records, quality)
        if not len(records):
            return Position(last, self.time_msc, self.count_at_msc)
        times = records["time_msc"]
        if len(records) == 1:  # the usual case at the market's own pace, without a scan
            return self._after_one(last, int(times[0]))
        return self._after(last, times)

    def _after(self, last: int, times: NDArray[np.int64]) -> Position:
        if not len(times):
            return Position(last, self.time_msc, self.count_at_msc)
        newest = int(times.max())
        if newest < self.time_msc:
            return Position(last, self.time_msc, self.count_at_msc)
        count = int(np.count_nonzero(times == newest))
        if newest == self.time_msc:
            count += self.count_at_msc
        return Position(last, newest, count)

    def _after_one(self, last: int, time_msc: int) -> Position:
        if time_msc < self.time_msc:
            return Position(last, self.time_msc, self.count_at_msc)
        count = 1 if time_msc > self.time_msc else self.count_at_msc + 1
        return Position(last, time_msc, count)


def _times(parts: Sequence[tuple[Records, QualityArray]]) -> NDArray[np.int64]:
    """The times of parts that are not far."""
    form = parts[0][0].dtype
    if any(len(quality) or records.dtype is not form for records, quality in parts):
        return np.concatenate([near(*part)["time_msc"] for part in parts])
    # as bytes: NumPy looks at each field of each array that it is to take one of
    data = b"".join([records.tobytes() for records, _ in parts])
    times: NDArray[np.int64] = np.frombuffer(data, form)["time_msc"]
    return times


START = Position()
