"""N11: patterns and sequences of 3 to 24 events whose last event never comes."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import RUNS, median_seconds, millions, table, write_results
from cep.engine.input_rows import InputRows
from cep.engine.native import Compiled, Run
from cep.plan import compile_rules

STREAM = "define stream S (a int, b int);\n"
LENGTHS = (3, 6, 12, 24)
WITHIN_MS = 500
BATCH = 10_000
WARM_UP = 10_000
EVENTS = 1_000_000


def typed(length: int) -> str:
    """A pattern of as many kinds of events, equally frequent; the last never comes."""
    states = [f"e{kind}=S[a == {kind}]" for kind in range(length - 1)]
    return _query(" -> ".join([f"every {states[0]}", *states[1:], "last=S[a == -1]"]))


def rising(length: int) -> str:
    """A sequence in which every row goes on with every partial match."""
    states = [f"e{place}=S[a >= e{place - 1}.b]" for place in range(1, length - 1)]
    return _query(", ".join(["every e0=S", *states, "last=S[a == -1]"]))


def _query(states: str) -> str:
    within = f"within {WITHIN_MS} milliseconds"
    return f"{STREAM}from {states} {within} select e0.a as first, last.a as last insert into Out;"


def batches(run: Run, kinds: int, count: int, start: int) -> list[InputRows]:
    """Rows a millisecond apart: `a` one of the kinds, `b` below all of them."""
    rng = np.random.default_rng(11)
    found = []
    for first in range(start, start + count, BATCH):
        columns = {"a": rng.integers(0, kinds, BATCH), "b": np.zeros(BATCH, np.int64)}
        places = first + np.arange(BATCH)
        found.append(run.encoder.encode("S", columns, 1_600_000_000_000 + places, places))
    return found


def rate(text: str, kinds: int) -> float:
    """Events per second in batches, encoded beforehand."""
    rules = Compiled(compile_rules(text, "n11.cep"))
    run = rules.start(mode="sorted")
    for rows in batches(run, kinds, WARM_UP, 0):
        run.feed(rows)
    made = [batches(run, kinds, EVENTS, WARM_UP + turn * EVENTS) for turn in range(RUNS)]
    turns = iter(made)
    return EVENTS / median_seconds(lambda: [run.feed(rows) for rows in next(turns)])


def main() -> None:
    rows, rates = [], []
    for length in LENGTHS:
        both = rate(typed(length), length - 1), rate(rising(length), length - 1)
        rates.append(both)
        rows.append([str(length), *(f"{millions(one)} events/s" for one in both)])
    falls = [shortest / longest for shortest, longest in zip(rates[0], rates[-1], strict=True)]
    write_results(
        "n11",
        "N11: matches whose last event never comes",
        f"Rows a millisecond apart, within {WITHIN_MS} ms, batches of {BATCH:,} encoded rows.",
        table(["events", "pattern `->` of as many kinds", "sequence `,` of any rows"], rows),
        f"From 3 to 24 the pattern falls by {falls[0]:.2f}x, the sequence by {falls[1]:.2f}x "
        "(goal: not more than 2x).",
    )


if __name__ == "__main__":
    main()
