"""When each source record is, for what works by time: its clock, and whether it is late.

Both are decided once, when the record comes, and go with everything that follows from it; so
neither the size of a batch nor what else the rules hold can change them. A clock never goes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from cep.clocks import NEVER_LATE, Mode
from cep.engine.kernels.state import OUT_CLOCK, OUT_KEY, OUT_STREAM, OUT_TIME, Ints

MODES: tuple[Mode, ...] = get_args(Mode)
_NEVER = -1
_COMPLETE, _PASSED = "watermarks of keys", "passed for keys"
_KEYS = 64


class Clocks:
    """The clocks of one run, which it asks about each record once, in their order.

    A record is late behind those of its own stream and key, and behind its key's watermark. Sources
    that are followed together have a clock together for each key, which their records move.
    `streams` are the names by id, `together` the number of each stream's clock (default: its own).
    """

    def __init__(
        self, mode: Mode, streams: Sequence[str], together: Sequence[int] | None = None
    ) -> None:
        self.mode = mode
        self._names = (*streams, _COMPLETE, _PASSED)
        self._together = np.array(range(len(streams)) if together is None else together, np.int64)
        self._may_be_late = np.array([name not in NEVER_LATE for name in streams], np.bool_)
        rows = len(self._names) + 1 + int(self._together.max(initial=-1))
        self._hold(np.full((rows, _KEYS), _NEVER, np.int64))
        self._top = _NEVER  # no clock is ahead of it
        self._passed = _NEVER  # the watermark of all keys

    def mark(self, ints: Ints) -> None:
        """Write the clocks of the next records, whose key rows are in place: OUT_CLOCK."""
        if len(ints) == 1:
            stream, time, key = ints[0, [OUT_STREAM, OUT_TIME, OUT_KEY]].tolist()
            ints[0, OUT_CLOCK] = self.of_one(stream, key, time)
        elif len(ints):
            self._mark_all(ints)

    def of_one(self, stream: int, key: int, time_msc: int) -> int:
        """The cell OUT_CLOCK of the next record: its clock, negated if it is late."""
        if key >= self._width:
            self._fit(key)
        place = stream * self._width + key
        clock_at = self._clock_at[stream] + key
        if self.mode == "sorted":
            newest = before = clock = self._top
        else:
            newest, clock = self._cells[place], max(self._cells[clock_at], self._passed)
            before = max(newest, self._cells[self._complete + key], self._passed)
        if time_msc >= newest:
            self._cells[place] = time_msc
        if time_msc > clock:
            clock = self._cells[clock_at] = time_msc
            self._top = max(self._top, clock)
        return -clock if time_msc < before and self._may_be_late[stream] else clock

    def pass_time(self, time_msc: int, *, is_complete: bool = False) -> None:
        """Time has passed for all keys without a record: in sorted history all before has come.

        Of what was lived that is so if it is told. Else somebody's own clock speaks for keys of
        which nobody has told anything, and moves none of theirs: they may come from long ago.
        """
        if self.mode == "sorted" or is_complete:
            self._passed = max(self._passed, time_msc)
            self._top = max(self._top, time_msc)

    def pass_time_of(self, keys: Sequence[int], time_msc: int, *, is_complete: bool) -> None:
        """Time has passed for some key rows; `is_complete`: all their earlier records have come."""
        if self.mode == "sorted" or not keys:
            return
        self._fit(max(keys))
        rows = list(keys)
        first = len(self._names) - (2 if is_complete else 1)
        part = self._newest[first:, rows]
        self._newest[first:, rows] = np.maximum(part, time_msc)
        self._top = max(self._top, time_msc)

    def state(self) -> dict[str, list[int]]:
        """The newest times by stream and key row, for a snapshot or for other rules.

        What has passed for keys stands behind the newest of all, and behind that of all keys.
        """
        known = {name: self._newest[place].tolist() for place, name in enumerate(self._names)}
        return {**known, _PASSED: [self._top, self._passed, *known[_PASSED]]}

    def restore(self, state: Mapping[str, Sequence[int]]) -> None:
        """Go on from what `state` gave, of the streams there are."""
        self._top, self._passed, *passed = state[_PASSED]
        for place, name in enumerate(self._names):
            known = passed if name == _PASSED else state.get(name, ())
            self._fit(len(known) - 1)
            self._newest[place, : len(known)] = known
        clocks = self._newest[len(self._names) :]
        clocks[:] = self._newest[len(self._names) - 1]
        np.maximum.at(clocks, self._together, self._newest[: len(self._together)])

    def _mark_all(self, ints: Ints) -> None:
        times = ints[:, OUT_TIME]
        if int(times[0]) >= self._top and not (times[1:] < times[:-1]).any():
            self._in_order(ints, times)
            return
        if self.mode == "sorted":
            clocks = _running(times, self._top)
            late = times < clocks
        else:
            streams, keys = ints[:, OUT_STREAM], ints[:, OUT_KEY]
            self._fit(int(keys.max()))
            complete = np.maximum(self._newest[len(self._names) - 2][keys], self._passed)
            found = self._newest_at(self._clocks_at[streams] + keys, times)
            clocks = np.maximum(found, self._passed)
            late = times < self._newest_at(streams * self._width + keys, times)
            late |= times < complete
        self._top = max(self._top, int(clocks.max()))
        late &= self._may_be_late[ints[:, OUT_STREAM]]
        ints[:, OUT_CLOCK] = np.where(late, -clocks, clocks)

    def _in_order(self, ints: Ints, times: Ints) -> None:
        """Records that no clock is ahead of: the usual case."""
        ints[:, OUT_CLOCK] = times
        self._top = int(times[-1])
        if self.mode == "lived":
            streams, keys = ints[:, OUT_STREAM], ints[:, OUT_KEY]
            self._fit(int(keys.max()))
            first, clocks = int(streams[0]), self._newest[len(self._names) :]
            if (streams == first).all():  # of equal places the last is kept
                self._newest[first][keys] = times
                clocks[self._together[first]][keys] = times
            else:
                self._newest[streams, keys] = times
                clocks[self._together[streams], keys] = times

    def _newest_at(self, places: Ints, times: Ints) -> Ints:
        """The newest time so far at the place of each record, which it moves on."""
        found = np.empty_like(times)
        for place in np.unique(places).tolist():
            mine = places == place
            found[mine] = _running(times[mine], self._cells[place])
            self._cells[place] = int(found[mine][-1])
        return found

    def _fit(self, key: int) -> None:
        """Room for one more key row."""
        if key >= self._width:
            more = max(key + 1 - self._width, self._width)
            added = np.full((len(self._newest), more), _NEVER, np.int64)
            self._hold(np.concatenate([self._newest, added], axis=1))

    def _hold(self, newest: Ints) -> None:
        """Newest times by stream and key row, the watermarks of keys, what has passed for them, and
        their clocks, as one array.

        Single cells are read far faster through a memoryview than through an array.
        """
        self._newest, self._width = newest, newest.shape[1]
        self._complete = (len(self._names) - 2) * self._width
        self._clocks_at = (len(self._names) + self._together) * self._width
        self._clock_at: list[int] = self._clocks_at.tolist()
        self._cells: memoryview[int] = newest.data.cast("B").cast("q")


def _running(times: Ints, before: int) -> Ints:
    """The newest time so far, at each of them."""
    clocks: Ints = np.maximum(np.maximum.accumulate(times), before)
    return clocks
