"""Rules over two source streams with keyed and crossing engines, and rows of both with nulls."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cep.engine.input_rows import InputRows
from cep.engine.native import Compiled, Run
from cep.plan import Plan, compile_rules

RULES = """
define stream Tick (symbol string, bid double);
define stream Deal (symbol string, magic long, lots float, hot bool);
define engine One (queue = 1 min);
define engine Two (queue = 2 min) from One;
from Tick#window.time(20 sec)
select symbol, bid, avg(bid) as ma, stdDev(bid) as sd group by symbol insert into Band;
from Deal#window.length(3) select symbol, sum(lots) as lots, count() as n insert into Traded;
define event Up in One for each symbol as Band[bid > ma] opposite Down;
define event Down in One for each symbol as Band[bid < ma];
define event Fill in One for each symbol as every Deal[magic == 77 or hot] repeat allow;
define complex Caught in One for each symbol as Down followed by Fill within 20 sec;
define complex Both in Two as Caught('A') and Caught('B') within 1 min;
define signal Out on Both close 'A';
"""
Row = dict[str, Any]
Source = tuple[str, int, Row]
SYMBOLS = ("A", "B", "C", None)


@functools.cache
def plan() -> Plan:
    return compile_rules(RULES, "input.cep")


@functools.cache
def compiled() -> Compiled:
    return Compiled(plan())


@functools.cache
def mixed(count: int = 600) -> list[Source]:
    """Ticks and deals of several symbols, with nulls, in time order."""
    rng = np.random.default_rng(5)
    rows: list[Source] = []
    for place in range(count):
        symbol = SYMBOLS[rng.choice(4, p=[0.4, 0.4, 0.15, 0.05])]
        if rng.random() < 0.8:
            bid = None if rng.random() < 0.03 else float(rng.integers(100, 120)) / 100
            rows.append(("Tick", 250 * place, {"symbol": symbol, "bid": bid}))
        else:
            magic = [77, 78, None][rng.choice(3, p=[0.7, 0.2, 0.1])]
            deal = {"symbol": symbol, "magic": magic, "lots": 0.25, "hot": bool(place % 2)}
            rows.append(("Deal", 250 * place, deal))
    return rows


@functools.cache
def one_by_one() -> list[Row]:
    run = compiled().start()
    return [found for row in mixed() for found in run.push_row(*row).dicts()]


def encoded(run: Run, rows: list[Source], first: int) -> InputRows:
    """Rows of several streams as one batch; their places in the total order from `first`."""
    parts = []
    for stream in ("Tick", "Deal"):
        chosen = [(n, row) for n, row in enumerate(rows, start=first) if row[0] == stream]
        names = plan().stream(stream).schema.names
        columns = {name: [row[2][name] for _, row in chosen] for name in names}
        times = np.array([row[1] for _, row in chosen], np.int64)
        order = np.array([n for n, _ in chosen], np.int64)
        parts.append(run.encoder.encode(stream, columns, times, order))
    return InputRows.merge(parts)
