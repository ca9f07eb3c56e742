"""N10: up to 10,000 complex events over 1,000 simple numbers, and as many rules that cannot end."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import RUNS, millions, seconds, table, write_results
from benchmarks.raised import Binder
from cep.plan.expressions import Column, Comparison, Constant
from cep.plan.nodes import (
    COMPLEX_SCHEMA,
    EVENT_SCHEMA,
    Complex,
    Engine,
    Event,
    Leaf,
    Operator,
    Origin,
    Plan,
    Ref,
    Repeat,
    Sequence,
    Stream,
)
from cep.plan.types import Schema, Type

NUMBERS, SILENT = 1_000, 20  # the silent ones never arrive
SPAN_MS = 300_000
QUEUED = 300_000  # 5 minutes at 1,000 events a second
EVENTS, BATCH = 300_000, 10_000
Result = tuple[float, float, float]
ATTRIBUTE = Column(0, "n", Type.INT)


@dataclass(frozen=True)
class Load:
    """What is measured: rules that may end in an arriving number, further ones, repetition."""

    rules: int
    further: int
    repeat: Repeat
    within_ms: int


def plan(load: Load) -> Plan:
    """Rules `E<a> followed by E<b>`; those that may end have every arriving number b in turn."""
    rng = np.random.default_rng(3)
    events = [
        Event(f"E{i}", 1 + i, "Main", "S", Comparison("==", ATTRIBUTE, Constant(i, Type.INT)), True,
              load.repeat, None)
        for i in range(NUMBERS + SILENT)
    ]  # fmt: skip
    complexes = []
    for rule in range(load.rules + load.further):
        last = rule % NUMBERS if rule < load.rules else NUMBERS + rule % SILENT
        first = (last + 1 + rng.integers(NUMBERS - 1)) % NUMBERS
        pattern = Sequence(Leaf(Ref(f"E{first}")), Leaf(Ref(f"E{last}")))
        complexes.append(Complex(f"C{rule}", 10_000 + rule, "Main", pattern, load.within_ms))
    streams = [Stream("S", Schema.of(n=Type.INT), Origin.SOURCE)]
    streams += [Stream(event.name, EVENT_SCHEMA, Origin.EVENT) for event in events]
    streams += [Stream(found.name, COMPLEX_SCHEMA, Origin.COMPLEX) for found in complexes]
    engines = (Engine("Main", SPAN_MS),)
    operators: tuple[Operator, ...] = (*events, *complexes)
    return Plan("n10", tuple(streams), operators, engines, number_stride=1_000_000)


def measure(load: Load) -> Result:
    """Seconds to load the rules, seconds for EVENTS with a full queue, rows out of these."""
    made = plan(load)
    binders: list[Binder] = []
    loading = seconds(lambda: binders.append(Binder(made)))
    binder = binders[0]
    which = np.random.default_rng(5).integers(0, NUMBERS, QUEUED + EVENTS)
    times = 1_600_000_000_000 + np.arange(len(which))
    binder.feed(binder.encode(which[:QUEUED], times[:QUEUED]))
    starts = range(QUEUED, QUEUED + EVENTS, BATCH)
    batches = [binder.encode(which[at : at + BATCH], times[at : at + BATCH]) for at in starts]
    found: list[int] = []
    duration = seconds(lambda: found.extend(binder.feed(rows) for rows in batches))
    return loading, duration, sum(found)


def rows(repeat: Repeat, within_ms: int) -> list[list[str]]:
    loads = [Load(rules, 0, repeat, within_ms) for rules in (10, 100, 1_000, 10_000)]
    loads.append(Load(10_000, 10_000, repeat, within_ms))
    results: dict[Load, list[Result]] = {load: [] for load in loads}
    for _ in range(RUNS):  # in turn, so that a busy spell of the machine meets all of them
        for load in loads:
            results[load].append(measure(load))
    return [line(load, runs, results[loads[-2]]) for load, runs in results.items()]


def line(load: Load, runs: list[Result], without: list[Result]) -> list[str]:
    """A row of the table; `without` are the runs without the further rules."""
    loading, duration, found = (statistics.median(column) for column in zip(*runs, strict=True))
    ratios = (more[1] / less[1] for more, less in zip(runs, without, strict=True))
    return [
        f"{load.rules:,}{f' + {load.further:,}' if load.further else ''}",
        str(load.repeat),
        f"{load.within_ms:,} ms",
        millions(EVENTS / duration),
        millions(found / duration),
        f"{statistics.median(ratios) - 1:+.0%}" if load.further else "",
        f"{loading:.2f} s",
    ]


def main() -> None:
    measure(Load(10, 0, Repeat.ALLOW, 100))  # compiles
    loads = ((Repeat.REJECT, 100), (Repeat.ALLOW, 100), (Repeat.ALLOW, 180_000))
    lines = [line for repeat, within_ms in loads for line in rows(repeat, within_ms)]
    head = ["rules", "repeat", "within", "simple events/s", "rows out/s", "extra", "loading"]
    note = (
        f"{NUMBERS:,} simple numbers, uniform, one a millisecond; queue of 5 minutes "
        f"({QUEUED:,} events with `repeat allow`), full before the clock starts; fed in batches of "
        f"{BATCH:,}. A rule is `A followed by B`; with 10,000 rules every event may end ten. "
        "`+ 10,000` are further rules whose last number never arrives; `extra` is the time they "
        "add. Rows out are simple and complex events: within 100 ms one rule in ten finds its "
        "first event, within 3 minutes nearly every one does: there the cost is that of binding."
    )
    write_results("n10", "N10: many complex events", note, table(head, lines))


if __name__ == "__main__":
    main()
