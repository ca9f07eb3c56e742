"""How many processes run a backtest, where nobody says it: several where that is surely faster.

A pool of processes does what Spark on this machine does, without starting a JVM, so Spark is for
those who name a master.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from cep.backtest.parts import slice_rows_for
from cep.backtest.selection import Selection
from cep.backtest.sequential import sequential
from cep.backtest.slices import SLICE_ROWS, cuts
from cep.engine.machine import library
from cep.engine.native import Compiled
from cep.functions import loaded_files

ROWS_MIN = 500_000
"""Fewer records are done by one process before it is known how fast that is."""
SAMPLE_SHARE, SAMPLE_ROWS_MAX = 100, 400_000
"""The first of all records are run twice, the second time by the clock: at most 2 % of the work."""
POOL_PAYS_SECONDS = 20.0
"""Of one process's work. Processes take some 3 s to start, and may compile what one need not."""


class Choice(NamedTuple):
    """So many processes, and why."""

    jobs: int
    why: str


def chosen(
    rules: Compiled, selection: Selection, cores: int, monotonic_ns: Callable[[], int]
) -> Choice:
    """What is faster for rules that can be run in parts (`cep.backtest.divided.why_whole`)."""
    if cores < 2:
        return Choice(1, "there is one core")
    if selection.rows < ROWS_MIN:
        return Choice(1, f"several pay from {ROWS_MIN:,} records, these are {selection.rows:,}")
    if rules.jit and not library.CODE.is_ready:
        return Choice(1, "there is no machine code yet, and others would wait for it")
    seconds = estimated_seconds(rules, selection, monotonic_ns)
    about = f"the first records tell of about {seconds:,.0f} s of work for one process"
    if seconds < POOL_PAYS_SECONDS:
        return Choice(1, f"{about}; several pay from {POOL_PAYS_SECONDS:.0f} s")
    return Choice(cores, about)


def pays_apart(rules: Compiled, selection: Selection) -> bool:
    """Whether one process had better run one symbol of history after the other, rules that can be
    run so: to read all in turn costs as much as the rules do.

    What comes out of each is kept in files until all are done, so rows have to be few; and nobody
    waits for the compiler, as the rules apart are other code: that is made for the next run.
    Functions of the user are called in the order of the records.
    """
    is_short = len(selection.symbols) < 2 or selection.rows < ROWS_MIN
    if is_short or selection.is_lived or loaded_files():
        return False
    if slice_rows_for(rules, "sorted") != SLICE_ROWS:
        return False
    made = [_is_made(part, selection.rows) for part in rules.in_parts("sorted") if part is not None]
    return all(made)


def _is_made(part: Compiled, rows: int) -> bool:
    """Whether nothing is to be compiled for a run of so many rows; else it is for the next."""
    if not part.jit:
        return True
    code = library.CODE if part.module is None else part.module.code
    if code is None or code.is_ready:
        return True
    code.order(rows)
    return False


def estimated_seconds(
    rules: Compiled, selection: Selection, monotonic_ns: Callable[[], int]
) -> float:
    """How long one process would take, as the first records tell; what is compiled is left out."""
    sample = beginning(selection, min(SAMPLE_ROWS_MAX, selection.rows // SAMPLE_SHARE))
    _run(rules, sample)
    before_ns = monotonic_ns()
    done = _run(rules, sample)
    return (monotonic_ns() - before_ns) / 1e9 * selection.rows / max(1, done)


def beginning(selection: Selection, rows: int) -> Selection:
    """About so many of the first records of one symbol, the one that has most of them.

    Files are read whole, so the first records of many symbols would cost as much as all of these.
    """
    own = max(selection.by_symbol().values(), key=lambda one: one.rows, default=selection)
    found = cuts(own.files, max(1, rows))
    if not found:
        return own
    files = tuple(file for file in own.files if file.first_ingest < found[0])
    return msgspec.structs.replace(own.until(found[0] - 1), files=files)


def cores_here() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(rules: Compiled, selection: Selection) -> int:
    """How many records there are; what rules make of them is thrown away."""
    done = 0

    def passed(n: int) -> None:
        nonlocal done
        done += n

    for _ in sequential(rules, selection, passed):
        pass
    return done
