"""What patterns and sequences mean, by definition: each match is a walk over the events.

A walk starts with nothing. At each event it takes it or not; which it does depends on nothing but
what it has taken before. Walks of a pattern do not know of each other. Those of a sequence share
their places: of two that come to one place with one event, the older goes on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Kind = Literal["pattern", "sequence"]
Every = Literal["none", "first", "all"]
Op = Literal["and", "or"]
Index = Literal["first", "last", "previous"]


@dataclass(frozen=True)
class Event:
    """A row: its stream, its time in ms and its only attribute `p`."""

    stream: str
    time: int
    p: int


@dataclass(frozen=True)
class Earlier:
    """`p` of an event taken before: of the state `name`, or (`previous`) of the state itself."""

    name: str
    index: Index


@dataclass(frozen=True)
class Condition:
    """`p compare operand`. Without such an earlier event `previous` is true, the rest false."""

    compare: str
    operand: int | Earlier


@dataclass(frozen=True)
class Single:
    """`name=stream[condition]<least:most>`; `most` None is without end."""

    name: str
    stream: str
    conditions: tuple[Condition, ...] = ()
    least: int = 1
    most: int | None = 1

    @property
    def is_counted(self) -> bool:
        return (self.least, self.most) != (1, 1)


@dataclass(frozen=True)
class Pair:
    """`left op right`."""

    op: Op
    left: Single
    right: Single


Step = Single | Pair


@dataclass(frozen=True)
class Spec:
    """Steps one after another. `every` covers nothing, the first step, or all of them."""

    kind: Kind
    every: Every
    steps: tuple[Step, ...]
    within_ms: int | None = None

    @property
    def singles(self) -> tuple[Single, ...]:
        return tuple(single for step in self.steps for single in singles(step))


def singles(step: Step) -> tuple[Single, ...]:
    return (step,) if isinstance(step, Single) else (step.left, step.right)


Taken = dict[str, list[Event]]


@dataclass(eq=False)
class Walk:
    """What was taken, by state; the steps at which the next event is looked at, first to last.

    `arrived` is the number of the event with which it came to the last of them.
    """

    places: list[int] = field(default_factory=lambda: [0])
    arrived: int = -1
    taken: Taken = field(default_factory=dict)

    def take(self, single: Single, event: Event) -> bool:
        """Take the event if it fits."""
        fits = event.stream == single.stream and all(
            self._holds(single, condition, event) for condition in single.conditions
        )
        if fits:
            self.taken.setdefault(single.name, []).append(event)
        return fits

    def count(self, step: Step) -> int:
        return sum(len(self.taken.get(single.name, ())) for single in singles(step))

    def so_far(self) -> Taken:
        """What was taken, unaltered by what may follow."""
        return {name: list(events) for name, events in self.taken.items()}

    def _holds(self, single: Single, condition: Condition, event: Event) -> bool:
        operand = condition.operand
        if isinstance(operand, int):
            return COMPARE[condition.compare](event.p, operand)
        found = self.taken.get(operand.name, [])
        if not found:
            return operand.index == "previous" or condition.compare == "!="
        other = found[0] if operand.index == "first" else found[-1]
        return COMPARE[condition.compare](event.p, other.p)

    def is_too_old(self, spec: Spec, time: int) -> bool:
        if spec.within_ms is None:
            return False
        firsts = [
            self.taken[one.name][0] for one in singles(spec.steps[0]) if one.name in self.taken
        ]
        return any(time - first.time > spec.within_ms for first in firsts)


Found = tuple[int, Taken]
"""A match: the number of the event that completed it, and what it took."""


def matches(spec: Spec, events: list[Event]) -> list[Found]:
    """All matches, in order of completion."""
    streams = {single.stream for single in spec.singles}
    seen = [(number, event) for number, event in enumerate(events) if event.stream in streams]
    return list(_pattern(spec, seen) if spec.kind == "pattern" else _sequence(spec, seen))


def _arrive(spec: Spec, step: int) -> tuple[list[int], bool]:
    """Where a walk looks that has come to a step, and whether it is complete with that."""
    places = []
    while step < len(spec.steps):
        places.append(step)
        here = spec.steps[step]
        if isinstance(here, Pair) or here.least:
            return places, False
        step += 1
    return places[:-1], True


def _pattern(spec: Spec, events: list[tuple[int, Event]]) -> Iterator[Found]:
    walks = [Walk()]
    for number, event in events:
        old = [walk for walk in walks if walk.is_too_old(spec, event.time)]
        walks = [walk for walk in walks if walk not in old]
        if any(_may_begin_again(spec, walk) for walk in old):
            walks.append(Walk())
        walks.sort(key=lambda walk: walk.arrived)
        for walk in list(walks):
            begun = walk.count(spec.steps[0])
            furthest = max(walk.places)
            complete = _step(spec, walk, event)
            if walk.places and max(walk.places) > furthest:
                walk.arrived = number
            if complete:
                yield number, walk.so_far()
            if complete or not walk.places:
                walks.remove(walk)
            first_done = begun < _least(spec.steps[0]) <= walk.count(spec.steps[0])
            if complete if spec.every == "all" else spec.every == "first" and first_done:
                walks.append(Walk())


def _may_begin_again(spec: Spec, walk: Walk) -> bool:
    """Whether `every` waits for this walk, which is too old now."""
    in_first = walk.count(spec.steps[0]) < _least(spec.steps[0])
    return spec.every == "all" or (spec.every == "first" and in_first)


def _least(step: Step) -> int:
    """How many events complete a step."""
    if isinstance(step, Single):
        return step.least
    return 2 if step.op == "and" else 1


def _step(spec: Spec, walk: Walk, event: Event) -> bool:
    """One event for one walk of a pattern: the last place that takes it decides."""
    for place in reversed(walk.places):
        step = spec.steps[place]
        if not _take(walk, step, event):
            continue
        count = walk.count(step)
        most = step.most if isinstance(step, Single) else _least(step)
        onward, complete = _arrive(spec, place + 1) if count == _least(step) else ([], False)
        if count > _least(step):
            onward = [one for one in walk.places if one > place]
        walk.places = ([place] if count != most else []) + onward
        return complete
    return False


def _take(walk: Walk, step: Step, event: Event) -> bool:
    """Both sides of `and` may take one event; `or` is content with the first."""
    took = [one for one in singles(step) if _open(step, one, walk) and walk.take(one, event)]
    if isinstance(step, Pair) and step.op == "or":
        for one in took[1:]:
            del walk.taken[one.name]
    return bool(took)


def _open(step: Step, single: Single, walk: Walk) -> bool:
    return isinstance(step, Single) or single.name not in walk.taken


def _sequence(spec: Spec, events: list[tuple[int, Event]]) -> Iterator[Found]:
    """At most one walk a place; one that does not take the next event is lost."""
    threads: dict[int, Walk] = {0: Walk()}
    for number, event in events:
        threads = {
            place: walk for place, walk in threads.items() if not walk.is_too_old(spec, event.time)
        }
        if spec.every == "first":
            threads.setdefault(0, Walk())
        following: dict[int, Walk] = {}
        gone: list[Walk] = []
        for place in sorted(threads, reverse=True):
            walk, step = threads[place], spec.steps[place]
            if walk in gone or not _take(walk, step, event):
                continue
            gone.append(walk)
            places, complete = _continue(spec, walk, place)
            if complete:
                yield number, walk.so_far()
            for one in places:
                following.setdefault(one, walk)
        threads = following


def _continue(spec: Spec, walk: Walk, place: int) -> tuple[list[int], bool]:
    """Where a walk of a sequence looks next, and whether it is complete."""
    step = spec.steps[place]
    is_last = place == len(spec.steps) - 1
    if isinstance(step, Pair):
        return _arrive(spec, place + 1)
    count = walk.count(step)
    if is_last:
        return ([], True) if count == step.least else ([place], False)
    onward, complete = _arrive(spec, place + 1) if count >= step.least else ([], False)
    return onward + ([place] if count != step.most else []), complete
