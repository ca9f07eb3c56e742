"""A plan of queries at work, in two fragments: a module, which writes queries of one shape as one
(`cep.plan.families`), and behind it a program for what no module can run.

Queries come and go, and those that stay keep their windows. So a query's fragment follows from the
query itself and what it reads, not from who reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cep.database.order import arrivals
from cep.dropped import Dropped
from cep.engine.change import changed, compiled_for
from cep.engine.columns import Column
from cep.engine.coverage import why_not_generated
from cep.engine.divided import Divided, divided
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import Ints
from cep.engine.native import Compiled, Run
from cep.engine.results import Result, Results
from cep.plan.nodes import Plan


@dataclass(frozen=True, slots=True)
class Encoded:
    """Events of one stream as rows of both fragments, where there are two."""

    stream: str
    front: InputRows
    rest: InputRows | None = None

    def part(self, start: int, stop: int) -> Encoded:
        """Some of them."""
        rest = None if self.rest is None else self.rest.part(start, stop)
        return Encoded(self.stream, self.front.part(start, stop), rest)


class Running:
    """The fragments of a plan; `front` is a module, `rest` is None where there is nothing else."""

    def __init__(self, plan: Plan, outputs: Collection[str], *, jit: bool) -> None:
        self._jit = jit
        self._note(plan, outputs)
        rules = Compiled(self._plans.front, outputs=self._front_outputs, jit=jit, wide=True)
        self.front = rules.start(mode="sorted")
        self.rest = self._rest(None)

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Go on with another plan: queries that are as they were keep their windows."""
        self._note(plan, outputs)
        following = compiled_for(self.front, self._plans.front, outputs=self._front_outputs)
        self.front, _ = changed(self.front, following)
        self.rest = self._rest(self.rest)

    def _note(self, plan: Plan, outputs: Collection[str]) -> None:
        self._plans: Divided = divided(plan, why_not_generated(plan), "the module")
        self._outputs = frozenset(outputs)
        self._front_outputs = (self._outputs & self._plans.front.made) | self._plans.passed
        self._fed = self._plans.feeding()
        self._ranks = arrivals(plan).streams if self._plans.why else {}

    def _rest(self, before: Run | None) -> Run | None:
        """The run of what no module can run, which goes on from the one before."""
        rest = self._plans.rest
        if not rest.operators:
            return None
        outputs = self._outputs & rest.made
        if before is None:
            rules = Compiled(rest, outputs=outputs, jit=self._jit, waits=False, machine="always")
            return rules.start(mode="sorted")
        return changed(before, compiled_for(before, rest, outputs=outputs))[0]

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by operator and reason."""
        return self.front.dropped + (Dropped() if self.rest is None else self.rest.dropped)

    def encoded(
        self, stream: str, values: Sequence[Column], times: Column, places: Ints
    ) -> Encoded:
        """Events of a stream; `places` are those among all that are pushed at once.

        InputError when a value does not fit.
        """
        orders = places + self.front.next_order
        names = self.front.encoder.source(stream).schema.names
        columns = dict(zip(names, values, strict=True))
        front = self.front.encoder.encode(stream, columns, times, orders)
        if self.rest is None:
            return Encoded(stream, front)
        return Encoded(stream, front, self.rest.encoder.encode(stream, columns, times, orders))

    def feed(self, events: Sequence[Encoded]) -> list[Results]:
        """Feed events of some streams, each once."""
        rows = self.front.feed(InputRows.merge([one.front for one in events]))
        if self.rest is None:
            return [Results(rows)]
        made = Results(rows)
        return [Results(rows, self._outputs), Results(self.rest.feed(self._behind(events, made)))]

    def feed_in_parts(self, events: Sequence[Encoded]) -> Iterator[list[Results]]:
        """The same; results come a fair amount at a time."""
        if self.rest is not None:
            yield self.feed(events)
            return
        for rows in self.front.feed_in_parts(InputRows.merge([one.front for one in events])):
            yield [Results(rows)]

    def _behind(self, events: Sequence[Encoded], made: Results) -> InputRows:
        """The events as the rest gets them, with what the front has made of each."""
        assert self.rest is not None
        rows = {one.stream: one.rest for one in events if one.rest is not None}
        for column in made.columns():
            if column.stream in self._plans.passed:
                names = self.rest.encoder.source(column.stream).schema.names
                values: Mapping[str, Column] = dict(zip(names, made.decoded(column), strict=True))
                encode = self.rest.encoder.encode
                rows[column.stream] = encode(column.stream, values, column.times, column.orders)
        fed = sorted(rows, key=lambda stream: self._fed.get(stream, -1))
        return InputRows.merge([rows[stream] for stream in fed])

    def in_order(self, parts: Sequence[Results]) -> list[Result]:
        """The results of one batch, by the event that caused them and the order of the queries."""
        if len(parts) == 1:
            return parts[0].in_order()
        placed = [
            (order, self._ranks[result[0]], result)
            for part in parts
            for order, result in part.placed()
        ]
        return [result for _, _, result in sorted(placed, key=lambda one: one[:2])]
