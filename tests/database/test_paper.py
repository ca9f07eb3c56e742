"""The article's own queries: every provider has the results of our engine."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.jepc_engines import DATABASES
from benchmarks.naive_sql import NaiveSql
from benchmarks.paper import KINDS, MIXED, Load
from cep.jepc import Event, NativeProvider, Provider, Result
from cep.jepc.database import DatabaseProvider

QUERIES, EVENTS, VALUES = 8, 1_200, 16
"""Few values, so that patterns match; more events than the longest window has."""


def events(load: Load) -> list[Event]:
    """The load's events in order."""
    placed = [
        (place, Event(one.stream, time, row))
        for one in load.events(0, EVENTS)
        for place, time, row in zip(
            one.places.tolist(),
            one.times.tolist(),
            zip(*(np.asarray(column).tolist() for column in one.columns), strict=True),
            strict=True,
        )
    ]
    return [event for _, event in sorted(placed, key=lambda entry: entry[0])]


def results(provider: Provider, load: Load) -> dict[str, list[Result]]:
    """What each query has found."""
    found: dict[str, list[Result]] = {rule.name: [] for rule in load.rules}
    try:
        provider.change(load.catalog().plan(), list(found))
        for result in provider.push(events(load)):
            found[result.query].append(result)
    finally:
        provider.close()
    return found


@pytest.mark.parametrize("kind", [*KINDS, MIXED])
def test_databases_and_our_engine_agree(kind: str, url: str) -> None:
    load = Load(kind, QUERIES, VALUES)
    expected = results(NativeProvider(jit=False), load)
    assert sum(map(len, expected.values())) > 10
    assert results(DatabaseProvider(url, batch_events=300), load) == expected


@pytest.mark.parametrize("kind", [*KINDS, MIXED])
def test_naive_sql_has_as_many_results(kind: str) -> None:
    load = Load(kind, QUERIES, VALUES)
    naive = NaiveSql("sqlite://", load)
    found = naive.push(load.events(0, EVENTS))
    naive.close()
    assert found == sum(map(len, results(NativeProvider(jit=False), load).values()))


def test_a_filled_window_is_as_if_the_events_had_come() -> None:
    load = Load("correlation", QUERIES, VALUES)
    pushed, filled = NaiveSql("sqlite://", load), NaiveSql("sqlite://", load)
    pushed.push(load.events(0, EVENTS))
    filled.fill(load.events(0, EVENTS))
    more = load.events(EVENTS, 10)
    assert pushed.push(more) == filled.push(more) > 0


@pytest.mark.parametrize("name", DATABASES)
def test_naive_sql_runs_on_every_database(name: str, urls: dict[str, str]) -> None:
    load = Load(MIXED, 4, VALUES)
    naive = NaiveSql(urls[name], load)
    try:
        assert naive.push(load.events(0, 20)) > 0
    finally:
        naive.close()
