"""Generated chains of queries with all types, functions and nulls: databases and the reference.

What a database refuses is left out with all that reads it, and must be listed here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.database.errors import DatabaseError
from cep.jepc.provider import Event
from cep.plan.nodes import Plan
from cep.plan.types import Type
from tests.campaign import examples
from tests.database.answers import TOO_FINE, Asked, asked_in_turn
from tests.database.conftest import NAMES
from tests.reference.engine import Reference
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import SourceRow

EXAMPLES = examples(12)
REFUSED: Mapping[str, set[str]] = {
    "sqlite": set(),
    "duckdb": set(),
    "postgresql": {
        f"never: `% {kind}`: PostgreSQL has no remainder of {kind}s" for kind in ("float", "double")
    },
}

Told = dict[str, list[tuple[int, tuple[Any, ...]]]]
"""Results by stream: time, values."""

asked = pytest.fixture(asked_in_turn, scope="module", params=NAMES, name="asked")


def with_schemas(plan: Plan) -> Plan:
    """Generated queries do not say what they read."""
    whole = [
        replace(one, input=replace(one.stream_input, schema=plan.stream(one.source).schema))
        for one in plan.queries
    ]
    return replace(plan, operators=tuple(whole))


def without(plan: Plan, refused: set[str]) -> Plan:
    """A plan without some queries and what reads them."""
    gone: set[str | None] = set()
    for query in plan.queries:  # each reads what an earlier one makes
        if query.name in refused or query.source in gone:
            gone.add(query.target)
    left = tuple(query for query in plan.queries if query.target not in gone)
    streams = tuple(stream for stream in plan.streams if stream.name not in gone)
    return replace(plan, operators=left, streams=streams)


def in_time(rows: Sequence[SourceRow]) -> list[SourceRow]:
    """Late rows come at the newest time."""
    newest = accumulate((time for _, time, _ in rows), max)
    return [(stream, now, row) for now, (stream, _, row) in zip(newest, rows, strict=True)]


def expected(plan: Plan, rows: Sequence[SourceRow]) -> Told:
    reference, told = Reference(plan), defaultdict(list)
    for source in rows:
        for row in reference.push(*source):
            values = [row[name] for name in plan.stream(str(row["stream"])).schema.names]
            told[str(row["stream"])].append((source[1], tuple(values)))
    return dict(told)


def found(asked: Asked, plan: Plan, rows: Sequence[SourceRow], size: int) -> Told:
    asked.provider._runner.clear()
    asked.provider.change(plan, [query.into for query in plan.queries])
    names = plan.stream("S").schema.names
    events = [Event(s, time, tuple(row[name] for name in names)) for s, time, row in rows]
    told = defaultdict(list)
    for start in range(0, len(events), size):
        for one in asked.provider.push(events[start : start + size]):
            told[one.query].append((one.time_msc, tuple(one.values.values())))
    return dict(told)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(query_plans(), query_rows(moderate=True), st.sampled_from([1, 2, 7, 1_000]))
def test_queries(asked: Asked, plan: Plan, rows: list[SourceRow], size: int) -> None:
    plan = with_schemas(plan)
    refused = asked.provider.refusals(plan)
    assert set(refused.values()) <= REFUSED[asked.name]
    plan = without(plan, set(refused))
    if plan.queries:
        source = in_time(rows)
        try:
            told = found(asked, plan, source, size)
        except DatabaseError as problem:
            assert re.search(TOO_FINE, str(problem)) and _sums_reals(plan)
        else:
            meant = expected(plan, source)
            assert _text(told) == _text(meant)


def _text(found: Told) -> str:
    """As text 1 is not 1.0. "The sign of a zero is not kept everywhere" (docs/database.md)."""
    return re.sub(r"-0\.0(?!\d)", "0.0", repr(sorted(found.items())))


def _sums_reals(plan: Plan) -> bool:
    return any(
        one.type is Type.DOUBLE and one.function in ("sum", "avg", "stdDev")
        for query in plan.queries
        for one in query.aggregates
    )
