"""Every case of `tests/semantics` with its queries on a database, the rest on our engine behind it.

The rows that come out are those that the case says. What the database does not run is listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pytest

from cep.database.drivers import connect
from cep.database.errors import DatabaseError
from cep.fragments.replay import DatabaseReplay
from cep.fragments.split import split
from cep.inputs.types import ARROW
from cep.plan.nodes import Origin, Plan
from cep.replay import Source
from tests.database.answers import TOO_FINE
from tests.database.conftest import NAMES
from tests.database.servers import url_for
from tests.semantics.back_ends import NATIVE_DIFFERS, native
from tests.semantics.loader import Case, InputRow, OutputRow, load_cases

CASES = {case.name: case for case in load_cases() if case.refused is None}
STOPPED = {"aggregates-exact": f"d_{TOO_FINE}"}
"""Cases with values that a database cannot sum exactly: it takes no such batch, and says why."""
LIVED = {name for name, case in CASES.items() if case.mode == "lived"}
AS_NATIVE = NATIVE_DIFFERS.keys() | LIVED
"""Cases that our engine, behind the database, does not answer as they say yet, and those of records
as they came: a replay is of records in the order of time."""

BARS = "notimpl: #bars:ticks(): stream functions"
PATTERNS = "notimpl: patterns (`->`), which wait for an event however long"
BOTH = "notimpl: Both, which several queries write"
SEVERAL = "notimpl: All, which several queries write"
REFUSED = {
    "deal-behind-bars": {"query1": BARS},
    "window-by-key-behind-bars": {
        "query1": BARS,
        "query2": "it reads Bar, which the database does not make",
    },
    "partition-reached-by-all": dict.fromkeys(
        ("query1", "query2", "query3"), "notimpl: partitions"
    ),
    "window-fed-by-time": {
        "query1": "notimpl: Each, a trigger, which fires as time passes",
        "query2": "it reads Q, which the database does not make",
    },
    "reorder-late": {"query1": "rows that wait for their order move its clock later"},
    "event-at-cause": {"query1": "notimpl: aggregates over #window.timeBatch"},
    "batch-late": {"query1": "notimpl: aggregates over #window.timeBatch"},
    "bar-beside-ticks": {"query1": "notimpl: #bars:time(): stream functions"},
    "bar-late": {"query1": "notimpl: #bars:time(): stream functions"},
    "hopping-late": {"query1": "notimpl: aggregates over #window.hopping"},
    "window-time-length-late": {"query1": "notimpl: aggregates over #window.timeLength"},
    "window-time-late-expired": {"query1": "notimpl: `expired events`: rows that leave a window"},
    "event-time-of-what-leaves": {"query2": "notimpl: `expired events`: rows that leave a window"},
    "chunk-of-a-join": {
        "query1": "One and Two read Met, to which it puts many rows at once, and both lead to Found"
    },
    "chunk-of-a-timer": {
        "query1": "notimpl: #window.timeBatch in front of a filter",
        **dict.fromkeys(("query2", "query3", "query4"), BOTH),
    },
    "chunk-two-readers": {
        "query1": PATTERNS,
        **dict.fromkeys(("query2", "query3"), BOTH),
        "query4": "it reads Both, which the database does not make",
    },
    "interpreted-in-between": {
        **dict.fromkeys(("query1", "query3"), "notimpl: `all events`: rows that leave a window"),
        "query2": "it stands between others that read S, whose events come in turn",
        "query4": "notimpl: Turned, which several queries write",
    },
    "events-are-streams": {
        "query1": "it reads A, which the database does not make",
        "query2": "never: Found: list: it cannot be stored",
    },
    "bound-values": {
        "query1": "never: Turn: list: it cannot be stored",
        "query2": "never: Any: list: it cannot be stored",
    },
    "key-of-complex-events": {"query1": "never: Found: list: it cannot be stored"},
    "pattern-late": {"query1": PATTERNS},
    "pattern-expired-read": {
        "query1": PATTERNS,
        "query2": "it reads Gone, which the database does not make",
    },
    "one-target": {
        **dict.fromkeys(("query1", "query2", "query3"), SEVERAL),
        "query4": "it reads All, which the database does not make",
    },
    "signals-are-streams": {"query1": "it reads Buy, which the database does not make"},
}
"""Queries that our engine runs behind the database, by case, and why."""
REFUSED_BY = {
    "postgresql": {
        "arithmetic": {"query1": "never: `% double`: PostgreSQL has no remainder of doubles"}
    }
}
"""The same of one database alone."""


@pytest.fixture(scope="module", params=NAMES)
def where(request: pytest.FixtureRequest) -> str:
    """The URL of each database."""
    return url_for(request)


def sources(plan: Plan, rows: Sequence[InputRow]) -> Iterator[Source]:
    """The rows as replay reads them from files."""
    for stream in plan.sources:
        own = [(place, row) for place, row in enumerate(rows) if row[0] == stream.name]
        columns = {"time_msc": pa.array([time for _, (_, time, _) in own], pa.int64())}
        for one in stream.schema.attributes:
            values = [row.get(one.name) for _, (_, _, row) in own]
            columns[one.name] = pa.array(values, ARROW[one.type])
        if own:
            yield Source(stream, pa.table(columns), np.array([place for place, _ in own]))


def replayed(case: Case, url: str, batch_events: int) -> list[OutputRow]:
    plan = case.plan()
    run = DatabaseReplay(plan, url, jit=False, batch_events=batch_events)
    try:
        found = [line for lines in run.replay(list(sources(plan, case.rows_in))) for line in lines]
        times = [time for _, time, _ in case.rows_in]
        newest = accumulate(times, max)
        assert run.late == sum(time < now for time, now in zip(times, newest, strict=True))
    finally:
        run.close()
    return [json.loads(line) for line in found]


@pytest.mark.parametrize("size", [1, 1_000])
@pytest.mark.parametrize("name", CASES)
def test_case(name: str, where: str, size: int) -> None:
    case = CASES[name]
    if name in STOPPED:
        with pytest.raises(DatabaseError, match=STOPPED[name]):
            replayed(case, where, size)
        return
    found = replayed(case, where, size)
    if name in AS_NATIVE:
        ours = native(case.plan(), case.rows_in, jit=False)
        assert case.observed(found) == case.observed(ours)
        assert name in LIVED or case.observed(ours) != case.expected
    else:
        assert case.observed(found) == case.expected, case.title


def test_what_our_engine_runs_is_listed(where: str) -> None:
    driver = connect(where)
    found = {}
    for name, case in CASES.items():
        plan = case.plan()
        refused = split(plan, driver.dialect).why
        ours = {s.name for s in plan.signals if plan.stream(s.source).origin is Origin.COMPLEX}
        queries = {query.name for query in plan.queries} & refused.keys() - ours
        if queries:
            found[name] = {query: refused[query] for query in sorted(queries)}
    driver.close()
    assert found == REFUSED | REFUSED_BY.get(driver.dialect.name, {})
