"""A small network on a database, for tests of batches, changes and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from cep.database import program
from cep.database.batches import Arrivals, in_order
from cep.database.drivers import Driver
from cep.database.errors import Refusal
from cep.database.lower import lower
from cep.database.runner import Options, Runner
from cep.database.steps import Rows
from cep.database.tables import Tables
from cep.jepc import Aggregator, Filter, NativeProvider, Stream, TimeWindow, count, greatest
from cep.jepc.catalog import Catalog
from cep.jepc.provider import Event
from cep.plan.families import Family
from cep.plan.nodes import Plan

WINDOW_MS = 10
Told = list[tuple[str, int, tuple[Any, ...]]]
"""Results: stream, time, values."""


def catalog() -> Catalog:
    """Filters of one shape, one that others read, and counts in a window of what it lets pass."""
    made = Catalog()
    made.register("s", {"a": "int", "k": "string"})
    made.create("high", Filter(Stream("s"), "a > 1"))
    made.create("three", Filter(Stream("s"), "a > 3"))
    made.create("four", Filter(Stream("s"), "a > 4"))
    over = Stream("high").window(TimeWindow(WINDOW_MS))
    made.create("counted", Aggregator(over, {"n": count(), "top": greatest("a")}, ["k"]))
    return made


OUTPUTS = ("high", "three", "four", "counted")


def events(count_: int, start: int = 0) -> list[Event]:
    """Numbers and keys that repeat, two events a ms."""
    return [
        Event("s", 1_000 + number // 2, ((number * 7) % 6, "xyz"[number % 3]))
        for number in range(start, start + count_)
    ]


def arrivals(pushed: Sequence[Event]) -> list[Arrivals]:
    """Events of the stream `s` as columns."""
    times = np.array([event.time_msc for event in pushed], np.int64)
    columns = tuple(zip(*(event.values for event in pushed), strict=True))
    return [Arrivals("s", np.arange(len(pushed)), times, columns)]


def native(plan: Plan, pushed: Sequence[Event]) -> Told:
    """What our engine makes of the events."""
    engine = NativeProvider(jit=False)
    engine.change(plan, OUTPUTS)
    return [(r.query, r.time_msc, tuple(r.values.values())) for r in engine.push(pushed)]


def started(
    driver: Driver,
    batch_events: int | None = None,
    pause: Callable[[int], None] = lambda attempt: None,
    prefix: str = "mt5cep_",
    is_durable: bool = True,
) -> Runner:
    """The network at work."""
    run = Runner(driver, Options(prefix, is_durable, batch_events), pause)
    run.change(catalog().plan(), OUTPUTS)
    return run


def pushed(run: Runner, some: Sequence[Event]) -> Told:
    """The results of events, in order."""
    found = [one for batch in run.push(arrivals(some)) for one in batch]
    return told(run, found)


def told(run: Runner, found: Any) -> Told:
    """Results as they are compared."""
    rows = in_order(found, run.program.ranks)
    return [(stream, time, values) for stream, _, time, _, values in rows]


def refuse_odd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have queries called `odd` refused."""

    def lower_but(family: Family, tables: Tables) -> Rows:
        if family.name == "odd":
            raise Refusal("never", "it is odd")
        return lower(family, tables)

    monkeypatch.setattr(program, "lower", lower_but)
