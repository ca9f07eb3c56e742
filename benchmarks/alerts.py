"""Alerts in one program: what a tick costs that concerns few of them.

`python -m benchmarks.alerts`: queries and events that each want one symbol or a price, as the
machine runs them, beside queries which all have to be asked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.measure import RUNS, median_seconds, millions, table, write_results
from cep.engine.native import Compiled
from cep.plan import compile_rules

STREAM = "@key('symbol')\ndefine stream Tick (symbol string, bid double);\n"
COUNTS = (1, 10, 100, 1_000, 10_000)
ROWS = 200_000
GOLDEN = (5**0.5 - 1) / 2
STEP = 0.0001
"""By how much prices change from row to row, between 1 and 2."""
ASKED_MAX = 20_000_000
"""So many conditions are asked in one run, where all are: more alerts get fewer rows."""


def query(number: int) -> str:
    return (
        f"from Tick[symbol == 'S{number}' and bid > 1.9999] select symbol, bid insert into Alert;\n"
    )


def event(number: int) -> str:
    return (
        f"define event Up{number} for each symbol as Tick[symbol == 'S{number}' and bid > 1.9999]"
        " repeat allow;\n"
    )


def price(number: int) -> str:
    return f"from Tick[bid > {2 + number / 100_000}] select symbol, bid insert into Alert;\n"


def crossed(number: int) -> str:
    """Limits spread over all prices."""
    limit = 1 + number * GOLDEN % 1
    return f"define event At{number} for each symbol as Tick[bid > {limit}] repeat allow;\n"


def either(number: int) -> str:
    """What no search finds."""
    return f"from Tick[bid > 2 or bid < {number / 100_000}] select symbol insert into Alert;\n"


def rate(alert: Callable[[int], str], count: int, *, all_asked: bool = False) -> float:
    """Rows a second, encoded beforehand."""
    rules = Compiled(
        compile_rules(STREAM + "".join(map(alert, range(count))), "alerts.cep"), machine="always"
    )
    run = rules.start(mode="sorted")
    rows = min(ROWS, ASKED_MAX // count) if all_asked else ROWS
    rng = np.random.default_rng(12)
    names = np.array([f"S{number}" for number in range(10 if alert is crossed else max(count, 10))])
    turns = []
    for turn in range(RUNS + 1):
        walk = np.cumsum(rng.normal(0, STEP, rows))
        columns = {"symbol": names[rng.integers(0, len(names), rows)], "bid": 1.5 + walk % 0.5}
        places = turn * rows + np.arange(rows)
        turns.append(run.encoder.encode("Tick", columns, 1_600_000_000_000 + places, places))
    made = iter(turns)
    run.feed(next(made))
    return rows / median_seconds(lambda: run.feed(next(made)))


def main() -> None:
    rows = []
    for count in COUNTS:
        found = rate(query, count), rate(event, count), rate(price, count)
        rates = *found, rate(crossed, count), rate(either, count, all_asked=True)
        rows.append([f"{count:,}", *(f"{millions(one)} rows/s" for one in rates)])
    write_results(
        "alerts",
        "Alerts: many readers of one stream",
        "Each of the first two wants one symbol of as many (10 at least), evenly drawn; the third "
        "a price that is never reached. Those of the fourth, of ten symbols, are spread over all "
        "prices. Of the last all have to be asked.",
        table(
            [
                "alerts",
                "queries of a symbol",
                "events of a symbol",
                "queries of a price",
                "events of a price",
                "queries of two prices",
            ],
            rows,
        ),
    )


if __name__ == "__main__":
    main()
