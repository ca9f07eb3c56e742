"""The most that one input row of a stage can cause: kernels write without looking, so it must hold.

Rows multiply on their way: two queries may write one stream, which two others read. What one row
can lead to on every stream is counted along the plan, which has no loops.
"""

from __future__ import annotations

from dataclasses import dataclass

from cep.engine.linear import linear
from cep.engine.matchable import steps_of
from cep.engine.stages import KEYED, Stages
from cep.engine.tables import Tables, entry_name
from cep.plan.nodes import Chained, Event, Origin, Plan
from cep.plan.query import Join, Match, Matching, Query


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds per input row; each times (number of keys) ** `spread`."""

    rows: int
    lists: int
    binds: int
    arrivals: int
    keys: int
    spread: int


class Flow:
    """Counts rows and arrivals of a stage per input row.

    `longest`: at most so many partial matches wait at any state of a match; `held`: at most so many
    rows are in a window of a join.
    """

    def __init__(
        self, stages: Stages, stage: int, tables: Tables, longest: int, held: int = 0
    ) -> None:
        self.longest = longest
        self.held = held
        self.stages = stages
        self.stage = stage
        self.plan: Plan = stages.plan
        self.tables = tables
        self.entries: list[Event | Chained] = [*stages.events(stage), *stages.chained(stage)]
        self._rows: dict[str, int] = {}

    def rows(self, stream: str) -> int:
        """Most rows on a stream."""
        if stream not in self._rows:
            self._rows[stream] = self._from_outside(stream) + self._made(stream)
        return self._rows[stream]

    def _from_outside(self, stream: str) -> int:
        if self.plan.stream(stream).origin is Origin.SOURCE:
            return 1
        return int(self.stage != KEYED)

    def _made(self, stream: str) -> int:
        """Rows that operators of the stage put on a stream."""
        plan = self.plan
        match plan.stream(stream).origin:
            case Origin.SOURCE | Origin.QUERY | Origin.INNER | Origin.SIGNAL:
                writers = [q for q in plan.queries if q.target == stream]
                return sum(self.emitted(q) for q in writers if self._is_here(q.name))
            case Origin.EVENT:
                events = [e for e in plan.events if e.name == stream]
                return sum(self.arrivals(e) for e in events if e in self.entries)
            case Origin.COMPLEX:
                return sum(
                    self.arrivals(entry)
                    for entry in self.entries
                    if stream in dict(self.tables.ends.get(entry_name(entry), ()))
                )
            case _:
                return 0

    def emitted(self, query: Query) -> int:
        """Most rows a query puts out.

        A match completes all that waits, and what begins now; a row of a join meets all that the
        other side holds, or none; a row of a matching is each symbol for all partial matches, which
        lie in two rings.
        """
        if isinstance(query.input, Join):
            return sum(self.rows(one.stream) for one in query.inputs) * max(1, self.held)
        if isinstance(query.input, Matching):
            found = steps_of(query.input.regex)
            most = max(map(len, found.by_state)) if found is not None else 0
            return self.rows(query.inputs[0].stream) * most * (2 * self.longest + 1)
        if not isinstance(query.input, Match):
            return self.rows(query.source)
        chain = linear(query.input)
        rows = sum(self.rows(stream) for stream in chain.streams)
        waiting = (len(chain.states) - 1) * self.longest if chain.waits_many else 0
        return rows + waiting

    def _is_here(self, name: str) -> bool:
        return any(
            self.stages.operator(operator) == self.stage
            for operator in self.plan.operators
            if operator.name == name
        )

    def arrivals(self, entry: Event | Chained) -> int:
        """Most arrivals of one definition at its queue."""
        if isinstance(entry, Chained):
            return self.rows(entry.complex)
        here = self.stages.operator(entry) == self.stage
        return self.rows(entry.source) if here else 1

    def bounds(self) -> Bounds:
        """Everything one input row can write."""
        watched = [e for e in self.plan.events if self.stages.operator(e) == self.stage]
        queries = [q for q in self.plan.queries if self.stages.operator(q) == self.stage]
        raises = sum(self.rows(event.source) for event in watched)
        rows = raises + sum(self.emitted(query) for query in queries)
        lists = binds = arrivals = 0
        for entry in self.entries:
            times = self.arrivals(entry)
            ends = self.tables.ends.get(entry_name(entry), ())
            arrivals += times
            rows += times * (1 + sum(1 + self._handed(rule) for rule, _ in ends))
            binds += times * sum(self.tables.lengths[rule] for rule, _ in ends)
        turns = self.stages.turns() if self.stage == KEYED else ()
        rows += sum(self.rows(turn.stream) for turn in turns)
        lists = 2 * binds
        return Bounds(rows + 1, lists, binds, arrivals, raises, self._spread())

    def _handed(self, rule: str) -> int:
        return self.tables.handed.get(rule, 0)

    def _spread(self) -> int:
        """In how many engines one arrival can complete a complex event for every key."""
        return len(
            {
                entry.engine
                for entry in self.entries
                for _, spread in self.tables.ends.get(entry_name(entry), ())
                if spread
            }
        )
