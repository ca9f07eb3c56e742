"""Which operators run in which stage: first what is keyed, then what crosses keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cep.plan.nodes import Chained, Complex, Engine, Event, Operator, Plan, Query, Signal
from cep.plan.separable import Separability, separability

KEYED, CROSSING = 1, 2

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Stages:
    """The plan's operators by stage; an event's edge and its engine may lie in different ones.

    What a stream leads to is indexed once, so that plans of thousands of operators load in seconds.
    """

    plan: Plan
    by: Separability
    _readers: Mapping[tuple[str, int], tuple[Query | Event, ...]]
    _signals: Mapping[str, tuple[Signal, ...]]
    _chained: Mapping[str, tuple[Chained, ...]]

    @classmethod
    def of(cls, plan: Plan) -> Stages:
        by = separability(plan)
        reading = [operator for operator in plan.operators if isinstance(operator, Query | Event)]
        return cls(
            plan,
            by,
            _grouped(reading, lambda operator: (operator.source, _stage(by, operator))),
            _grouped(plan.signals, lambda signal: signal.complex),
            _grouped(plan.chained, lambda chained: chained.complex),
        )

    def operator(self, operator: Operator) -> int:
        """Stage in which a query runs, an event's condition is watched or a signal is made."""
        return _stage(self.by, operator)

    def engine(self, name: str) -> int:
        return KEYED if self.by.is_engine_keyed(name) else CROSSING

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

    def complexes(self, stage: int) -> tuple[Complex, ...]:
        return tuple(c for c in self.plan.complexes if self.engine(c.engine) == stage)

    def readers(self, stream: str, stage: int) -> tuple[Query | Event, ...]:
        """Queries and events of this stage that read a stream, in definition order."""
        return self._readers.get((stream, stage), ())

    def signals(self, found: Complex) -> tuple[Signal, ...]:
        return self._signals.get(found.name, ())

    def crosses(self, stream: str) -> bool:
        """Whether rows of a stream made in stage 1 are needed in stage 2."""
        if self.readers(stream, CROSSING):
            return True
        return any(self.engine(c.engine) == CROSSING for c in self._chained.get(stream, ()))


def _stage(by: Separability, operator: Operator) -> int:
    return KEYED if by.is_keyed(operator) else CROSSING


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T, ...]]:
    groups: defaultdict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {name: tuple(group) for name, group in groups.items()}
