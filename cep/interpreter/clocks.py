"""The clocks of a running plan, and when its records move them.

In sorted history all show the same time, so there is one. Of what was lived there is one for each
set of sources that something follows, and one for each key where it works by the key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from cep.clocks import Lateness
from cep.interpreter.clock import Clock, Due
from cep.interpreter.move import Destination, Key, Move
from cep.plan.clocks import ClockOf, Sources

NO_KEY = "%"
"""What stands for rows without a key; no quoted text is like it."""


class Clocks:
    """Told each record and each watermark, in their order; fires what they make due before.

    `one` is given where there is one clock for all.
    """

    def __init__(self, lateness: Lateness, one: Clock | None = None) -> None:
        self.lateness = lateness
        self.one = one
        self._newest_ms: int | None = None
        self._move: Move | None = None
        self._common: dict[Sources, Clock] = {}
        self._of_keys: dict[Key, dict[Sources, Clock]] = {}
        self._passed_ms: dict[Key, int] = {}
        self._all_passed_ms: int | None = None
        self._common_passed_ms: int | None = None
        self._firsts: dict[Key, int] = {}

    @property
    def now_ms(self) -> int | None:
        """The newest of all times; None before the first."""
        if self.one is not None:
            return self.one.now_ms
        return _newest(self._newest_ms, self._move.at_ms if self._move else None)

    def common(self, sources: Sources) -> Clock:
        """The clock of what follows these sources, whatever the keys of their records."""
        if self.one is not None:
            return self.one
        if sources not in self._common:
            clock = self._common[sources] = Clock()
            self._set_common(clock, sources)
            if self._move:
                self._move.join(clock, self._move.destination.common(sources))
        return self._common[sources]

    def of_key(self, clock_of: ClockOf, key: Key) -> Clock:
        """The clock by which an operator goes for a key."""
        sources = clock_of.sources
        if self.one is not None or not clock_of.is_by_key:
            return self.common(sources)
        clocks = self._of_keys.setdefault(key, {})
        if sources not in clocks:
            clock = clocks[sources] = Clock()
            self._set(clock, sources, key)
            if self._move:
                self._move.join(clock, self._move.destination.of_key(sources, key))
        return clocks[sources]

    def shown(self, clock_of: ClockOf, key: Key) -> int | None:
        """What that clock shows, or would if there were one; None before its first record."""
        if self.one is not None:
            return self.one.now_ms
        sources = clock_of.sources
        known = self._of_keys.get(key, {}) if clock_of.is_by_key else self._common
        if sources in known:
            return known[sources].now_ms
        clock = Clock()
        if clock_of.is_by_key:
            self._set(clock, sources, key)
        else:
            self._set_common(clock, sources)
        return clock.now_ms

    def first(self, key: Key) -> int:
        """When a key first came, of all keys."""
        return self._firsts.setdefault(key, len(self._firsts))

    def begin(self, time_ms: int) -> None:
        """The run begins at that time; what has clocks by key begins with its first records."""
        if self.one is None:
            self._newest_ms = _newest(self._newest_ms, time_ms)
        else:
            self.one.jump(time_ms)

    def follow(self, stream: str, records: Sequence[tuple[Key, int]]) -> None:
        """Records of a source are next, given by key and time: what is due before them fires.

        One clock goes by the last of them.
        """
        for key, _ in records:
            if key not in self._firsts:
                self.first(key)
        if self.one is not None:
            self.one.jump(records[-1][1])
            return
        of_keys: dict[Key, int] = {}
        for key, time_ms in records:
            of_keys[key] = max(time_ms, of_keys.get(key, time_ms))
        self._go(Destination(stream, max(of_keys.values()), of_keys))

    def pass_time(self, time_ms: int, *, is_complete: bool = False) -> None:
        """Time has passed without a record, for all keys.

        Where each has a clock, these move if all earlier records have come. Else somebody's own
        clock speaks for keys of which nobody has told anything: they may come from long ago.
        """
        if self.one is not None:
            self.lateness.pass_time(time_ms)
            self.one.jump(time_ms)
            return
        self._go(Destination(None, time_ms, others_ms=time_ms if is_complete else None))
        self._common_passed_ms = _newest(self._common_passed_ms, time_ms)
        if is_complete:
            self.lateness.complete(None, time_ms)
            self._all_passed_ms = _newest(self._all_passed_ms, time_ms)

    def pass_time_of(self, keys: Iterable[str], time_ms: int, common_ms: int | None) -> None:
        """Time has passed for some keys, and for every key up to `common_ms`, if that is known."""
        if self.one is not None:
            self.pass_time(time_ms if common_ms is None else common_ms)
            return
        of_keys: dict[Key, int] = dict.fromkeys(keys, time_ms)
        self._go(Destination(None, common_ms, of_keys))
        if common_ms is not None:
            self._common_passed_ms = _newest(self._common_passed_ms, common_ms)
        self._passed_ms |= {key: max(time_ms, self._passed_ms.get(key, time_ms)) for key in of_keys}
        self._newest_ms = _newest(self._newest_ms, time_ms)

    def _go(self, destination: Destination) -> None:
        """Let clocks move; what is known of the records and watermarks is as before them."""
        move = self._move = Move(destination)
        keys = destination.of_keys if destination.others_ms is None else self._of_keys
        try:
            for sources, clock in self._common.items():
                move.join(clock, destination.common(sources))
            for key in keys:
                for sources, clock in self._of_keys.get(key, {}).items():
                    move.join(clock, destination.of_key(sources, key))
            move.run()
        finally:
            self._move = None
        self._newest_ms = _newest(self._newest_ms, destination.common_ms)

    def glide(self, to_ms: int) -> None:
        """Time passes by itself; there is one clock then."""
        if self.one is not None:
            self.one.glide(to_ms)

    def next_due_ms(self) -> int | None:
        """When something is due next, by whatever clock."""
        due = (clock.next_due_ms() for clock in self._all())
        return min((time_ms for time_ms in due if time_ms is not None), default=None)

    def pending(self) -> list[Due]:
        """What is due, in order; of several clocks two entries may have the same place in it."""
        entries = (entry for clock in self._all() for entry in clock.pending())
        return sorted(entries, key=lambda entry: (*entry[:3], entry.timer.name))

    def take_over(self, now_ms: int | None, due: Collection[Due]) -> None:
        """Take over what is due, when everything else has been restored."""
        self._newest_ms = now_ms
        for clock in self._all():
            mine = [entry for entry in due if entry.timer.clock is clock]
            clock.restore(now_ms if clock is self.one else None, mine)
        for sources, clock in self._common.items():
            self._set_common(clock, sources)
        for key, clocks in self._of_keys.items():
            for sources, clock in clocks.items():
                self._set(clock, sources, key)

    def state(self) -> Any:
        """Plain data: when keys first came, and up to when time has passed without records."""
        passed = list(self._passed_ms.items())
        return [list(self._firsts), passed, self._all_passed_ms, self._common_passed_ms]

    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""
        firsts, passed, self._all_passed_ms, self._common_passed_ms = state
        self._firsts = {key: place for place, key in enumerate(firsts)}
        self._passed_ms = dict(passed)

    def _all(self) -> Iterator[Clock]:
        if self.one is not None:
            yield self.one
        yield from self._common.values()
        for clocks in self._of_keys.values():
            yield from clocks.values()

    def _set_common(self, clock: Clock, sources: Sources) -> None:
        move = self._move
        reached_ms = move.reached(move.destination.common(sources)) if move else None
        _stand(clock, self.lateness.newest_ms(sources), self._common_passed_ms, reached_ms)

    def _set(self, clock: Clock, sources: Sources, key: Key) -> None:
        newest_ms = self.lateness.newest_of_key_ms(sources, key)
        passed_ms = None if key is None else self._passed_ms.get(key)
        move = self._move
        reached_ms = move.reached(move.destination.of_key(sources, key)) if move else None
        _stand(clock, newest_ms, passed_ms, self._all_passed_ms, reached_ms)


def _stand(clock: Clock, *times_ms: int | None) -> None:
    """Let a clock stand at the newest of times, where one is known."""
    newest_ms = _newest(*times_ms)
    if newest_ms is not None:
        clock.move(newest_ms)


def _newest(*times_ms: int | None) -> int | None:
    """The newest of the times that are known, if any is."""
    return max((time_ms for time_ms in times_ms if time_ms is not None), default=None)
