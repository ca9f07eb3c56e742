"""The binder: which queued events make up a complex event that the newest one completes."""

from __future__ import annotations

from collections.abc import Mapping

from cep.interpreter.events.queue import Key, Queue, Queued
from cep.interpreter.events.rests import Rest, rests
from cep.plan.nodes import Complex, Ref

Match = tuple[Queued, ...]
"""Queued events, oldest place first."""
Needed = frozenset[Rest]
"""What is still to be found: any of these, because one event may be read in several ways."""


class Search:
    """Looks for a complex event of one key (None: of all keys) in a queue.

    `has_key` says of the names of events whether they have keys.
    """

    def __init__(self, found: Complex, key: Key, queue: Queue, has_key: Mapping[str, bool]) -> None:
        self.found = found
        self.key = key
        self._queue = queue
        self._events = queue.events
        self._has_key = has_key
        self._failed: dict[Needed, tuple[int, int, int]] = {}

    def match(self) -> Match:
        """The match that ends with the newest event; empty: there is none.

        11: of several the one whose places are the latest, compared from the newest event on, of
        which a beginning wins over what goes on.
        """
        last = len(self._events) - 1
        lowest = self._first_allowed()
        pattern: Needed = frozenset({self.found.pattern})
        return self._with(pattern, last, (), lowest) if lowest <= last else ()

    def _before(self, needed: Needed, newest: int, taken: Match, lowest: int) -> Match:
        """The best match of `taken` and what is needed in front of it, at `lowest` to `newest`."""
        if self._is_in_vain(needed, newest, taken):
            return ()
        for place in range(newest, lowest - 1, -1):
            match = self._with(needed, place, taken, lowest)
            if match:
                return match
        times = [event.at_ms for event in taken]
        self._failed[needed] = (newest, max(times), min(times))
        return ()

    def _with(self, needed: Needed, place: int, taken: Match, lowest: int) -> Match:
        """The best match whose next event, in front of `taken`, is the one at a place."""
        left = {rest for whole in needed for rest in rests(whole, place, self)}
        match = (self._events[place], *taken)
        if not left or not self._may_begin(match):
            return ()
        if None in left:
            return match
        still = frozenset(rest for rest in left if rest is not None)
        return self._before(still, place - 1, match, lowest)

    def _is_in_vain(self, needed: Needed, newest: int, taken: Match) -> bool:
        """Whether the same was looked for before, with as many places and as much time at least."""
        if needed not in self._failed:
            return False
        failed, latest_ms, earliest_ms = self._failed[needed]
        times = [event.at_ms for event in taken]
        return newest <= failed and max(times) >= latest_ms and min(times) <= earliest_ms

    def _may_begin(self, match: Match) -> bool:
        """Whether the first event of what is to be a match may be part of it (10)."""
        times = [event.at_ms for event in match]
        if max(times) - min(times) > self.found.within_ms:
            return False
        if not match[0].may_bind(self.found.name, self.key):
            return False
        return self._queue.engine.opposites == "evict" or not self._queue.is_opposed(match[0])

    def _first_allowed(self) -> int:
        """7, `forbid`: the place behind the newest forbidden event."""
        places = range(len(self._events)) if self.found.forbid else ()
        return max((n + 1 for n in places if self._is_any(self.found.forbid, n)), default=0)

    def is_at(self, ref: Ref, place: int) -> bool:
        """Whether the event at a place is the one that a pattern means, seen from this key."""
        key = (ref.key or self.key) if self._has_key[ref.event] else None
        return self._events[place].is_of(ref.event, key)

    def is_between(self, refs: tuple[Ref, ...], after: int, before: int) -> bool:
        """Whether one of these events is strictly between two places."""
        return any(self._is_any(refs, place) for place in range(after + 1, before))

    def _is_any(self, refs: tuple[Ref, ...], place: int) -> bool:
        return any(self.is_at(ref, place) for ref in refs)
