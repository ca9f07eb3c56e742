"""`python -m benchmarks.trader [NAME ..] [--rows N] [--runs N] [--check]`: rule files and pandas.

Over the first N recorded ticks, as many as lie beside the repository, with volumes, deals and news
made for them. What each rule file puts out is compared with its reference, then timed, warm: from
Arrow columns in to rows as dictionaries, the median of some runs beside one of pandas. `--check`
compares alone, uncompiled.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence

from benchmarks.measure import RUNS, keep_garbage_apart, seconds, table, write_results
from benchmarks.trader.answers import REFERENCES
from benchmarks.trader.market import DEALS_ALONE, Market, real
from benchmarks.trader.running import (
    NAMES,
    compiled,
    how_it_runs,
    native_rows,
    native_seconds,
    wrong,
)
from cep.engine.machine import library
from tests.data.real_ticks import FOLDER as TICKS

ROWS, WARM_UP_ROWS = 200_000, 5_000
HEAD = ["rules", "rows out", "ticks/s", "pandas ticks/s", "to pandas", "runs as"]


def check(names: Sequence[str], market: Market) -> bool:
    """Compare what the rule files put out with their references; whether all of it is the same."""
    problems = 0
    for name in names:
        found = native_rows(compiled(name, jit=False), market)
        problem = wrong(name, market, found)
        problems += bool(problem)
        print(f"{name}: {problem or f'{len(found):,} rows, the same'}", flush=True)
    return not problems


def measured(names: Sequence[str], rows: int, runs: int) -> Iterator[list[str]]:
    """A row of the table for each rule file; AssertionError where an output is not the same."""
    library.CODE.make()
    usual, of_deals = real(rows), real(rows, DEALS_ALONE)
    for name in names:
        rules = compiled(name)
        has_ticks = any(stream.name == "Tick" for stream in rules.plan.sources)
        market = usual if has_ticks else of_deals
        warm_up = Market({key: frame[:WARM_UP_ROWS] for key, frame in market.streams.items()})
        rules.start().warm_up()
        native_seconds(rules, warm_up)
        keep_garbage_apart()
        timed = [native_seconds(rules, market) for _ in range(runs)]
        taken_s, found = statistics.median(taken for taken, _ in timed), timed[0][1]
        pandas_s = seconds(lambda: REFERENCES[name].compute(market))  # noqa: B023
        problem = wrong(name, market, native_rows(rules, market))
        assert not problem, f"{name}: {problem}"
        count = sum(len(source.order) for source in market.sources(rules.plan))
        line = [name, f"{found:,}", f"{count / taken_s:,.0f}", f"{count / pandas_s:,.0f}",
                f"{pandas_s / taken_s:.2f}", how_it_runs(rules)]  # fmt: skip
        print(*line, flush=True)
        yield line


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trader", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="rule files (default: all)")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"ticks (default: {ROWS:,})")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each (default: {RUNS})")
    parser.add_argument("--check", action="store_true", help="compare the outputs, time nothing")
    given = parser.parse_args(arguments)
    names: list[str] = given.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no rule file {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if given.rows < 1:
        parser.error("--rows: give a number of ticks from 1 on")
    if given.runs < 1:
        parser.error("--runs: give a number of runs from 1 on")
    if not TICKS.is_dir():
        sys.exit(f"recorded ticks are not at {TICKS}")
    if given.check:
        sys.exit(0 if check(names, real(given.rows)) else 1)
    lines = list(measured(names, given.rows, given.runs))
    slowest = min(lines, key=lambda line: int(line[2].replace(",", "")))
    told = f"The slowest of {len(lines)} is `{slowest[0]}` with {slowest[2]} ticks/s."
    if names == NAMES:
        of_runs = f"the median of {given.runs} warm runs each, and one of pandas,"
        how = f"One core, {of_runs} over {given.rows:,} recorded ticks."
        write_results("trader", "What traders write", table(HEAD, lines), told, how=how)
    else:
        print(told)


if __name__ == "__main__":
    main()
