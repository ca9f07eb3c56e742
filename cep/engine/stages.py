"""Which operators of generated rules run in which stage.

There is one stage, unless what works per key shall run elsewhere (`cep.engine.distributed`): then
what crosses keys has one of its own, behind that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cep.engine.clock_cells import NO_CLOCKS, ClockCells, clock_cells, goes_by_time
from cep.engine.layout import row_widths
from cep.plan.clocks import clocks
from cep.plan.nodes import Chained, Complex, Engine, Event, Operator, Plan
from cep.plan.outlets import streams_read
from cep.plan.query import Query
from cep.plan.separable import Separability, separability

KEYED, CROSSING = range(2)
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Turn:
    """Neighbours among the readers of a stream that belong to the later stage.

    `place` counts those of the stream.
    """

    stream: str
    place: int
    readers: tuple[Query | Event, ...]


@dataclass(frozen=True, slots=True)
class Stages:
    """The plan's operators by stage; an event's edge and its engine may lie in different ones.

    What a stream leads to is indexed once, so that plans of thousands of operators load in seconds.
    """

    plan: Plan
    by: Separability
    is_apart: bool
    clocks: ClockCells
    _readers: Mapping[str, tuple[Query | Event, ...]]
    _chained: Mapping[str, tuple[Chained, ...]]

    @classmethod
    def of(cls, plan: Plan, *, apart: bool = False) -> Stages:
        """With `apart` what crosses keys has a stage of its own behind what does not."""
        return cls._of(plan, apart, clock_cells(plan, clocks(plan)))

    @classmethod
    def none(cls, plan: Plan) -> Stages:
        """Those of rules of which nothing is generated: rows carry no clocks of parts."""
        return cls._of(plan, False, NO_CLOCKS)

    @classmethod
    def _of(cls, plan: Plan, is_apart: bool, cells: ClockCells) -> Stages:
        return cls(
            plan,
            separability(plan),
            is_apart,
            cells,
            _grouped_readers(plan),
            _grouped(plan.chained, lambda chained: chained.complex),
        )

    @property
    def row_widths(self) -> tuple[int, int]:
        """Columns of an int row and of a float row; clocks stand in the last ones of an int row."""
        ints, floats = row_widths(self.plan)
        return ints + len(self.clocks), floats

    def operator(self, operator: Operator) -> int:
        """Stage in which a query runs or an event's condition is watched."""
        return KEYED if not self.is_apart or self.by.is_keyed(operator) else CROSSING

    def engine(self, name: str) -> int:
        return KEYED if not self.is_apart or self.by.is_engine_keyed(name) else CROSSING

    def used(self) -> tuple[int, ...]:
        """The stages that have anything to do, in order."""
        found = {self.operator(operator) for operator in self.plan.operators}
        found |= {self.engine(operator.engine) for operator in self.plan.events}
        return tuple(sorted(found)) or (KEYED,)

    def engines(self, stage: int) -> tuple[Engine, ...]:
        return tuple(e for e in self.plan.engines if self.engine(e.name) == stage)

    def events(self, stage: int) -> tuple[Event, ...]:
        """Events whose queue is in this stage."""
        return tuple(e for e in self.plan.events if self.engine(e.engine) == stage)

    def chained(self, stage: int) -> tuple[Chained, ...]:
        return tuple(c for c in self.plan.chained if self.engine(c.engine) == stage)

    def chained_from(self, found: Complex, stage: int) -> tuple[Chained, ...]:
        """What a complex event becomes in the engines of a stage."""
        chained = self._chained.get(found.name, ())
        return tuple(c for c in chained if self.engine(c.engine) == stage)

    def is_handed_on(self, found: Complex, stage: int) -> bool:
        """Whether an engine of a stage behind this one takes a complex event."""
        return any(self.engine(one.engine) > stage for one in self._chained.get(found.name, ()))

    def complexes(self, stage: int) -> tuple[Complex, ...]:
        return tuple(c for c in self.plan.complexes if self.engine(c.engine) == stage)

    def readers(self, stream: str, stage: int) -> tuple[Query | Event, ...]:
        """Queries and events of this stage that read a stream, in definition order."""
        return tuple(r for r in self._readers.get(stream, ()) if self.operator(r) == stage)

    def followers(self, stream: str, stage: int) -> tuple[Query | Event | Turn, ...]:
        """Where a row of a stream goes that arises in a stage, in order."""
        if not self.is_apart:
            return self._readers.get(stream, ())
        found: list[Query | Event | Turn] = []
        later: list[Query | Event] = []
        turns = 0
        for reader in (*self._readers.get(stream, ()), None):
            if reader is not None and self.operator(reader) > stage:
                later.append(reader)
                continue
            if later:
                found.append(Turn(stream, turns, tuple(later)))
                later, turns = [], turns + 1
            if reader is not None and self.operator(reader) == stage:
                found.append(reader)
        return tuple(found)

    def turns(self) -> tuple[Turn, ...]:
        """What the later stage gets of the rows that arise in the first."""
        return tuple(
            follower
            for stream in self.plan.streams
            for follower in self.followers(stream.name, KEYED)
            if isinstance(follower, Turn)
        )

    def first(self, source: str) -> int | None:
        """The stage that gets the rows of a source, and hands them on; None: nothing reads it."""
        return min(map(self.operator, self._readers.get(source, ())), default=None)

    def is_read(self, stream: str) -> bool:
        """Whether anything reads a stream, in whatever stage."""
        return stream in self._readers


def windows_of_all_keys(plan: Plan) -> Iterator[str]:
    """Queries whose window holds rows of all keys, though of lived records each key has a clock.

    Generated code has one clock for a window.
    """
    by, of_plan = separability(plan), clocks(plan)
    for query in plan.queries:
        is_by_key = of_plan["query", query.name].is_by_key
        if is_by_key and not by.is_keyed(query) and goes_by_time(query):
            yield query.name


def _grouped_readers(plan: Plan) -> dict[str, tuple[Query | Event, ...]]:
    """What reads each stream, in the order in which it is told."""
    found: defaultdict[str, list[Query | Event]] = defaultdict(list)
    for operator in plan.operators:
        if isinstance(operator, Query | Event):
            for stream in dict.fromkeys(streams_read(operator)):
                found[stream].append(operator)
    return {stream: tuple(readers) for stream, readers in found.items()}


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T, ...]]:
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {name: tuple(group) for name, group in groups.items()}
