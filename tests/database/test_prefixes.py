"""What another program has left under a prefix: it stays, and the message says where and what."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.database.errors import DatabaseError, EventError
from cep.jepc import Aggregator, EventProcessor, Filter, Result, Stream, TimeWindow, count
from cep.jepc.database import DatabaseProvider
from cep.jepc.queries import Query

KINDS = ["sqlite", "duckdb"]
COUNTED = {"counted": Aggregator(Stream("tick").window(TimeWindow(1_000)), {"n": count()})}
MORE: dict[str, Query] = {**COUNTED, "high": Filter(Stream("tick"), "price > 1.5")}
LONGER = {"counted": Aggregator(Stream("tick").window(TimeWindow(2_000)), {"n": count()})}
OTHER: dict[str, Query] = {
    "other": Aggregator(Stream("quote").window(TimeWindow(500)), {"n": count()})
}


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"{request.param}:///{tmp_path / 'events.db'}"


def run(url: str, queries: dict[str, Query], times: list[int], **options: object) -> list[int]:
    """The counts that a program of its own gets for ticks at these times."""
    provider = DatabaseProvider(url, **options)  # type: ignore[arg-type]
    found: list[Result] = []
    with EventProcessor(provider) as processor:
        for stream in ("tick", "quote"):
            processor.register_stream(stream, {"price": "double"})
        for name, query in queries.items():
            processor.create_query(name, query)
            processor.add_output_processor(name, found.append)
        stream = "quote" if "other" in queries else "tick"
        processor.push_events([(stream, (1.0,), time) for time in times])
    return [result.values["n"] for result in found]


@pytest.mark.parametrize("queries", [OTHER, LONGER], ids=["other", "longer"])
def test_other_queries_under_the_same_prefix_are_refused_and_empty_nothing(
    url: str, queries: dict[str, Query]
) -> None:
    assert run(url, COUNTED, [10, 59]) == [1, 2]
    with pytest.raises(DatabaseError) as caught:
        run(url, queries, [60])
    message = str(caught.value)
    assert message.startswith(
        f"the tables `mt5cep_..` in {url} hold the windows of other queries, "
    )
    assert ": counted" in message and "give it a `prefix` of its own" in message
    assert run(url, queries, [60], prefix="mine_") == [1]
    assert run(url, COUNTED, [60]) == [3], "the windows are as they were"


def test_more_queries_go_on_with_the_windows_there(url: str) -> None:
    assert run(url, COUNTED, [10, 59]) == [1, 2]
    assert run(url, MORE, [60]) == [3]


def test_windows_are_given_up_when_that_is_said(url: str) -> None:
    assert run(url, COUNTED, [10, 59]) == [1, 2]
    assert run(url, OTHER, [60], replace=True) == [1]


def test_an_event_older_than_the_stored_progress_says_where_that_stands(url: str) -> None:
    assert run(url, COUNTED, [10, 59]) == [1, 2]
    with pytest.raises(EventError) as caught:
        run(url, COUNTED, [0])
    assert str(caught.value) == (
        "event 0 of time 0 ms comes after one of 59 ms: an earlier run has stored its progress"
        f" in the tables `mt5cep_..` in {url}, 2 events; push what came after them"
        " (`taken` counts them), or use another `prefix`"
    )
    assert run(url, COUNTED, [60]) == [3]


def test_an_event_older_than_one_of_this_run_says_so() -> None:
    with pytest.raises(EventError, match="event 1 of time 5 ms comes after one of 10 ms; push ev"):
        run("sqlite://", COUNTED, [10, 5])
