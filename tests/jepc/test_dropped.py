"""What was dropped is told by every provider, and events that come late are refused by each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cep.database.batches import Arrivals
from cep.database.errors import EventError
from cep.dropped import Dropped, Reason
from cep.jepc import (
    Aggregator,
    EventProcessor,
    Federation,
    Filter,
    NativeProvider,
    PatternMatcher,
    PatternSymbol,
    Provider,
    QueryError,
    Stream,
    TimeWindow,
    count,
)
from cep.jepc.catalog import Catalog
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event
from cep.jepc.queries import Query

WAYS_MAX = 10_000
BOTH = {"query again": {"bound": 3}, "query rise": {"bound": 3}}
LATE = "event 1 of time 11 ms comes after one of 12 ms; push events in the order of their times"
PROVIDERS: dict[str, Callable[[], Provider]] = {
    "native": lambda: NativeProvider(jit=False),
    "sqlite": lambda: DatabaseProvider("sqlite://"),
    "federation": lambda: Federation(
        {"own": NativeProvider(jit=False), "database": DatabaseProvider("sqlite://")}
    ),
    "federation of two that feed each other": lambda: Federation(
        {"own": NativeProvider(jit=False), "database": DatabaseProvider("sqlite://")},
        {"all": "own", "few": "database"},
    ),
}


def rises(within_ms: int = 9) -> PatternMatcher:
    symbols = {"up": PatternSymbol("a > 0"), "top": PatternSymbol("a > 1")}
    return PatternMatcher(Stream("s"), "up top", within_ms, symbols)


def started(provider: Provider, **queries: Query) -> EventProcessor:
    processor = EventProcessor(provider)
    processor.register_stream("s", {"a": "long"})
    for name, query in queries.items():
        processor.create_query(name, query)
        processor.add_output_processor(name, lambda result: None)
    return processor


def too_many(more: int, time_msc: int) -> list[tuple[str, tuple[int], int]]:
    """Events of one instant, each of which begins a way: so many more than are followed."""
    return [("s", (1,), time_msc)] * (WAYS_MAX + more)


def test_ways_that_are_not_followed_are_counted_by_query() -> None:
    with started(NativeProvider(jit=False), rise=rises(), again=rises()) as processor:
        assert not processor.dropped
        processor.push_events(too_many(3, 10))
        assert processor.dropped.by_name() == BOTH
        processor.remove_query("again")
        processor.push_event("s", (1,), 10)
        assert processor.dropped.by_name() == {"query rise": {"bound": 4}}
    assert processor.dropped.by_name() == {"query rise": {"bound": 4}}, "closed, too"


def test_what_an_inner_part_drops_is_the_query_s() -> None:
    counted = Aggregator(rises().window(TimeWindow(5)), {"n": count()})
    provider = NativeProvider(jit=False)
    with started(provider, counted=counted) as processor:
        processor.push_events(too_many(1, 10))
        assert [part for part, _, _ in provider.dropped] == [("query", "counted.1")]
        assert processor.dropped == Dropped([(("query", "counted"), Reason.BOUND, 1)])


def test_a_federation_counts_for_all_of_its_providers() -> None:
    one, other = NativeProvider(jit=False), NativeProvider(jit=False)
    federation = Federation({"one": one, "other": other}, {"rise": "one", "again": "other"})
    with started(federation, rise=rises(), again=rises()) as processor:
        processor.push_events(too_many(3, 10))
        assert processor.dropped.by_name() == BOTH
        assert one.dropped.by_name() == {"query rise": {"bound": 3}}
        assert other.dropped.by_name() == {"query again": {"bound": 3}}


def test_a_provider_has_to_tell_what_it_drops() -> None:
    class Silent:
        refusals = change = push = push_batches = close = print

    with pytest.raises(QueryError, match="provider: Silent is none"):
        EventProcessor(Silent())  # type: ignore[arg-type]


def provided(provider: Provider) -> Provider:
    catalog = Catalog()
    catalog.register("s", {"a": "long"})
    catalog.create("all", Filter(Stream("s"), "a > 0"))
    catalog.create("few", Filter(Stream("all"), "a > 3"))
    provider.change(catalog.plan(), ["all", "few"])
    return provider


def expect_refused(provider: Provider) -> None:
    """Nothing of what was pushed with one is taken; what comes in order goes on."""
    assert len(provider.push([Event("s", 10, (1,))])) == 1
    with pytest.raises(EventError, match=LATE):
        provider.push([Event("s", 12, (2,)), Event("s", 11, (3,))])
    with pytest.raises(EventError, match="event 0 of time 9 ms comes after one of 10 ms"):
        provider.push([Event("s", 9, (3,))])
    with pytest.raises(EventError, match="event 0 of time 9 ms comes after one of 10 ms"):
        list(provider.push_batches([Event("s", 9, (3,))]))
    assert sorted(one.query for one in provider.push([Event("s", 10, (4,))])) == ["all", "few"]
    assert not provider.dropped, "refused, not dropped"
    provider.close()


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_expect_refused(name: str) -> None:
    expect_refused(provided(PROVIDERS[name]()))


@pytest.mark.parametrize("name", ["native", "sqlite"])
def test_each_refuses_late_columns(name: str) -> None:
    provider: Any = provided(PROVIDERS[name]())

    def pushed(*times: int) -> int:
        places, values = np.arange(len(times)), (np.arange(1, len(times) + 1),)
        made = provider.push_columns([Arrivals("s", places, np.array(times), values)])
        return sum(len(one) for batch in made for one in batch)

    assert pushed(10) == 1
    with pytest.raises(EventError, match=LATE):
        pushed(12, 11)
    with pytest.raises(EventError, match="event 0 of time 9 ms comes after one of 10 ms"):
        pushed(9)
    assert pushed(10, 11) == 2
    provider.close()


@pytest.mark.parametrize("is_federation", [False, True])
def test_one_that_was_closed_begins_anew(is_federation: bool) -> None:
    native = NativeProvider(jit=False)
    provider = Federation({"own": native}) if is_federation else native
    for time_msc in (10, 5):
        assert len(provided(provider).push([Event("s", time_msc, (1,))])) == 1
        provider.close()
