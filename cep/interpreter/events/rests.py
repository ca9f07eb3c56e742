"""Patterns read backward: what of a pattern is still to be found, before what was taken.

6: the events of a pattern stand in the order of one of its arrangements. These are never listed:
each event that may come last leaves a smaller pattern, its rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref, Sequence


@dataclass(frozen=True, slots=True)
class Ended:
    """`rest`, none of `absent` being between its last event and the one at place `before`."""

    rest: Rest
    absent: tuple[Ref, ...]
    before: int


@dataclass(frozen=True, slots=True)
class Followed:
    """`left followed by [not absent] right`, of which `right` is what is left of it."""

    left: Pattern
    absent: tuple[Ref, ...]
    right: Rest


@dataclass(frozen=True, slots=True)
class Beside:
    """All interleavings of two rests."""

    left: Rest
    right: Rest


Rest = Pattern | Ended | Followed | Beside


class Places(Protocol):
    """The queue as an instance of a complex event sees it; places count from the oldest event."""

    def is_at(self, ref: Ref, place: int) -> bool:
        """Whether the event at a place is the one that is meant."""

    def is_between(self, refs: tuple[Ref, ...], after: int, before: int) -> bool:
        """Whether one of these is strictly between two places."""


def rests(rest: Rest, place: int, places: Places) -> Iterator[Rest | None]:
    """What may be left when the event at a place is the last of a rest; None: nothing."""
    match rest:
        case Leaf():
            if places.is_at(rest.ref, place):
                yield None
        case Sequence():
            yield from rests(Followed(rest.left, rest.absent, rest.right), place, places)
        case Followed():
            for right in rests(rest.right, place, places):
                yield _in_front_of(rest, place) if right is None else replace(rest, right=right)
        case Ended():
            if not places.is_between(rest.absent, place, rest.before):
                yield from rests(rest.rest, place, places)
        case Either():
            yield from rests(rest.left, place, places)
            yield from rests(rest.right, place, places)
        case Both() | Beside():
            for left in rests(rest.left, place, places):
                yield rest.right if left is None else Beside(left, rest.right)
            for right in rests(rest.right, place, places):
                yield rest.left if right is None else Beside(rest.left, right)


def _in_front_of(rest: Followed, place: int) -> Rest:
    """7: the left side is next, and must not be parted from what begins at a place."""
    return Ended(rest.left, rest.absent, place) if rest.absent else rest.left
