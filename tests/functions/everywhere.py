"""One call of a function everywhere it may stand: rules with it, rows for them, the answers."""

from __future__ import annotations

import random
from typing import Any

from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.plan import Plan, compile_rules
from cep.plan.functions import EXAMPLE

Row = dict[str, Any]

AGGREGATED = (
    "from S select {call} as v insert into Ever;",
    "from S#window.length(5) select {call} as v insert into Last;",
    "from S#window.time(9 milliseconds) select k, {call} as v group by k insert into Grouped;",
    "from S#window.length(6)[f] select {call} as v insert into Behind;",
    "from S#window.lengthBatch(4, true) select {call} as v insert into Batches;",
    "from S#window.externalTime(t, 9 milliseconds) select {call} as v having v is null"
    " insert into Nulls;",
    "partition with (k of S) begin from S#window.length(4) select {call} as v insert into Parts;"
    " end;",
)
"""Where an aggregator may stand that is compiled wherever it stands."""
INTERPRETED = (
    "from S#window.length(4) select {call} as v insert all events into All;",
    "from S#window.timeBatch(9 milliseconds) select k, {call} as v group by k insert into Timed;",
)
"""Where nothing is compiled."""


def rules(call: str, statements: tuple[str, ...] = AGGREGATED) -> Plan:
    """The statements with that call, and what they stand on."""
    text = "\n".join((f"@key('k') {EXAMPLE}", *statements))
    return compile_rules(text.format(call=call), "rules.cep")


def rows(count: int = 120, seed: int = 5) -> list[Row]:
    """Rows of `EXAMPLE`, a few ms apart: few values and nulls among them, sums of few digits."""
    rng = random.Random(seed)
    reals = (1.1, 2.7, 0.3, 9.99, 2.7, None)
    made: list[Row] = [
        {
            "k": rng.choice("ab"),
            "n": rng.choice((1, 2, 7, None)),
            "x": rng.choice(reals),
            "y": rng.choice(reals),
            "t": 0,
            "f": rng.choice((True, True, False, None)),
        }
        for _ in range(count)
    ]
    time = 0
    for row in made:
        time += rng.choice((0, 1, 2, 4))
        row["t"] = time
    return made


def push(run: Run, some: list[Row]) -> list[str]:
    """What comes of rows, one by one; as text, for -0.0 is not 0.0."""
    return [repr(out) for row in some for out in run.push_row("S", row["t"], row).dicts()]


def by_stream(found: list[str]) -> list[str]:
    """Results in the order of each stream: stages put out those of a row in their own order."""
    return sorted(found, key=lambda text: text.partition(",")[0])


def interpreted(plan: Plan, some: list[Row]) -> list[str]:
    """What the interpreter says, which is the meaning."""
    return by_stream(push(Compiled(plan, jit=False).by_interpreter.start(), some))


def native(plan: Plan, some: list[Row], *, jit: bool = False, cut: int | None = None) -> list[str]:
    """What the engine says, and where it is `cut`: it goes on from a snapshot there."""
    compiled = Compiled(plan, jit=jit)
    run = compiled.start()
    if cut is None:
        return by_stream(push(run, some))
    before = push(run, some[:cut])
    return by_stream(before + push(restore(compiled, take(run)), some[cut:]))
