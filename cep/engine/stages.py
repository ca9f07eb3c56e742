"""Which operators run in which stage; see `cep.engine.placement`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cep.engine.coverage import Coverage
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
from cep.plan.nodes import Chained, Complex, Engine, Event, Operator, Plan, Signal
from cep.plan.query import Query
from cep.plan.separable import Separability, separability

__all__ = ["BEHIND", "CROSSING", "INTERPRETED", "KEYED", "TIMED", "Stages"]

ASKED = "it was asked for"
"""Why a query is interpreted though it could be compiled."""
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Stages:
    """The plan's operators by stage; an event's edge and its engine may lie in different ones.

    What a stream leads to is indexed once, so that plans of thousands of operators load in seconds.
    """

    plan: Plan
    placement: Placement
    _readers: Mapping[tuple[str, int], tuple[Query | Event, ...]]
    _signals: Mapping[str, tuple[Signal, ...]]
    _chained: Mapping[str, tuple[Chained, ...]]

    @classmethod
    def of(cls, plan: Plan, interpreted: Iterable[str] = ()) -> Stages:
        """`interpreted` are queries that shall not be compiled though they could be."""
        chosen, by = frozenset(interpreted), separability(plan)
        coverage = Coverage(plan, by)

        for event in plan.events:
            _need_compiled(event, coverage)

        def why_not(query: Query) -> str | None:
            return ASKED if query.name in chosen else coverage.why_not_native(query)

        placement = place(plan, by, why_not)
        reading = [
            (operator, stream)
            for operator in plan.operators
            if isinstance(operator, Query | Event)
            for stream in dict.fromkeys(read(operator))
        ]
        readers: defaultdict[tuple[str, int], list[Query | Event]] = defaultdict(list)
        for operator, stream in reading:
            readers[stream, placement.operators[operator.name]].append(operator)
        return cls(
            plan,
            placement,
            {key: tuple(group) for key, group in readers.items()},
            _grouped(plan.signals, lambda signal: signal.complex),
            _grouped(plan.chained, lambda chained: chained.complex),
        )

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

    def complexes(self, stage: int) -> tuple[Complex, ...]:
        return tuple(c for c in self.plan.complexes if self.engine(c.engine) == stage)

    def readers(self, stream: str, stage: int) -> tuple[Query | Event, ...]:
        """Queries and events of this stage that read a stream, in definition order."""
        return self._readers.get((stream, stage), ())

    def is_read(self, stream: str) -> bool:
        """Whether anything reads a stream, in whatever stage."""
        return any(name == stream for name, _ in self._readers)

    def signals(self, found: Complex) -> tuple[Signal, ...]:
        return self._signals.get(found.name, ())

    def leads_to(self, stream: str, stage: int) -> bool:
        """Whether rows of a stream are needed in a stage."""
        if self.readers(stream, stage):
            return True
        return any(self.engine(c.engine) == stage for c in self._chained.get(stream, ()))

    @property
    def has_interpreter(self) -> bool:
        """Whether anything is left to the interpreter: queries, or what only it can hold."""
        plan = self.plan
        held = (plan.tables, plan.windows, plan.triggers, plan.aggregations)
        return bool(self.placement.reasons or any(held) or any(s.reorder for s in plan.streams))

    def taken(self, stage: int) -> frozenset[str]:
        """The streams whose rows a stage takes from outside: sources, or made in earlier stages."""
        names = {stream for stream, reader in self._readers if reader == stage}
        if stage == INTERPRETED:
            names |= {aggregation.input.stream for aggregation in self.plan.aggregations}
            names |= {stream.name for stream in self.plan.streams if stream.reorder is not None}
        names |= {name for name in self._chained if self.leads_to(name, stage)}
        return frozenset(names)


def _need_compiled(event: Event, coverage: Coverage) -> None:
    """PlacementError for an event with a condition that only the interpreter can ask."""
    reason = coverage.why_not_watched(event)
    if reason is not None:
        raise PlacementError(
            f"event {event.name}: its condition is not compiled: {reason}",
            f"select it in a query that reads {event.source}, and let the event read that",
        )


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T, ...]]:
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {name: tuple(group) for name, group in groups.items()}
