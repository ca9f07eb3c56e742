"""A snapshot of any query, between any two events, goes on with the same results."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, seed_of, take
from cep.jepc.catalog import Catalog
from cep.jepc.queries import Input
from tests.campaign import examples
from tests.jepc.generated import EVENTS, SCHEMAS, networks
from tests.jepc.test_semantics import Events, Raw, events_of


def pushed(run: Run, events: Events) -> list[dict[str, Any]]:
    return [row for name, row, time in events for row in run.push_row(name, time, row).dicts()]


@settings(max_examples=examples(80), deadline=None)
@given(networks(), EVENTS, st.integers(0, 25))
def test_a_restored_run_goes_on(query: Input, raw: Raw, cut: int) -> None:
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    catalog.create("q", query)  # type: ignore[arg-type]
    plan, events = catalog.plan(), events_of(raw)
    run = Compiled(plan, jit=False).start()
    pushed(run, events[:cut])
    data = take(run)
    again = restore(Compiled(plan, jit=False, seed=seed_of(data)), data)
    assert pushed(again, events[cut:]) == pushed(run, events[cut:])
