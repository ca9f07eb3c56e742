"""Why an event that came completed no match of a complex event: what each arrangement lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cep.interpreter.events import Queued
from cep.plan.nodes import Complex, Engine, Plan, Ref
from cep.plan.text import duration_text
from cep.trace.notes import INDENT
from cep.trace.texts import beyond_text, moment
from cep.trace.words import Identity, Word, Words

WORDS_MAX = 5
"""Arrangements explained; there may be very many."""
STEPS_MAX = 1_000
"""Choices of queued events looked at for one arrangement."""


def identity_of(queued: Queued) -> Identity:
    return queued.name, queued.key


def queued_text(queued: Queued, own: str | None) -> str:
    """`#2 AboveUpper`."""
    return f"#{queued.seq} {name_text(identity_of(queued), own)}"


def name_text(identity: Identity, own: str | None) -> str:
    """An event's name, with its key unless that is the `own` one."""
    name, key = identity
    return name if key in (None, own) else f"{name}('{key}')"


@dataclass(frozen=True, slots=True)
class Moment:
    """The queue after an event came, which stands last; why others of their number left it."""

    queue: Sequence[Queued]
    departures: Mapping[Identity, str]

    @property
    def last(self) -> Queued:
        return self.queue[-1]


class Binding:
    """A complex event as one key sees it."""

    def __init__(self, plan: Plan, found: Complex, key: str | None) -> None:
        self.found = found
        self.engine: Engine = plan.engine(found.engine)
        self.key = key if found.key is not None else None
        self._per_key = {event.name: event.key is not None for event in plan.events}
        self._per_key |= {one.name: one.key is not None for one in plan.complexes}
        self._opposites = {event.name: event.opposites for event in plan.events}
        self.words = Words(found.pattern, self._identity)
        self.forbidden = frozenset(map(self._identity, found.forbid))

    def _identity(self, ref: Ref) -> Identity:
        return ref.event, (ref.key or self.key) if self._per_key[ref.event] else None

    def concerns(self, event: Identity) -> bool:
        """Whether the complex event names the event."""
        return event in self.words.named | self.words.absent | self.forbidden

    def why_not(self, moment_: Moment) -> list[str]:
        """What each arrangement ending in the event lacks."""
        last = identity_of(moment_.last)
        words, all_ = self.words.ending(last, WORDS_MAX)
        lines = [line for word in words for line in self._search(word, moment_).lines()]
        return lines if all_ else [*lines, "... and further arrangements that end in it"]

    def _search(self, word: Word, moment_: Moment) -> _Search:
        search = _Search(self, word, moment_)
        search.run()
        return search

    def obstacles(
        self, word: Word, chosen: tuple[int, ...], at: int, queue: Sequence[Queued]
    ) -> Iterator[str]:
        """What keeps the event at a place of the queue from being next (backward) in a match."""
        entry = queue[at]
        if chosen and at >= chosen[-1]:
            yield "stands behind what must follow it"
            return
        times = [entry.at_ms, *(queue[place].at_ms for place in chosen)]
        age_ms = max(times) - min(times)
        if age_ms > self.found.within_ms:
            within = duration_text(self.found.within_ms)
            yield f"is {beyond_text(age_ms, self.found.within_ms)} for `within {within}`"
        for other in queue[at:]:
            if identity_of(other) in self.forbidden:
                yield f"is cut off by {self.at(other)}, which is forbidden"
        for place, absent in word.gaps[len(chosen)]:
            for other in queue[at + 1 : chosen[place]]:
                if identity_of(other) in absent:
                    yield f"is followed by {self.at(other)}, which must be absent in between"
        if self.engine.opposites == "validate":
            opposites = {(name, entry.key) for name in self._opposites.get(entry.name, ())}
            for other in queue[at + 1 :]:
                if identity_of(other) in opposites:
                    yield f"is outdated by its opposite {self.at(other)}"

    def at(self, queued: Queued) -> str:
        """`#2 AboveUpper of 2024-01-02T14:30:19.428Z`."""
        return f"{queued_text(queued, self.key)} of {moment(queued.at_ms)}"


class _Search:
    """The binder's search for one arrangement, newest first, and how far it came."""

    def __init__(self, binding: Binding, word: Word, moment_: Moment) -> None:
        self._binding = binding
        self._word = word
        self._moment = moment_
        self._steps = 0
        self._furthest: tuple[int, ...] = ()
        self._reasons: list[str] = []
        self.found = False

    def run(self) -> None:
        last = len(self._moment.queue) - 1
        reasons = self._refusals((), last)
        if reasons:
            self._reasons = reasons
        else:
            self.found = self._extend((last,))

    def _extend(self, chosen: tuple[int, ...]) -> bool:
        """Choose the event before those chosen; true when the arrangement is complete."""
        if len(chosen) == len(self._word.events):
            return True
        wanted = self._word.events[len(chosen)]
        refused: list[str] = []
        for at in range(len(self._moment.queue) - 1, -1, -1):
            entry = self._moment.queue[at]
            if identity_of(entry) != wanted or at in chosen:
                continue
            self._steps += 1
            reasons = self._refusals(chosen, at)
            if not reasons and self._steps < STEPS_MAX and self._extend((*chosen, at)):
                return True
            if reasons:
                refused.append(f"{self._binding.at(entry)} {' and '.join(reasons)}")
        if len(chosen) > len(self._furthest):
            self._furthest, self._reasons = chosen, refused
        return False

    def _refusals(self, chosen: tuple[int, ...], at: int) -> list[str]:
        queue = self._moment.queue
        reasons = list(self._binding.obstacles(self._word, chosen, at, queue))
        if not queue[at].may_bind(self._binding.found.name, self._binding.key):
            reasons.insert(0, f"is already bound to {self._binding.found.name}")
        return reasons

    def lines(self) -> list[str]:
        """The arrangement and what it lacks, then why, a reason a line."""
        own, queue = self._binding.key, self._moment.queue
        head = ", ".join(name_text(event, own) for event in reversed(self._word.events))
        if self.found:
            return [f"({head}): complete"]
        if not self._furthest:
            last = queued_text(self._moment.last, own)
            return [f"({head}): {last} {' and '.join(self._reasons)}"]
        wanted = self._word.events[len(self._furthest)]
        have = ", ".join(queued_text(queue[at], own) for at in reversed(self._furthest))
        reasons = self._reasons or [self._moment.departures.get(wanted, "none has come")]
        lacks = f"({head}): has {have}; lacks {name_text(wanted, own)} before"
        return [lacks, *(f"{INDENT}{reason}" for reason in reasons)]
