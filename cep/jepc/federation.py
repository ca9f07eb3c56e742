"""Several providers as one: each runs the queries given to it, and feeds the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cep.dropped import Dropped
from cep.jepc.errors import QueryError, is_a
from cep.jepc.provider import Event, Provider, Result, newest_after
from cep.plan.keys import fed_from_outside
from cep.plan.nodes import Plan
from cep.plan.query import Query

Choose = Callable[[Query], str]
"""Which provider a query goes to, by name."""


class Federation:
    """A provider made of providers, by name.

    `route` names the provider of each query of the user's; those of other queries go to `default`,
    or to the first provider that does not refuse them. What one provider makes and another reads
    is fed to it, event by event, so that the results are those of one engine.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider],
        route: Mapping[str, str] | None = None,
        default: str | None = None,
    ) -> None:
        """QueryError for no dictionary, and for a route to a provider that is not there."""
        if not is_a(providers, Mapping):
            kind = type(providers).__name__
            raise QueryError(f"providers of type {kind}; give a dictionary of providers by name")
        self._providers = dict(providers)
        self._route = dict(route or {})
        self._default = default
        for name in {*self._route.values(), *([default] if default else [])}:
            if name not in self._providers:
                known = ", ".join(self._providers)
                raise QueryError(f"there is no provider {name!r}; known: {known}")
        self._parts: dict[str, _Part] = {}
        self._outputs: frozenset[str] = frozenset()
        self._feed_each_other = False
        self._newest_msc = 0

    @property
    def dropped(self) -> Dropped:
        """What all providers have dropped so far."""
        return sum((one.dropped for one in self._providers.values()), Dropped())

    def refusals(self, plan: Plan) -> dict[str, str]:
        """What the provider of a query, or with no route every provider, refuses."""
        return self._assigned(plan)[1]

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Give every provider its part of the plan."""
        assigned, _ = self._assigned(plan)
        self._outputs = frozenset(outputs)
        self._parts = {name: _part(plan, assigned, name) for name in self._providers}
        read = {stream for part in self._parts.values() for stream in part.reads}
        self._feed_each_other = any(part.makes & read for part in self._parts.values())
        for name, part in self._parts.items():
            wanted = part.makes & (self._outputs | read)
            self._providers[name].change(part.plan, wanted)

    def push(self, events: Sequence[Event]) -> list[Result]:
        """Push the events one by one where providers feed each other, else together.

        EventError, and no provider has taken anything, when one is late.
        """
        self._newest_msc = newest_after(events, self._newest_msc)
        if not self._feed_each_other:
            return self._together(events)
        return [result for event in events for result in self._through(event)]

    def push_batches(self, events: Sequence[Event]) -> Iterator[list[Result]]:
        """All events are one batch; of what a provider refuses, others may have taken a part."""
        return iter([self.push(events)])

    def close(self) -> None:
        self._newest_msc = 0
        for provider in self._providers.values():
            provider.close()

    def _together(self, events: Sequence[Event]) -> list[Result]:
        """One provider after the other; results in the order of time."""
        results: list[Result] = []
        for name, part in self._parts.items():
            taken = [event for event in events if event.stream in part.reads]
            results += self._providers[name].push(taken) if taken else []
        return sorted(results, key=lambda result: result.time_msc)

    def _through(self, event: Event) -> list[Result]:
        """An event through all providers, and what it makes through those that read it."""
        results: list[Result] = []
        waiting = [event]
        while waiting:
            current = waiting.pop(0)
            for name, part in self._parts.items():
                if current.stream in part.reads:
                    made = self._providers[name].push([current])
                    results += [result for result in made if result.query in self._outputs]
                    waiting += [_as_event(result) for result in made]
        return results

    def _assigned(self, plan: Plan) -> tuple[dict[str, str], dict[str, str]]:
        """The provider of each operator, and what is refused."""
        assigned: dict[str, str] = {}
        refused: dict[str, str] = {}
        refusals = {name: one.refusals(plan) for name, one in self._providers.items()}
        for operator in plan.operators:
            whole = operator.name.partition(".")[0]
            wanted = self._route.get(whole, self._default)
            names = [wanted] if wanted else list(self._providers)
            able = [name for name in names if operator.name not in refusals[name]]
            if able:
                assigned[operator.name] = able[0]
            else:
                refused[operator.name] = refusals[names[0]][operator.name]
        return assigned, refused


@dataclass(frozen=True, slots=True)
class _Part:
    """One provider's plan, the streams it reads from outside and those it makes."""

    plan: Plan
    reads: frozenset[str]
    makes: frozenset[str]


def _part(plan: Plan, assigned: Mapping[str, str], provider: str) -> _Part:
    """The operators of one provider; what others make for them comes in as a source."""
    own = tuple(one for one in plan.operators if assigned.get(one.name) == provider)
    queries = [one for one in own if isinstance(one, Query)]
    makes = frozenset(query.target for query in queries if query.target)
    reads = frozenset(one.stream for query in queries for one in query.inputs) - makes
    streams = tuple(s for s in fed_from_outside(plan, reads) if s.name in reads | makes)
    return _Part(replace(plan, streams=streams, operators=own), reads, makes)


def _as_event(result: Result) -> Event:
    return Event(result.query, result.time_msc, tuple(result.values.values()))
