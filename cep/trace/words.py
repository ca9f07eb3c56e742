"""The arrangements of a complex event that end in a given event, read backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from cep.engine.patterns import Shape, shape_of
from cep.plan.nodes import Pattern, Ref

Identity = tuple[str, str | None]
"""Which event, of which key: what the binder calls a number."""

TRIES_MAX = 10_000
"""Arrangements looked at; where an event stands twice, many may be the same."""


@dataclass(frozen=True, slots=True)
class Word:
    """An arrangement: `events` with the latest first.

    `gaps[i]` are pairs (j, events): none of these may stand between place i and the later place j.
    """

    events: tuple[Identity, ...]
    gaps: tuple[tuple[tuple[int, tuple[Identity, ...]], ...], ...]


class Words:
    """The arrangements of a pattern, as one key sees it: `identity` says what a name stands for."""

    def __init__(self, pattern: Pattern, identity: Callable[[Ref], Identity]) -> None:
        codes: dict[Identity, int] = {}

        def number(ref: Ref) -> tuple[int, int]:
            return codes.setdefault(identity(ref), len(codes)), 0

        self._shape: Shape = shape_of(pattern, number)
        named = list(codes)
        self._events = [named[code] for code, _ in self._shape.leaves]
        self._absents = [tuple(identity(ref) for ref in refs) for refs in self._shape.absents]
        self.named = frozenset(named)
        self.absent = frozenset(one for refs in self._absents for one in refs)
        self.ending = cache(self._ending)

    def _ending(self, event: Identity, limit: int) -> tuple[tuple[Word, ...], bool]:
        """At most `limit` arrangements that end in the event; whether these are all."""
        found: dict[Word, None] = {}
        for tried, word in enumerate(self._words(event)):
            if tried == TRIES_MAX or (len(found) == limit and word not in found):
                return tuple(found), False
            found[word] = None
        return tuple(found), True

    def _words(self, last: Identity) -> Iterator[Word]:
        shape = self._shape
        for leaf in shape.open(shape.all):
            if self._events[leaf] == last:
                yield from self._further(shape.all, leaf, Word((), ()), {})

    def _further(self, mask: int, leaf: int, word: Word, marks: dict[int, int]) -> Iterator[Word]:
        """All words that go on (backward) with this leaf; `marks`: where right sides begin."""
        shape, place = self._shape, len(word.events)
        marks, gaps = dict(marks), []
        for number in range(len(self._absents)):
            if shape.ends_absent[leaf] >> number & 1 and number in marks:
                gaps.append((marks.pop(number), self._absents[number]))
            if shape.starts_absent[leaf] >> number & 1:
                marks[number] = place
        longer = Word((*word.events, self._events[leaf]), (*word.gaps, tuple(gaps)))
        rest = shape.take(mask, leaf)
        if rest == 0:
            yield longer
        for following in shape.open(rest):
            yield from self._further(rest, following, longer, marks)
