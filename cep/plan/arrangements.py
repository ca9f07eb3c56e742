"""The arrangements of a pattern: listing them up to a limit, counting them without listing.

A pattern is a finite language over its events. Listing walks its deterministic automaton: a state
is the set of what may still follow, so each path is another arrangement and none comes twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import comb
from typing import NamedTuple

from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref, Sequence, leaves

REST_MAX = 128
STATES_MAX = 2_000

SEQUENCE, BOTH, EITHER = -1, -2, -3


class Rest(NamedTuple):
    """What may still follow: an operator and its parts, or the code of one event."""

    kind: int
    parts: tuple[Rest, ...] = ()


Remaining = tuple[Rest, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """A number of arrangements; a lower bound unless `exact`."""

    value: int
    exact: bool = True

    def __str__(self) -> str:
        return f"{self.value:,}" if self.exact else f"more than {self.value:,}"


def arrangements(pattern: Pattern, limit: int) -> list[tuple[Ref, ...]]:
    """At most `limit` arrangements, without duplicates.

    They are ordered like words whose alphabet is the events in order of first appearance, the
    shorter first: `10 followed by (11 or (12 and 13))` has (10, 11), (10, 12, 13), (10, 13, 12).
    """
    alphabet = list(dict.fromkeys(leaves(pattern)))
    codes = {ref: code for code, ref in enumerate(alphabet)}
    words = islice(_words((_encode(pattern, codes),)), limit)
    return [tuple(alphabet[code] for code in word) for word in words]


def count_arrangements(pattern: Pattern) -> Count:
    """How many arrangements there are; a lower bound only where counting itself is too costly."""
    alphabet = list(dict.fromkeys(leaves(pattern)))
    if len(alphabet) == len(leaves(pattern)):
        return Count(sum(_lengths(pattern).values()))
    codes = {ref: code for code, ref in enumerate(alphabet)}
    counted = _count((_encode(pattern, codes),), {})
    if counted is not None:
        return Count(counted)
    return Count(len(arrangements(pattern, 1000)) - 1, exact=False)


def _lengths(pattern: Pattern) -> dict[int, int]:
    """Number of arrangements by length, where no event stands twice."""
    if isinstance(pattern, Leaf):
        return {1: 1}
    left, right = _lengths(pattern.left), _lengths(pattern.right)
    if isinstance(pattern, Either):
        return {n: left.get(n, 0) + right.get(n, 0) for n in left.keys() | right.keys()}
    result: dict[int, int] = {}
    for i, some in left.items():
        for j, others in right.items():
            ways = comb(i + j, i) if isinstance(pattern, Both) else 1
            result[i + j] = result.get(i + j, 0) + some * others * ways
    return result


def _encode(pattern: Pattern, codes: dict[Ref, int]) -> Rest:
    if isinstance(pattern, Leaf):
        return Rest(codes[pattern.ref])
    left, right = _encode(pattern.left, codes), _encode(pattern.right, codes)
    if isinstance(pattern, Both):
        return _both((left, right))
    return Rest(SEQUENCE if isinstance(pattern, Sequence) else EITHER, (left, right))


def _both(sides: tuple[Rest, ...]) -> Rest:
    """Interleaving, flat and sorted, so that equal remainders are recognised."""
    parts = [part for side in sides for part in (side.parts if side.kind == BOTH else (side,))]
    return Rest(BOTH, tuple(sorted(parts))) if len(parts) > 1 else parts[0]


def _steps(rest: Rest) -> Iterator[tuple[int, Rest | None]]:
    """Each event that may come first, with what may follow it (None: nothing)."""
    if rest.kind == SEQUENCE:
        left, right = rest.parts
        for code, after in _steps(left):
            yield code, right if after is None else Rest(SEQUENCE, (after, right))
    elif rest.kind == EITHER:
        for part in rest.parts:
            yield from _steps(part)
    elif rest.kind == BOTH:
        yield from _interleaved(rest.parts)
    else:
        yield rest.kind, None


def _interleaved(parts: tuple[Rest, ...]) -> Iterator[tuple[int, Rest | None]]:
    for position, part in enumerate(parts):
        if part not in parts[:position]:
            others = parts[:position] + parts[position + 1 :]
            for code, after in _steps(part):
                yield code, _both(others if after is None else (after, *others))


def _successors(state: Remaining) -> Iterator[tuple[int, bool, Remaining]]:
    """By event, in order: whether an arrangement ends with it, and the state after it."""
    following: dict[int, dict[Rest | None, None]] = {}
    for rest in state:
        for code, after in _steps(rest):
            following.setdefault(code, {})[after] = None
    for code in sorted(following):
        afters = [after for after in following[code] if after is not None]
        # A cut loses arrangements, never invents one; counting notices it and says so.
        yield code, None in following[code], tuple(sorted(afters)[: REST_MAX + 1])


def _words(state: Remaining) -> Iterator[tuple[int, ...]]:
    for code, ends, after in _successors(state):
        if ends:
            yield (code,)
        for word in _words(after[:REST_MAX]) if after else ():
            yield (code, *word)


def _count(state: Remaining, known: dict[Remaining, int]) -> int | None:
    """Words from a state on; None when there are too many states to visit."""
    if state not in known:
        total = 0
        for _, ends, after in _successors(state):
            below = _count(after, known) if after else 0
            if below is None or len(after) > REST_MAX or len(known) > STATES_MAX:
                return None
            total += ends + below
        known[state] = total
    return known[state]
