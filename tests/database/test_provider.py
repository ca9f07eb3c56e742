"""A database behind the interface, alone and beside our engine."""

from __future__ import annotations

from typing import Any

import pytest

from cep.jepc import (
    Aggregator,
    EventProcessor,
    Federation,
    Filter,
    NativeProvider,
    QueryError,
    Stream,
    TimeWindow,
    count,
)
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Provider, Result
from tests.database.runs import catalog, events, refuse_odd
from tests.jepc.test_dropped import expect_refused, provided, rises, started, too_many


@pytest.fixture(autouse=True)
def _odd_queries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_odd(monkeypatch)


def _both(provider: Provider) -> list[Result]:
    """A query for the database that feeds one that a database refuses, and the reverse."""
    found: list[Result] = []
    with EventProcessor(provider) as processor:
        processor.register_stream("s", {"a": "int", "k": "string"})
        processor.register_stream("t", {"f": "float"})
        processor.create_query("high", Filter(Stream("s"), "a > 1"))
        processor.create_query("odd", Filter(Stream("t"), "f > 1.0"))
        counted = Aggregator(Stream("high").window(TimeWindow(9)), {"n": count()})
        processor.create_query("counted", counted)
        for name in ("high", "odd", "counted"):
            processor.add_output_processor(name, found.append)
        for event in events(40):
            processor.push_event("s", event.values, event.time_msc)
            processor.push_event("t", (event.values[0] / 2,), event.time_msc)
    return found


def test_a_federation_takes_what_the_database_refuses(url: str) -> None:
    native = NativeProvider(jit=False)
    providers: dict[str, Any] = {"database": DatabaseProvider(url), "native": native}
    assert _both(Federation(providers)) == _both(NativeProvider(jit=False))
    routed = {"database": DatabaseProvider("sqlite://"), "native": NativeProvider(jit=False)}
    assert _both(Federation(routed, {"counted": "native"})) == _both(NativeProvider(jit=False))


def test_what_is_refused_is_told_by_name() -> None:
    with EventProcessor(DatabaseProvider("sqlite://")) as processor:
        processor.register_stream("t", {"f": "float"})
        with pytest.raises(QueryError, match=r"odd cannot run here: odd: never: it is odd"):
            processor.create_query("odd", Filter(Stream("t"), "f > 1.0"))


def test_results_come_as_values_of_their_types(url: str) -> None:
    with EventProcessor(DatabaseProvider(url)) as processor:
        found: list[Result] = []
        schema = {"b": "bool", "d": "double", "l": "long", "i": "int", "s": "string"}
        processor.register_stream("t", schema)
        processor.create_query("q", Filter(Stream("t"), "not (d > 100.0)"))
        processor.add_output_processor("q", found.append)
        rows: list[tuple[Any, ...]] = [
            (True, 1.0, 2**62, -5, "a"),
            (None, None, None, None, None),
            (False, float("nan"), -(2**62), 2**31 - 1, "ä"),
        ]
        processor.push_events([("t", row, 5) for row in rows])
    values = [tuple(result.values.values()) for result in found]
    assert values == [rows[0], rows[1], (False, None, -(2**62), 2**31 - 1, "ä")]
    assert [type(one) for one in values[0]] == [bool, float, int, int, str]


def test_how_each_query_runs_is_told() -> None:
    provider = DatabaseProvider("sqlite://")
    provider.change(catalog().plan(), ["three", "four", "counted"])
    assert "three, four: scan of new rows, against a table of 2 queries" in provider.explain()
    assert "kept of high: 10 ms" in provider.explain()
    assert provider.taken == 0
    provider.close()


def test_late_events_are_refused_and_nothing_is_dropped(url: str) -> None:
    expect_refused(provided(DatabaseProvider(url)))


def test_what_a_federation_with_a_database_drops_is_our_engine_s(url: str) -> None:
    native = NativeProvider(jit=False)
    providers: dict[str, Provider] = {"native": native, "database": DatabaseProvider(url)}
    federation = Federation(providers, {"all": "database"})
    with started(federation, rise=rises(), all=Filter(Stream("s"), "a > 2")) as processor:
        processor.push_events(too_many(1, 10))
        assert processor.dropped.by_name() == {"query rise": {"bound": 1}}
        assert processor.dropped == native.dropped
