"""Which operators run in which stage; see `cep.engine.placement`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cep.engine.clock_cells import ClockCells, clock_cells, goes_by_time
from cep.engine.coverage import Coverage
from cep.engine.layout import row_widths
from cep.engine.placement import (
    BEHIND,
    CROSSING,
    INTERPRETED,
    KEYED,
    TIMED,
    Placement,
    PlacementError,
    place,
    read,
)
from cep.plan.change import PartId
from cep.plan.clocks import ClockOf, clocks
from cep.plan.nodes import Aggregation, Chained, Complex, Engine, Event, Operator, Plan, Signal
from cep.plan.query import Query
from cep.plan.separable import Separability, separability

__all__ = ["BEHIND", "CROSSING", "INTERPRETED", "KEYED", "TIMED", "Stages"]

ASKED = "it was asked for"
"""Why a query is interpreted though it could be compiled."""
MIXED = "its rows leave by the clocks of their keys, which it is not compiled by"
"""Why one is interpreted where records were lived."""
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Turn:
    """Neighbours among the readers of a stream that belong to later stages than its rows.

    `place` counts those of the stream. Where one is interpreted, the interpreter gets the rows and
    hands them on to those behind it (`Tap`).
    """

    stream: str
    place: int
    stage: int
    readers: tuple[Query | Event | Aggregation, ...]


@dataclass(frozen=True, slots=True)
class Tap:
    """A compiled reader of a stream of the interpreter, which stands in its place among others."""

    stream: str
    reader: Query | Event


@dataclass(frozen=True, slots=True)
class Stages:
    """The plan's operators by stage; an event's edge and its engine may lie in different ones.

    What a stream leads to is indexed once, so that plans of thousands of operators load in seconds.
    `mixed` are compiled queries whose window holds rows of all keys, though each key has a clock.
    """

    plan: Plan
    placement: Placement
    _readers: Mapping[tuple[str, int], tuple[Query | Event, ...]]
    _signals: Mapping[str, tuple[Signal, ...]]
    _chained: Mapping[str, tuple[Chained, ...]]
    _all_readers: Mapping[str, tuple[Query | Event | Aggregation, ...]]
    clocks: ClockCells
    mixed: tuple[str, ...]
    is_whole: bool = False
    """Whether one program (`cep.engine.machine`) or the interpreter runs everything."""

    @classmethod
    def of(
        cls,
        plan: Plan,
        interpreted: Iterable[str] = (),
        *,
        apart: bool = False,
        lived: bool = False,
    ) -> Stages:
        """`interpreted` are queries that shall not be compiled though they could be; `apart` as in
        `place`. With `lived` nothing is compiled that could not tell the clocks of keys apart.
        """
        chosen = dict.fromkeys(interpreted, ASKED)
        found = cls._of(plan, chosen, apart)
        while lived and (more := {name: MIXED for name in found.mixed if name not in chosen}):
            chosen |= more
            found = cls._of(plan, chosen, apart)
        return found

    @classmethod
    def _of(cls, plan: Plan, chosen: Mapping[str, str], apart: bool) -> Stages:
        by = separability(plan)
        coverage = Coverage(plan, by)

        for event in plan.events:
            _need_compiled(event, coverage)

        def why_not(query: Query) -> str | None:
            return chosen.get(query.name) or coverage.why_not_native(query)

        placement = place(plan, by, why_not, coverage.chunks, apart=apart)
        reading = [
            (operator, stream)
            for operator in plan.operators
            if isinstance(operator, Query | Event)
            for stream in dict.fromkeys(read(operator))
        ]
        readers: defaultdict[tuple[str, int], list[Query | Event]] = defaultdict(list)
        for operator, stream in reading:
            readers[stream, placement.operators[operator.name]].append(operator)
        of_plan = clocks(plan)
        return cls(
            plan,
            placement,
            {key: tuple(group) for key, group in readers.items()},
            _grouped(plan.signals, lambda signal: signal.complex),
            _grouped(plan.chained, lambda chained: chained.complex),
            _all_readers(plan),
            clock_cells(plan, of_plan, lambda part: _is_behind(placement, part)),
            tuple(_mixed(plan, placement, of_plan)),
        )

    @classmethod
    def whole(cls, plan: Plan) -> Stages:
        """Everything in one stage, where a program or the interpreter runs it all."""
        operators = {operator.name: KEYED for operator in plan.operators}
        engines = {engine.name: KEYED for engine in plan.engines}
        placement = Placement(separability(plan), operators, engines, {})
        none = clock_cells(plan, clocks(plan), lambda part: None)
        return cls(
            plan,
            placement,
            {},
            _grouped(plan.signals, lambda signal: signal.complex),
            _grouped(plan.chained, lambda chained: chained.complex),
            {},
            none,
            (),
            is_whole=True,
        )

    @property
    def row_widths(self) -> tuple[int, int]:
        """Columns of an int row and of a float row; clocks stand in the last ones of an int row."""
        ints, floats = row_widths(self.plan)
        return ints + len(self.clocks), floats

    @property
    def by(self) -> Separability:
        """By what compiled operators are keyed."""
        return self.placement.by

    def operator(self, operator: Operator) -> int:
        """Stage in which a query runs, an event's condition is watched or a signal is made."""
        return self.placement.operators[operator.name]

    def engine(self, name: str) -> int:
        return self.placement.engines[name]

    def used(self) -> tuple[int, ...]:
        """The stages that have anything to do, in order."""
        if self.is_whole:
            return (KEYED,)
        found = {self.operator(operator) for operator in self.plan.operators}
        found |= {self.engine(operator.engine) for operator in self.plan.events}
        if self.has_interpreter:
            found.add(INTERPRETED)
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
        return self._readers.get((stream, stage), ())

    def followers(self, stream: str, stage: int) -> tuple[Query | Event | Turn, ...]:
        """Where a row of a stream goes that arises in a compiled stage, in order."""
        found: list[Query | Event | Turn] = []
        later: list[Query | Event | Aggregation] = []
        turns = 0
        for reader in (*self._all_readers.get(stream, ()), None):
            if reader is not None and self._stage_of(reader) > stage:
                later.append(reader)
                continue
            if later:
                found.append(Turn(stream, turns, min(map(self._stage_of, later)), tuple(later)))
                later, turns = [], turns + 1
            if isinstance(reader, Query | Event) and self._stage_of(reader) == stage:
                found.append(reader)
        return tuple(found)

    def turns(self, stage: int) -> tuple[Turn, ...]:
        """What later stages get of the rows that arise in a compiled stage."""
        return tuple(
            turn
            for stream in self.plan.streams
            for turn in self.followers(stream.name, stage)
            if isinstance(turn, Turn)
        )

    def first(self, source: str) -> int | None:
        """The stage that gets the rows of a source, and hands them on; None: nothing reads it."""
        if any(stream.reorder is not None for stream in self.plan.streams):
            return INTERPRETED  # what waits for order moves clocks, and makes late, when it goes on
        readers = self._all_readers.get(source, ())
        return min(map(self._stage_of, readers), default=None)

    def taps(self) -> tuple[Tap, ...]:
        """What is compiled behind the interpreter gets of the rows of streams that this has."""
        if INTERPRETED not in self.used():
            return ()
        return tuple(
            Tap(stream, reader)
            for stream, readers in self._all_readers.items()
            for reader in readers
            if isinstance(reader, Query | Event) and self._stage_of(reader) == BEHIND
        )

    def _stage_of(self, reader: Query | Event | Aggregation) -> int:
        return INTERPRETED if isinstance(reader, Aggregation) else self.operator(reader)

    def is_read(self, stream: str) -> bool:
        """Whether anything reads a stream, in whatever stage."""
        return any(name == stream for name, _ in self._readers)

    def signals(self, found: Complex) -> tuple[Signal, ...]:
        return self._signals.get(found.name, ())

    @property
    def has_interpreter(self) -> bool:
        """Whether anything is left to the interpreter: queries, or what only it can hold."""
        if self.is_whole:
            return False
        plan = self.plan
        held = (plan.tables, plan.windows, plan.triggers, plan.aggregations)
        waits = plan.playback is not None and plan.playback.idle_ms is not None
        waits |= any(stream.reorder is not None for stream in plan.streams)
        return bool(self.placement.reasons or any(held) or waits)


def interpreted_queries(plan: Plan) -> frozenset[str]:
    """The queries that are not compiled: all of them where no order of stages can run the rules."""
    try:
        return Stages.of(plan).placement.interpreted
    except PlacementError:
        return frozenset(query.name for query in plan.queries)


def _is_behind(placement: Placement, part: Operator | Chained) -> bool | None:
    """Whether what goes by a clock is compiled behind the interpreter; None: it is not compiled."""
    if isinstance(part, Event | Chained):
        return placement.engines[part.engine] == BEHIND
    stage = placement.operators[part.name]
    return None if stage == INTERPRETED else stage == BEHIND


def _mixed(plan: Plan, placement: Placement, of_plan: Mapping[PartId, ClockOf]) -> Iterator[str]:
    for query in plan.queries:
        is_compiled = placement.operators[query.name] != INTERPRETED and goes_by_time(query)
        is_mixed = of_plan["query", query.name].is_by_key and not placement.by.is_keyed(query)
        if is_compiled and is_mixed:
            yield query.name


def _all_readers(plan: Plan) -> dict[str, tuple[Query | Event | Aggregation, ...]]:
    """What reads each stream, in the order in which it is told."""
    found: defaultdict[str, list[Query | Event | Aggregation]] = defaultdict(list)
    for aggregation in plan.aggregations:
        found[aggregation.input.stream].append(aggregation)
    for operator in plan.operators:
        if isinstance(operator, Query | Event):
            for stream in dict.fromkeys(read(operator)):
                found[stream].append(operator)
    return {stream: tuple(readers) for stream, readers in found.items()}


def _need_compiled(event: Event, coverage: Coverage) -> None:
    """PlacementError for an event with a condition that only the interpreter can ask."""
    reason = coverage.why_not_watched(event)
    if reason is not None:
        raise PlacementError(f"event {event.name}: its condition is not compiled: {reason}")


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T, ...]]:
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {name: tuple(group) for name, group in groups.items()}
