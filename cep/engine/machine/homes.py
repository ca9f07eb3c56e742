"""Homes: where the state of each part of a plan lies, also where rules go on from other rules.

What does not change keeps its words, wherever these are: only what is new gets others, behind all
that have ever been handed out. So a change of rules moves no row.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cep.plan.change import PartId

Where: TypeAlias = tuple[str, str, str, int, int]
"""Words of a part: its kind and name, the partition whose homes they are in ("": the home of what
is in none), the place of the first there, how many."""


@dataclass(frozen=True, slots=True)
class Before:
    """What a program leaves to its successor: the words of the parts that go on, under their new
    names, and by partition ("": of what is in none) the first word that is free.
    """

    words: tuple[Where, ...] = ()
    free: Mapping[str, int] = field(default_factory=dict)


NOTHING = Before()
"""Of rules that begin."""


class UnlikeError(Exception):
    """These parts need other words than before, although their definitions are the same."""

    def __init__(self, parts: Iterable[PartId]) -> None:
        super().__init__()
        self.parts = frozenset(parts)


class Owners:
    """Which words belong to which part: `part` to begin with, that of what is written now."""

    def __init__(self, before: Before) -> None:
        self.part: PartId = ("", "")
        self.words: list[Where] = []
        self._free = before.free
        self._before: defaultdict[tuple[PartId, str], deque[tuple[int, int]]] = defaultdict(deque)
        for kind, name, home, first, count in before.words:
            self._before[(kind, name), home].append((first, count))
        self._unlike: set[PartId] = set()

    def home(self, name: str, first: int) -> Home:
        """An empty home, whose first words are taken."""
        return Home(max(first, self._free.get(name, 0)), name, self)

    def known(self, home: str, count: int) -> int | None:
        """Where the part had its next words of a home; None where it is new."""
        had = self._before.get((self.part, home))
        if had is None:
            return None
        first, words = had.popleft() if had else (0, 0)
        if words != count:
            self._unlike.add(self.part)
            return None
        return first

    def finish(self) -> tuple[Where, ...]:
        """All of them; UnlikeError where a part that goes on has not taken what it had."""
        left = {part for (part, _), words in self._before.items() if words}
        if left or self._unlike:
            raise UnlikeError(left | self._unlike)
        return tuple(self.words)


@dataclass(slots=True)
class Home:
    """The words of one state: word 0 is the number of its key."""

    words: int = 1
    name: str = ""
    owners: Owners | None = None

    def take(self, count: int) -> int:
        """The place of so many words, which are 0 at first."""
        if self.owners is None:
            return self.more(count)
        known = self.owners.known(self.name, count)
        first = self.more(count) if known is None else known
        self.owners.words.append((*self.owners.part, self.name, first, count))
        return first

    def more(self, count: int) -> int:
        """The place of words that belong to no part, such as constants."""
        first = self.words
        self.words += count
        return first
