"""A federation gives the results of one engine, however its queries are routed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.jepc import (
    Aggregator,
    Correlator,
    EventProcessor,
    Federation,
    Filter,
    NativeProvider,
    Provider,
    QueryError,
    Stream,
    TimeWindow,
    count,
)
from tests.campaign import examples
from tests.jepc.generated import EVENTS, SCHEMAS
from tests.jepc.test_semantics import Raw, events_of

QUERIES = {
    "big": Filter(Stream("s"), "a > 2"),
    "pairs": Correlator(
        [Stream("big").window(TimeWindow(3)), Stream("r").window(TimeWindow(4))], "a == b"
    ),
    "busy": Aggregator(Stream("pairs").window(TimeWindow(5)), {"n": count()}),
}


def processed(provider: Provider, raw: Raw) -> list[tuple[str, int, dict[str, Any]]]:
    found: list[tuple[str, int, dict[str, Any]]] = []
    with EventProcessor(provider) as processor:
        for stream, schema in SCHEMAS.items():
            processor.register_stream(stream, schema)
        for name, query in QUERIES.items():
            processor.create_query(name, query)
            processor.add_output_processor(
                name, lambda one: found.append((one.query, one.time_msc, one.values))
            )
        processor.push_events(events_of(raw))
    return found


@settings(max_examples=examples(40), deadline=None)
@given(EVENTS, st.lists(st.sampled_from(["left", "right"]), min_size=3, max_size=3))
def test_routes_are_invisible(raw: Raw, names: list[str]) -> None:
    providers = {name: NativeProvider(jit=False) for name in ("left", "right")}
    federation = Federation(providers, dict(zip(QUERIES, names, strict=True)))
    alone = processed(NativeProvider(jit=False), raw)
    for query in QUERIES:
        results = [one for one in processed(federation, raw) if one[0] == query]
        assert results == [one for one in alone if one[0] == query]


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(QueryError, match="no provider 'nativ'; known: native"):
        Federation({"native": NativeProvider()}, {"q": "nativ"})


class Choosy(NativeProvider):
    """Refuses correlations."""

    def refusals(self, plan: Any) -> dict[str, str]:
        return {query.name: "no joins" for query in plan.queries if len(query.inputs) > 1}


def test_what_one_refuses_goes_to_the_next() -> None:
    raw: Raw = [("s", 0, 3, "x"), ("r", 1, 3, "x"), ("s", 1, 4, "x"), ("r", 0, 4, "y")]
    federation = Federation({"choosy": Choosy(jit=False), "any": NativeProvider(jit=False)})
    assert sorted(map(str, processed(federation, raw))) == sorted(
        map(str, processed(NativeProvider(jit=False), raw))
    )


def test_what_the_routed_one_refuses_is_refused() -> None:
    federation = Federation({"choosy": Choosy(jit=False)}, default="choosy")
    with EventProcessor(federation) as processor:
        for stream, schema in SCHEMAS.items():
            processor.register_stream(stream, schema)
        query = Correlator([Stream("s").window(TimeWindow(3)), Stream("r").window(TimeWindow(4))])
        with pytest.raises(QueryError, match="pairs cannot run here: pairs: no joins"):
            processor.create_query("pairs", query)
        processor.create_query("pairs", Filter(Stream("s"), "a > 2"))  # the name is free
