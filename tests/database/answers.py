"""The same question to every engine: the naive reference, ours, and databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from cep.database import purging
from cep.jepc import NativeProvider
from cep.jepc.catalog import Catalog
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event, Provider
from cep.jepc.queries import Input, Query
from cep.plan.nodes import Plan
from tests.database.servers import url_for
from tests.jepc.generated import SCHEMAS
from tests.reference.jepc import Naive, Tests

Told = list[tuple[int, dict[str, Any]]]
"""Results of a query: time, values."""

TOO_FINE = "is_too_fine_or_large_to_sum_up"
"""What a database says of a batch with values that it cannot sum exactly, and does not take it."""


def event(stream: str, time_msc: int, *values: Any) -> Event:
    return Event(stream, time_msc, values)


def plan_of(queries: Mapping[str, Query]) -> Plan:
    """The plan of queries by name."""
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    for name, query in queries.items():
        catalog.create(name, query)
    return catalog.plan()


def naive(query: Input, events: Sequence[Event], tests: Tests) -> Told:
    """What the definition says."""
    reference = Naive(query, tests)
    return [
        (found.time, found.values)
        for one in events
        for found in reference.push(
            one.stream, one.time_msc, dict(zip(SCHEMAS[one.stream], one.values, strict=True))
        )
    ]


def native(queries: Mapping[str, Query], events: Sequence[Event]) -> dict[str, Told]:
    """What our engine says, by query."""
    provider = NativeProvider(jit=False)
    provider.change(plan_of(queries), list(queries))
    return pushed(provider, queries, events, 1_000)


def pushed(
    provider: Provider, queries: Mapping[str, Query], events: Sequence[Event], size: int
) -> dict[str, Told]:
    """The results of queries that are set, events pushed `size` at a time."""
    found: dict[str, Told] = {name: [] for name in queries}
    for start in range(0, len(events), size):
        for one in provider.push(events[start : start + size]):
            found[one.query].append((one.time_msc, dict(one.values)))
    return found


class Asked:
    """A database for many questions, one after the other; it is empty for each."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.provider = DatabaseProvider(url, prefix="asked_")

    def refusals(self, queries: Mapping[str, Query]) -> set[str]:
        """Why it does not run queries."""
        return set(self.provider.refusals(plan_of(queries)).values())

    def begin(self, queries: Mapping[str, Query]) -> None:
        """Empty the database and set queries."""
        self.provider._runner.clear()
        self.provider.change(plan_of(queries), list(queries))

    def tell(
        self, queries: Mapping[str, Query], events: Sequence[Event], size: int
    ) -> dict[str, Told]:
        """The results of events, pushed `size` at a time."""
        self.begin(queries)
        return pushed(self.provider, queries, events, size)

    def close(self) -> None:
        self.provider._runner.clear()
        self.provider.close()


def asked_in_turn(request: pytest.FixtureRequest) -> Iterator[Asked]:
    """The database of a fixture's parameter; rows go as soon as they may."""
    database = Asked(request.param, url_for(request))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(purging, "PURGE_ROWS", 1)
        patch.setattr(purging, "MOMENT_ROWS", 1)
        patch.setattr(purging, "LOOK_EVENTS", 1)
        yield database
    database.close()


def in_any_order(results: Told) -> list[tuple[int, str]]:
    """Results by time; those of one time in any order."""
    return sorted((time, repr(sorted(values.items()))) for time, values in results)
