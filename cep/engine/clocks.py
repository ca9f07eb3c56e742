"""When each source record is, for what works by time: its clocks, and whether it is late.

Both are decided once, when the record comes, and go with everything that follows from it; so
neither the size of a batch nor what else the rules hold can change them. A clock never goes back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from cep.clocks import NEVER_LATE, Mode
from cep.engine.jit import plain
from cep.engine.kernels import clocks as kernels
from cep.engine.kernels.state import OUT_CLOCK, OUT_KEY, OUT_STREAM, OUT_TIME, Ints

MODES: tuple[Mode, ...] = get_args(Mode)
_NEVER = -1
_COMPLETE, _PASSED = "watermarks of keys", "passed for keys"
_KEYS = 64
_mark: Any = plain(kernels.mark)


class Clocks:
    """The clocks of one run, which it asks about each record once, in their order.

    A record is late behind those of its own stream and key, and behind its key's watermark. Its own
    clock follows these; `others` are the clocks that something goes by beside it, each given by the
    ids of the streams that move it and whether it is one per key. `streams` are the names by id.
    With `has_one` all clocks are one also where each key is late by itself.
    """

    def __init__(
        self,
        mode: Mode,
        streams: Sequence[str],
        others: Sequence[tuple[Collection[int], bool]] = (),
        *,
        has_one: bool = False,
    ) -> None:
        self.mode = mode
        self._has_one = has_one or mode == "sorted"
        self._names = (*streams, _COMPLETE, _PASSED)
        self._may_be_late = np.array([name not in NEVER_LATE for name in streams], np.bool_)
        self._others = [(sorted(sources), is_by_key) for sources, is_by_key in others]
        self._moved_by = [  # by stream: the clocks of all keys that its records move
            [place for place, (sources, is_by_key) in enumerate(self._others)
             if stream in sources and not is_by_key]
            for stream in range(len(streams))
        ]  # fmt: skip
        self.words: Ints = np.array(self._first_words(), np.int64)
        """All there is, as the kernel has it: another array when there is room for more keys."""
        self._times_at = len(self.words)
        self._hold(np.full((len(self._names), _KEYS), _NEVER, np.int64))
        self._common_passed = _NEVER  # up to when time has passed for what has one clock

    def _first_words(self) -> list[int]:
        """What stands in front of the times; see `cep.engine.kernels.clocks`."""
        streams, count = len(self._may_be_late), len(self._others)
        self._others_at = kernels.MAY_BE_LATE + streams
        lists_at = self._others_at + count * kernels.OTHER_WORDS
        words: list[int] = []
        lists: list[int] = []
        for sources, is_by_key in self._others:
            words += [is_by_key, _NEVER, lists_at + len(lists), len(sources)]
            lists += sources
        head = [
            self.mode == "sorted", self._has_one, _NEVER, _NEVER, streams, 0, count,
            self._others_at, lists_at + len(lists),
        ]  # fmt: skip
        return [int(word) for word in (*head, *self._may_be_late, *words, *lists)]

    @property
    def _top(self) -> int:
        """No clock is ahead of it."""
        return self._cells[kernels.TOP]

    @_top.setter
    def _top(self, time_msc: int) -> None:
        self._cells[kernels.TOP] = time_msc

    @property
    def _passed(self) -> int:
        """The watermark of all keys."""
        return self._cells[kernels.PASSED]

    @_passed.setter
    def _passed(self, time_msc: int) -> None:
        self._cells[kernels.PASSED] = time_msc

    def _common_at(self, place: int) -> int:
        """Where the time stands of another clock."""
        return self._others_at + place * kernels.OTHER_WORDS + kernels.OTHER_TIME

    def mark(self, ints: Ints) -> None:
        """Write the clocks of the next records, whose key rows are in place: OUT_CLOCK, and the
        others in the last columns.
        """
        if len(ints) == 1:
            self.fit(int(ints[0, OUT_KEY]))
            _mark(self._cells, ints, 0)
        elif len(ints):
            self._mark_all(ints)

    def pass_time(self, time_msc: int, *, is_complete: bool = False) -> None:
        """Time has passed for all keys without a record: in sorted history all before has come.

        Of what was lived that is so if it is told. Else somebody's own clock speaks for keys of
        which nobody has told anything, and moves none of theirs: they may come from long ago.
        """
        if self.mode == "sorted" or is_complete:
            self._passed = max(self._passed, time_msc)
        self._pass_common(time_msc)

    def pass_time_of(
        self, keys: Sequence[int], time_msc: int, common_msc: int | None, *, is_complete: bool
    ) -> None:
        """Time has passed for some key rows, and for every key up to `common_msc`, if that is
        known. `is_complete`: all earlier records of these have come.
        """
        if self.mode == "sorted":
            return
        if common_msc is not None or self._has_one:
            self._pass_common(time_msc if common_msc is None else common_msc)
        if len(keys) == 1:  # far faster than an array of one
            self.fit(keys[0])
            for row in (-2, -1)[not is_complete :]:
                self._newest[row, keys[0]] = max(self._newest[row, keys[0]], time_msc)
            self._top = self._top if self._has_one else max(self._top, time_msc)
        elif keys:
            self.fit(max(keys))
            rows = list(keys)
            first = len(self._names) - (2 if is_complete else 1)
            part = self._newest[first:, rows]
            self._newest[first:, rows] = np.maximum(part, time_msc)
            self._top = self._top if self._has_one else max(self._top, time_msc)

    def _pass_common(self, time_msc: int) -> None:
        self._common_passed = max(self._common_passed, time_msc)
        for place in range(len(self._others)):
            at = self._common_at(place)
            self._cells[at] = max(self._cells[at], time_msc)
        self._top = max(self._top, time_msc)

    def state(self) -> dict[str, list[int]]:
        """The newest times by stream and key row, for a snapshot or for other rules.

        What has passed for keys stands behind the newest of all, and behind what has for all keys
        and for what has one clock.
        """
        known = {name: self._newest[place].tolist() for place, name in enumerate(self._names)}
        of_all = [self._top, self._passed, self._common_passed]
        return {**known, _PASSED: [*of_all, *known[_PASSED]]}

    def restore(self, state: Mapping[str, Sequence[int]]) -> None:
        """Go on from what `state` gave, of the streams there are."""
        self._top, self._passed, self._common_passed, *passed = state[_PASSED]
        for place, name in enumerate(self._names):
            known = passed if name == _PASSED else state.get(name, ())
            self.fit(len(known) - 1)
            self._newest[place, : len(known)] = known
        for place, (sources, _) in enumerate(self._others):
            newest = int(self._newest[sources].max(initial=_NEVER))
            self._cells[self._common_at(place)] = max(self._common_passed, newest)

    def is_even_with(self, other: Clocks) -> bool:
        """Whether records would get the same clocks here as there. O(keys)."""
        is_alike = self.mode == other.mode and self._names == other._names
        return is_alike and np.array_equal(self.words, other.words)

    def follow(self, other: Clocks) -> None:
        """Go on as others that were even with these have gone on since."""
        self.fit(other._width - 1)
        self.words[:] = other.words

    def _mark_all(self, ints: Ints) -> None:
        times = ints[:, OUT_TIME]
        tells_all = self.mode == "sorted" or not self._has_one  # else keys may be ahead of it
        if tells_all and int(times[0]) >= self._top and not (times[1:] < times[:-1]).any():
            self._in_order(ints, times)
            return
        if self.mode == "sorted":
            clocks = _running(times, self._top)
            late = times < clocks
        else:
            clocks, late = self._lived(ints, times)
        if self._has_one:
            clocks = _running(times, self._top)
            self._others_of(ints)[:] = clocks[:, None]
        self._top = max(self._top, int(clocks.max()))
        late &= self._may_be_late[ints[:, OUT_STREAM]]
        ints[:, OUT_CLOCK] = np.where(late, -clocks, clocks)

    def _lived(self, ints: Ints, times: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """The clock of each record and whether it is late; writes its other clocks."""
        streams, keys = ints[:, OUT_STREAM], ints[:, OUT_KEY]
        self.fit(int(keys.max()))
        complete, passed = np.maximum(self._newest[-2:, keys], self._passed)
        others = self._others_of(ints)
        for place, (sources, is_by_key) in enumerate(self._others):
            moving = np.where(np.isin(streams, sources), times, _NEVER)
            if is_by_key:
                before = self._newest[sources].max(axis=0, initial=_NEVER)
                others[:, place] = np.maximum(_running_by(keys, moving, before), passed)
            else:
                at = self._common_at(place)
                others[:, place] = _running(moving, self._cells[at])
                self._cells[at] = int(others[-1, place])
        newest = _running_by(streams * self._width + keys, times, self._newest.ravel())
        np.maximum.at(self._newest, (streams, keys), times)
        return np.maximum(newest, passed), times < np.maximum(newest, complete)

    def _in_order(self, ints: Ints, times: Ints) -> None:
        """Records that no clock is ahead of: the usual case."""
        ints[:, OUT_CLOCK] = times
        if self._others:
            self._others_of(ints)[:] = times[:, None]
        self._top = int(times[-1])
        if self.mode == "lived":
            streams, keys = ints[:, OUT_STREAM], ints[:, OUT_KEY]
            self.fit(int(keys.max()))
            first = int(streams[0])
            if (streams == first).all():  # of equal places the last is kept
                self._newest[first][keys] = times
                for place in self._moved_by[first]:
                    self._cells[self._common_at(place)] = self._top
                return
            self._newest[streams, keys] = times
            for place, (sources, is_by_key) in enumerate(self._others):
                moving = times[np.isin(streams, sources)]
                if len(moving) and not is_by_key:
                    self._cells[self._common_at(place)] = int(moving[-1])

    def _others_of(self, ints: Ints) -> Ints:
        """The cells of the other clocks."""
        return ints[:, ints.shape[1] - len(self._others) :]

    def fit(self, key: int) -> None:
        """Room for one more key row."""
        if key >= self._width:
            more = max(key + 1 - self._width, self._width)
            added = np.full((len(self._newest), more), _NEVER, np.int64)
            self._hold(np.concatenate([self._newest, added], axis=1))

    def _hold(self, newest: Ints) -> None:
        """Newest times by stream and key row, then the watermarks of keys, and what has passed for
        them, as one array behind the other words.
        """
        self._width = newest.shape[1]
        words = self.words = np.concatenate([self.words[: self._times_at], newest.ravel()])
        words[kernels.ROOM] = self._width
        self._newest = words[self._times_at :].reshape(newest.shape)
        # single cells are read far faster through a memoryview than through an array
        self._cells: memoryview[int] = words.data.cast("B").cast("q")


def _running(times: Ints, before: int) -> Ints:
    """The newest time so far, at each of them."""
    clocks: Ints = np.maximum(np.maximum.accumulate(times), before)
    return clocks


def _running_by(places: Ints, times: Ints, before: Ints) -> Ints:
    """The newest time so far at the place of each; `before` are those at all places."""
    found = np.empty_like(times)
    for place in np.unique(places).tolist():
        mine = places == place
        found[mine] = _running(times[mine], int(before[place]))
    return found
