"""`EventProcessor`: closed for good, and the times of events."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cep.jepc import (
    Aggregator,
    Correlator,
    CountWindow,
    EventError,
    EventProcessor,
    Federation,
    Filter,
    NativeProvider,
    PatternMatcher,
    Projector,
    Provider,
    QueryError,
    Stream,
    TimeWindow,
    count,
    parse_sql,
)
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Result

URL = "sqlite://"


def opened(heard: list[Any]) -> EventProcessor:
    processor = EventProcessor(NativeProvider(jit=False))
    processor.register_stream("Tick", {"symbol": "string", "bid": "double"})
    processor.create_query("Q", parse_sql("SELECT symbol, bid FROM Tick WHERE bid > 0.0").query)
    processor.add_output_processor("Q", heard.append)
    return processor


USES: dict[str, Callable[[EventProcessor], object]] = {
    "push_event": lambda one: one.push_event("Tick", ("A", 1.0), 2_000),
    "push_events": lambda one: one.push_events([]),
    "register_stream": lambda one: one.register_stream("S", {"a": "int"}),
    "remove_stream": lambda one: one.remove_stream("Tick"),
    "create_query": lambda one: one.create_query("R", parse_sql("SELECT bid FROM Tick").query),
    "remove_query": lambda one: one.remove_query("Q"),
    "add_output_processor": lambda one: one.add_output_processor("Q", print),
    "remove_output_processor": lambda one: one.remove_output_processor(print),
    "with": lambda one: one.__enter__(),
}


def test_a_closed_processor_refuses_everything_but_to_be_closed_again() -> None:
    heard: list[Any] = []
    with opened(heard) as processor:
        processor.push_event("Tick", ("A", 1.0), 1_000)
    processor.close()
    for use in USES.values():
        with pytest.raises(QueryError, match="this EventProcessor is closed; make a new one"):
            use(processor)
    assert len(heard) == 1


def test_a_provider_without_a_plan_says_so() -> None:
    with pytest.raises(QueryError, match="no plan runs here"):
        NativeProvider(jit=False).push([])


def test_times_of_events_are_those_of_programs() -> None:
    heard: list[Any] = []
    processor = opened(heard)
    processor.push_event("Tick", ("A", 1.0), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    assert [result.time_msc for result in heard] == [1_000]
    for time in (None, 1.5, "now", -1, datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)):
        with pytest.raises(QueryError, match="Tick: "):
            processor.push_event("Tick", ("A", 1.0), time)  # type: ignore[arg-type]
    assert len(heard) == 1


WRONG: dict[str, Callable[[EventProcessor], object]] = {
    "provider: NoneType is none": lambda one: EventProcessor(None),  # type: ignore[arg-type]
    "provider: NativeProvider is none": lambda one: EventProcessor(NativeProvider),  # type: ignore[arg-type]
    "None is no name": lambda one: one.register_stream(None, {"a": "int"}),  # type: ignore[arg-type]
    "stream S: a schema of type NoneType": lambda one: one.register_stream("S", None),  # type: ignore[arg-type]
    "stream S: 5 is no name": lambda one: one.register_stream("S", {5: "int"}),  # type: ignore[dict-item]
    r"there is no stream \['Tick'\]": lambda one: one.remove_stream(["Tick"]),  # type: ignore[arg-type]
    r"there is no query \['Q'\]": lambda one: one.remove_query(["Q"]),  # type: ignore[arg-type]
    "5 is no name": lambda one: one.create_query(5, FILTER),  # type: ignore[arg-type]
    "R: a NoneType alone is no query": lambda one: one.create_query("R", None),  # type: ignore[arg-type]
    "R: an input of type NoneType": lambda one: one.create_query("R", Filter(None, "bid > 0")),  # type: ignore[arg-type]
    "R: a window of type int": lambda one: one.create_query("R", FILTER.window(5)),  # type: ignore[arg-type]
    r"R: a stream \['Tick'\]": lambda one: one.create_query("R", Filter(Stream(["Tick"]), "true")),  # type: ignore[arg-type]
    "R: values are not a dictionary": lambda one: one.create_query("R", Projector(TICK, None)),  # type: ignore[arg-type]
    r"R: n = 'count\(\)': give an aggregate such as": lambda one: one.create_query(
        "R",
        Aggregator(TICK.window(TimeWindow(5)), {"n": "count()"}),  # type: ignore[dict-item]
    ),
    r"R: group_by = 'bid': give a list: \['bid'\]": lambda one: one.create_query(
        "R", Aggregator(TICK.window(TimeWindow(5)), {"n": count()}, group_by="bid")
    ),
    "a query of type NoneType; give its text": lambda one: parse_sql(None),  # type: ignore[arg-type]
    "a correlator needs two": lambda one: Correlator(None),  # type: ignore[arg-type]
    "size_ms = None": lambda one: TimeWindow(None),  # type: ignore[arg-type]
    "size = 1180591620717411303424": lambda one: CountWindow(2**70),
    "jump_ms = 1.5": lambda one: TimeWindow(5, 1.5),  # type: ignore[arg-type]
    "pattern = None": lambda one: PatternMatcher(TICK, None, 5, {}),  # type: ignore[arg-type]
    "an output processor of type NoneType": lambda one: one.add_output_processor("Q", None),  # type: ignore[arg-type]
    "there is no stream None": lambda one: one.push_event(None, ("A", 1.0), 1),  # type: ignore[arg-type]
    "Tick: values of type NoneType": lambda one: one.push_event("Tick", None, 1),  # type: ignore[arg-type]
    "Tick: values of type str": lambda one: one.push_event("Tick", "AB", 1),  # type: ignore[arg-type]
    "Tick has no attribute 5": lambda one: one.push_event("Tick", {5: 1}, 1),  # type: ignore[dict-item]
    "events of type NoneType": lambda one: one.push_events(None),  # type: ignore[arg-type]
    "an event 5; give": lambda one: one.push_events([5]),  # type: ignore[list-item]
    "providers of type NoneType": lambda one: Federation(None),  # type: ignore[arg-type]
}
TICK = Stream("Tick")
FILTER = Filter(TICK, "bid > 0")


@pytest.mark.parametrize("message", WRONG)
def test_arguments_of_another_kind_are_named(message: str) -> None:
    heard: list[Any] = []
    processor = opened(heard)
    with pytest.raises(QueryError, match=f"^{message}"):
        WRONG[message](processor)
    processor.push_event("Tick", ("A", 1.0), 1)
    assert len(heard) == 1, "nothing else is disturbed"


@pytest.mark.parametrize("make", [lambda: NativeProvider(jit=False), lambda: DatabaseProvider(URL)])
def test_whole_numbers_beyond_64_bits_are_named(make: Callable[[], Provider]) -> None:
    processor = EventProcessor(make())
    processor.register_stream("S", {"n": "long", "d": "double"})
    processor.create_query("Q", Projector(Stream("S"), {"d": "d"}))
    heard: list[Any] = []
    processor.add_output_processor("Q", heard.append)
    for value in (2**70, -(2**70)):
        with pytest.raises(ValueError, match=r"^S\.n: not long: a value beyond 64 bits; give"):
            processor.push_event("S", (value, 1.0), 1)
    processor.push_event("S", (1, 2**70), 1)
    assert [result.values["d"] for result in heard] == [float(2**70)]


PROVIDERS: dict[str, Callable[[], Provider]] = {
    "native": lambda: NativeProvider(jit=False),
    "sqlite": lambda: DatabaseProvider(URL),
    "federation": lambda: Federation(
        {"own": NativeProvider(jit=False), "database": DatabaseProvider(URL)}
    ),
}


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("behind", PROVIDERS)
def test_a_late_event_is_refused_whatever_is_behind(behind: str, together: bool) -> None:
    """Nothing of what was pushed with it is taken, and what comes in order goes on."""
    found: list[Result] = []
    with EventProcessor(PROVIDERS[behind]()) as processor:
        processor.register_stream("s", {"a": "long"})
        processor.create_query("all", Filter(Stream("s"), "a > 0"))
        processor.add_output_processor("all", found.append)
        processor.push_event("s", (1,), 10)
        late = [("s", (2,), 12), ("s", (3,), 11)] if together else [("s", (3,), 9)]
        with pytest.raises(EventError, match=r"of time (11|9) ms comes after one of (12|10) ms"):
            processor.push_events(late)
        processor.push_event("s", (4,), 10)
    assert [result.values["a"] for result in found] == [1, 4]
