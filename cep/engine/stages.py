"""Which operators run in which stage: first what is keyed, then what crosses keys."""

from __future__ import annotations

from dataclasses import dataclass

from cep.plan.nodes import Chained, Complex, Engine, Event, Operator, Plan, Query, Signal
from cep.plan.separable import Separability, separability

KEYED, CROSSING = 1, 2


@dataclass(frozen=True, slots=True)
class Stages:
    """The plan's operators split by stage. An event's edge and its engine may lie in different ones."""

    plan: Plan
    by: Separability

    @classmethod
    def of(cls, plan: Plan) -> Stages:
        return cls(plan, separability(plan))

    def operator(self, operator: Operator) -> int:
        """Stage in which a query runs, an event's condition is watched or a signal is made."""
        return KEYED if self.by.is_keyed(operator) else CROSSING

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

    def complexes(self, stage: int) -> tuple[Complex, ...]:
        return tuple(c for c in self.plan.complexes if self.engine(c.engine) == stage)

    def readers(self, stream: str, stage: int) -> tuple[Query | Event, ...]:
        """Queries and events of this stage that read a stream, in definition order."""
        return tuple(
            operator
            for operator in self.plan.operators
            if isinstance(operator, Query | Event)
            and operator.source == stream
            and self.operator(operator) == stage
        )

    def signals(self, found: Complex) -> tuple[Signal, ...]:
        return tuple(s for s in self.plan.signals if s.complex == found.name)

    def crosses(self, stream: str) -> bool:
        """Whether rows of a stream made in stage 1 are needed in stage 2."""
        if self.readers(stream, CROSSING):
            return True
        return any(c.complex == stream for c in self.chained(CROSSING))
