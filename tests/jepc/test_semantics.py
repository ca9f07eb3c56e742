"""The contract of the interface: generated queries and streams, against the naive reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.jepc import EventProcessor, NativeProvider
from cep.jepc.queries import Input
from cep.plan.nodes import Plan
from tests.campaign import examples
from tests.jepc.generated import EVENTS, KEY, NUMBER, SCHEMAS, TESTS, networks
from tests.reference.jepc import Naive

Raw = list[tuple[str, int, int, str]]
Events = list[tuple[str, dict[str, Any], int]]
START_MSC = 100_000_000_000


def events_of(raw: Raw) -> Events:
    """Events with their times, a gap after every seventh."""
    time, made = START_MSC, []
    for number, (stream, step, value, key) in enumerate(raw):
        time += step + (9 if number % 7 == 6 else 0)
        made.append((stream, {NUMBER[stream]: value, KEY[stream]: key}, time))
    return made


def expected(query: Input, events: Events) -> list[tuple[int, dict[str, Any]]]:
    naive = Naive(query, TESTS)
    return [
        (result.time, result.values)
        for stream, values, time in events
        for result in naive.push(stream, time, values)
    ]


def processed(query: Any, events: Events, sizes: list[int]) -> list[tuple[int, dict[str, Any]]]:
    """What the native provider makes of the events, pushed in batches of these sizes."""
    found: list[tuple[int, dict[str, Any]]] = []
    with EventProcessor(NativeProvider(jit=False)) as processor:
        for stream, schema in SCHEMAS.items():
            processor.register_stream(stream, schema)
        processor.create_query("q", query)
        processor.add_output_processor("q", lambda one: found.append((one.time_msc, one.values)))
        rest = list(events)
        while rest:
            size = sizes[len(rest) % len(sizes)]
            processor.push_events(rest[:size])
            rest = rest[size:]
    return found


def at_times(results: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, str]]:
    """The results in the order of time; those of one time in any order."""
    return sorted((time, repr(sorted(values.items()))) for time, values in results)


def nothing(plan: Plan) -> dict[str, str]:
    """Why no module runs any query."""
    return {query.name: "a test does not let it" for query in plan.queries}


@pytest.fixture(params=["module", "program"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """What runs the queries."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "program":
            patch.setattr("cep.jepc.running.why_not_generated", nothing)
        yield request.param


@pytest.mark.usefixtures("way")
@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(networks(), EVENTS, st.lists(st.integers(1, 8), min_size=1, max_size=3))
def test_generated(query: Input, raw: Raw, sizes: list[int]) -> None:
    """Also as one program."""
    events = events_of(raw)
    found = processed(query, events, sizes)
    assert at_times(found) == at_times(expected(query, events))
    assert [time for time, _ in found] == sorted(time for time, _ in found)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("size", [1, 1_000])
def test_batches_are_invisible(size: int) -> None:
    raw: Raw = [("sr"[(i % 3 == 2 and 1) or 0], i % 2, i * 7 % 6, "xy"[i % 2]) for i in range(60)]
    from cep.jepc.queries import Correlator, Stream, TimeWindow

    query = Correlator(
        [Stream("s").window(TimeWindow(3)), Stream("r").window(TimeWindow(5))], "a == b"
    )
    events = events_of(raw)
    assert processed(query, events, [size]) == processed(query, events, [7])
