"""`EventProcessor`: closed for good, and the times of events."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cep.jepc import EventProcessor, NativeProvider, QueryError, parse_sql


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
