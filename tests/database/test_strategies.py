"""Strategies with their queries on a database: byte for byte what our engine alone gives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cep.database.dialects import dialect_of
from cep.engine.native import Compiled
from cep.fragments.replay import DatabaseReplay
from cep.fragments.split import split
from cep.plan import Plan
from cep.replay import Source, read_sources, replay
from tests.campaign import either
from tests.data.real_ticks import needs_real_ticks
from tests.strategies.running import REAL, STRATEGIES, inputs, plan_of, real_sources

SAMPLES_MIN, REAL_ROWS = 100, either(1_000, 3_000)


def on_database(plan: Plan, sources: Sequence[Source], url: str) -> list[bytes]:
    assert split(plan, dialect_of(url)).front.queries, "nothing runs on the database"
    run = DatabaseReplay(plan, url, jit=False, batch_events=1_500)
    try:
        return [line for batch in run.replay(sources) for line in batch]
    finally:
        run.close()


def native(plan: Plan, sources: Sequence[Source]) -> list[bytes]:
    compiled = Compiled(plan, jit=False)
    return [line for rows in replay(compiled, list(sources)) for line in rows.json_lines()]


@pytest.mark.parametrize("name", STRATEGIES)
def test_samples(name: str, url: str) -> None:
    plan = plan_of(name)
    sources = read_sources(plan, inputs(name))
    expected = native(plan, sources)
    assert len(expected) > SAMPLES_MIN
    assert on_database(plan, sources, url) == expected


@needs_real_ticks
@pytest.mark.parametrize("name", STRATEGIES)
def test_real_ticks(name: str, url: str) -> None:
    plan = plan_of(name, **REAL)
    sources = real_sources(plan, REAL_ROWS)
    assert on_database(plan, sources, url) == native(plan, sources)
