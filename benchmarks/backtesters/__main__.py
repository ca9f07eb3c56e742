"""Our backtester beside nautilus_trader, backtesting.py, vectorbt and hftbacktest.

`python -m benchmarks.backtesters`: the same real ticks and an equal strategy, in one run. Packages
are installed the first time, each into an environment of its own. All programs take turns on one
core, and the trades of each are compared with those of plain NumPy, one by one: ours must be equal.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.backtesters import reference
from benchmarks.backtesters.contestants import (
    CONTESTANTS,
    US,
    AbsentError,
    Contestant,
    Program,
    python_of,
)
from benchmarks.backtesters.job import FAST, SLOW, Job, Quotes, Trade, write
from benchmarks.measure import seconds, table, write_results
from cep.backtest.loop import CODE, WALK_CODE
from cep.engine.jit import cache_root
from mt5bridge.simulator import Walk, random_walk
from tests.data import real_ticks

TICKS = 2_000_000
RUNS = 3
SOURCE = "fxcm_eurusd"
PRICES = ("open_price", "close_price")
HEAD = (
    "", "version", "what it does", "ticks", "first run s", "M ticks/s", "with reading", "peak MiB",
    "trades", "points", "beside the reference", "ours is",
)  # fmt: skip
ABOUT = (
    "The strategy is long while the mean of the last {fast:,} mids is above that of the last "
    "{slow:,}, else flat: 0.1 lots, decided at a tick and filled at the next, at its ask or bid, "
    "for no other costs. {ticks}, those alone whose ask is above their bid, as an order book holds "
    "no others; slow contestants have the first of them. Means are of whole numbers, so nobody is "
    "off by a last digit. The reference is the same in plain NumPy: closed trades are compared by "
    "times, prices and gains, one by one."
)
FIGURES = (
    "A first run is that of a new process, with imports and compiling; what a package keeps "
    "compiled on disk may be there already. Ours reads its archive in each run, checks it, and "
    "makes tables and results of what it found. The others have the ticks in memory as they like "
    "them best: *with reading* counts what that took. In no figure: {files}. *Ours is* compares "
    "*M ticks/s*, so others without reading."
)


def quotes(ticks: int) -> tuple[Quotes, str]:
    """So many ticks, and what they are: real ones where these are to be had."""
    if (real_ticks.FOLDER / f"lean_{SOURCE}").is_dir():
        records, told = real_ticks.ticks(SOURCE), "recorded ticks of EURUSD (FXCM)"
    else:
        records, told = random_walk(Walk(ticks)), "made-up ticks, as recorded ones are not here"
    records = records[records["ask"] > records["bid"]]
    records = records[np.argsort(records["time_msc"], kind="stable")][:ticks]
    return Quotes(*(records[name].copy() for name in ("time_msc", "bid", "ask"))), told


def ready(contestant: Contestant, environments: Path, work: Job) -> tuple[Program, str]:
    """A program with its ticks, and what making its own file of them took, in words."""
    ticks = round(work.ticks * contestant.share)
    python = python_of(contestant, environments)
    program = Program(python, contestant, replace(work, ticks=ticks))
    if not contestant.own_file:
        return program, ""
    return program, f"{contestant.own_file} in {seconds(program.prepare):.1f} s"


def in_turns(programs: Sequence[Program], runs: int) -> dict[str, str]:
    """A first run and `runs` more of all, one after the other on one core; why some have none."""
    if hasattr(os, "sched_setaffinity"):  # programs inherit it, whatever threads they have
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    why: dict[str, str] = {}
    for number in range(1 + runs):
        for program in programs:
            name = program.contestant.name
            try:
                if name not in why:
                    program.run()
                    print(f"{name}, run {number}: {program.answers[-1].run_s:.2f} s", flush=True)
            except AbsentError as error:
                why[name] = str(error)
    for program in programs:
        program.stop()
    return why


def line(program: Program, ours_per_s: float, wanted: Sequence[Trade]) -> tuple[str, ...]:
    """A line of the table; AssertionError where our own trades are not those of the reference."""
    about, answer = program.contestant, program.answers[-1]
    problem = reference.difference(wanted, answer.trades, PRICES if about.prices else ())
    assert about is not US or not problem, problem
    same = f"equal but for prices: {about.prices}" if about.prices else "equal"
    rates = (program.ticks_per_s, program.read_ticks_per_s)
    return (
        about.name, answer.version, about.way, f"{program.job.ticks:,}", f"{program.first_s:.1f}",
        *(f"{rate / 1e6:.3f}" for rate in rates), f"{answer.peak_mib:,}",
        f"{len(answer.trades):,}", f"{sum(trade.points for trade in answer.trades):,.1f}",
        problem or same, f"{ours_per_s / rates[0]:.2f}x",
    )  # fmt: skip


def compared(environments: Path, given: Quotes, work: Job, runs: int) -> tuple[str, str]:
    """The table, and what was made before it."""
    for code in (CODE, WALK_CODE):
        code.make()  # else another process would, beside the runs
    why, programs, files = {}, {}, []
    for contestant in CONTESTANTS:
        try:
            programs[contestant.name], file = ready(contestant, environments, work)
            files += [file] if file else []
        except AbsentError as error:
            why[contestant.name] = str(error)
    why |= in_turns(list(programs.values()), runs)
    if US.name in why:
        sys.exit(f"{US.name} {why[US.name]}")
    ours, rows = programs[US.name], []
    for contestant in CONTESTANTS:
        if contestant.name in why:
            rows.append((contestant.name, contestant.version, contestant.way, *["-"] * 7,
                         why[contestant.name], "-"))  # fmt: skip
            continue
        program = programs[contestant.name]
        wanted = reference.trades(given.first(program.job.ticks), work.fast, work.slow)
        rows.append(line(program, ours.ticks_per_s, wanted))
        print(*rows[-1], sep="  ", flush=True)
    return table(HEAD, rows), ", ".join(files)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.backtesters", description=__doc__)
    parser.add_argument("--ticks", type=int, default=TICKS, help=f"at most (default: {TICKS:,})")
    parser.add_argument("--runs", type=int, default=RUNS, help="behind a first one (default: 3)")
    parser.add_argument("--fast", type=int, default=FAST, help=f"ticks (default: {FAST:,})")
    parser.add_argument("--slow", type=int, default=SLOW, help=f"ticks (default: {SLOW:,})")
    parser.add_argument("--folder", type=Path, help="keep the packages here")
    chosen = parser.parse_args(arguments)
    least = round((chosen.slow + 1) / min(contestant.share for contestant in CONTESTANTS))
    if not 0 < chosen.fast < chosen.slow or chosen.ticks < least:
        parser.error(f"give means of which one is slower, and {least:,} ticks or more for them")
    given, told = quotes(chosen.ticks)
    with tempfile.TemporaryDirectory() as folder:
        write(given, Path(folder))
        work = Job(Path(folder), len(given), chosen.fast, chosen.slow)
        environments = chosen.folder or cache_root() / "peers"
        found, files = compared(environments.absolute(), given, work, chosen.runs)
    about = ABOUT.format(fast=chosen.fast, slow=chosen.slow, ticks=f"{len(given):,} {told}")
    how = f"One process each, in turns on one core, median of {chosen.runs} runs after a first one."
    parts = about, found, FIGURES.format(files=files)
    write_results("backtesters", "Our backtester beside others", *parts, how=how)


if __name__ == "__main__":
    main()
