"""The smallest triple of a kind that still differs: fewer records, fewer statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.metamorphic.rules import SOURCES, Rules, filled
from tests.metamorphic.triples import Triple

Differs = Callable[[Triple], bool]


def smallest(one: Triple, differs: Differs) -> Triple:
    """A triple from which nothing can be left out alone without the difference going away."""
    while True:
        smaller = next((found for found in _smaller(one) if differs(found)), None)
        if smaller is None:
            return one
        one = smaller


def _smaller(one: Triple) -> Iterator[Triple]:
    """Triples with less in them, those that leave out the most first."""
    size = len(one.steps) // 2
    while size:
        for first in range(0, len(one.steps) - 1, size):
            last = min(first + size, len(one.steps) - 1)  # the end stays
            yield replace(one, steps=(*one.steps[:first], *one.steps[last:]))
        size //= 2
    for part in _droppable(one):
        before, after = _without(one.before, part), _without(one.after, part)
        if before.are_accepted and after.are_accepted:
            yield replace(one, before=before, after=after)


def _droppable(one: Triple) -> list[str]:
    """What stands in both, and what was only added; sources stay for their records."""
    before, after = ((*rules.statements, *rules.definitions) for rules in (one.before, one.after))
    is_addition = set(before) <= set(after)
    return [
        part
        for part in after
        if (part in before or is_addition) and filled(part).isdisjoint(SOURCES)
    ]


def _without(rules: Rules, part: str) -> Rules:
    return Rules(
        tuple(text for text in rules.definitions if text != part),
        tuple(text for text in rules.statements if text != part),
    )
