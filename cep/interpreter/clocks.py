"""The clocks of a running plan, and when its records move them.

In sorted history all show the same time, so there is one. Of what was lived there is one for each
set of sources that something follows, and one for each key where it works by the key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from cep.clocks import Lateness
from cep.interpreter.clock import Clock, Due, move_together
from cep.plan.clocks import ClockOf, Sources

Key = str | None
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
        self._common: dict[Sources, Clock] = {}
        self._of_keys: dict[Key, dict[Sources, Clock]] = {}
        self._passed_ms: dict[Key, int] = {}
        self._all_passed_ms: int | None = None
        self._common_passed_ms: int | None = None
        self._firsts: dict[Key, int] = {}

    @property
    def now_ms(self) -> int | None:
        """The newest of all times; None before the first."""
        return self._newest_ms if self.one is None else self.one.now_ms

    def common(self, sources: Sources) -> Clock:
        """The clock of what follows these sources, whatever the keys of their records."""
        if self.one is not None:
            return self.one
        if sources not in self._common:
            self._common[sources] = Clock()
            self._set_common(self._common[sources], sources)
        return self._common[sources]

    def of_key(self, clock_of: ClockOf, key: Key) -> Clock:
        """The clock by which an operator goes for a key."""
        if self.one is not None or not clock_of.is_by_key:
            return self.common(clock_of.sources)
        clocks = self._of_keys.setdefault(key, {})
        if clock_of.sources not in clocks:
            clocks[clock_of.sources] = Clock()
            self._set(clocks[clock_of.sources], clock_of.sources, key)
        return clocks[clock_of.sources]

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
            self._newest(time_ms)
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
        moved: dict[Clock, int] = {}
        for key, time_ms in records:
            self._newest(time_ms)
            for known in (self._common, self._of_keys.get(key, {})):
                found = (clock for sources, clock in known.items() if stream in sources)
                moved |= {clock: max(time_ms, moved.get(clock, time_ms)) for clock in found}
        move_together(moved)

    def pass_time(self, time_ms: int, *, is_complete: bool = False) -> None:
        """Time has passed without a record, for all keys.

        Where each has a clock, these move if all earlier records have come. Else somebody's own
        clock speaks for keys of which nobody has told anything: they may come from long ago.
        """
        self.lateness.pass_time(time_ms)
        if self.one is not None:
            self.one.jump(time_ms)
            return
        self._newest(time_ms)
        self._common_passed_ms = max(time_ms, self._common_passed_ms or time_ms)
        moved = list(self._common.values())
        if is_complete:
            self.lateness.complete(None, time_ms)
            self._all_passed_ms = max(time_ms, self._all_passed_ms or time_ms)
            moved += (clock for clocks in self._of_keys.values() for clock in clocks.values())
        move_together(dict.fromkeys(moved, time_ms))

    def pass_time_of(self, keys: Iterable[str], time_ms: int, common_ms: int | None) -> None:
        """Time has passed for some keys, and for every key up to `common_ms`, if that is known."""
        if self.one is not None:
            self.pass_time(time_ms if common_ms is None else common_ms)
            return
        moved: dict[Clock, int] = {}
        if common_ms is not None:
            self._common_passed_ms = max(common_ms, self._common_passed_ms or common_ms)
            moved |= dict.fromkeys(self._common.values(), common_ms)
        for key in keys:
            self._passed_ms[key] = max(time_ms, self._passed_ms.get(key, time_ms))
            moved |= dict.fromkeys(self._of_keys.get(key, {}).values(), time_ms)
        self._newest(time_ms)
        move_together(moved)

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

    def _newest(self, time_ms: int) -> None:
        self._newest_ms = max(time_ms, self._newest_ms or time_ms)

    def _set_common(self, clock: Clock, sources: Sources) -> None:
        _set(clock, self.lateness.newest_ms(sources), self._common_passed_ms)

    def _set(self, clock: Clock, sources: Sources, key: Key) -> None:
        passed_ms = None if key is None else self._passed_ms.get(key)
        newest_ms = self.lateness.newest_of_key_ms(sources, key)
        _set(clock, newest_ms, passed_ms, self._all_passed_ms)


def _set(clock: Clock, *times_ms: int | None) -> None:
    """Let a clock stand at the newest of times, where one is known."""
    known = [time_ms for time_ms in times_ms if time_ms is not None]
    if known:
        clock.move(max(known))
