"""Rules 6 and 7: a pattern spelled out as all its arrangements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref

Number = tuple[str, str | None]
"""A simple event's number, spelled (definition, key): unique per definition and key."""

Gap = tuple[int, int, Number]
"""No event with this number strictly between these two places of the arrangement."""


@dataclass(frozen=True)
class Arrangement:
    """One ordered list of numbers, and what must not lie between them."""

    numbers: tuple[Number, ...]
    gaps: frozenset[Gap] = frozenset()


def arrangements(pattern: Pattern, number: Callable[[Ref], Number]) -> list[Arrangement]:
    """All arrangements of a pattern, without duplicates."""
    if isinstance(pattern, Leaf):
        return [Arrangement((number(pattern.ref),))]
    lefts, rights = arrangements(pattern.left, number), arrangements(pattern.right, number)
    if isinstance(pattern, Either):
        return list(dict.fromkeys(lefts + rights))
    pairs = [(left, right) for left in lefts for right in rights]
    if isinstance(pattern, Both):
        return list(dict.fromkeys(one for pair in pairs for one in _interleavings(*pair)))
    absent = tuple(number(ref) for ref in pattern.absent)
    return list(dict.fromkeys(_concatenation(*pair, absent) for pair in pairs))


def _concatenation(
    left: Arrangement, right: Arrangement, absent: tuple[Number, ...]
) -> Arrangement:
    n = len(left.numbers)
    joined = _placed(left, range(n), right, range(n, n + len(right.numbers)))
    between = frozenset((n - 1, n, number) for number in absent)
    return Arrangement(joined.numbers, joined.gaps | between)


def _interleavings(left: Arrangement, right: Arrangement) -> list[Arrangement]:
    places = range(len(left.numbers) + len(right.numbers))
    return [
        _placed(left, chosen, right, [place for place in places if place not in chosen])
        for chosen in combinations(places, len(left.numbers))
    ]


def _placed(
    left: Arrangement,
    left_places: range | tuple[int, ...],
    right: Arrangement,
    right_places: range | list[int],
) -> Arrangement:
    """Both arrangements in one, each event at its given place."""
    numbers = dict(zip(left_places, left.numbers, strict=True)) | dict(
        zip(right_places, right.numbers, strict=True)
    )
    gaps = {(left_places[i], left_places[j], number) for i, j, number in left.gaps}
    gaps |= {(right_places[i], right_places[j], number) for i, j, number in right.gaps}
    return Arrangement(tuple(numbers[place] for place in sorted(numbers)), frozenset(gaps))
