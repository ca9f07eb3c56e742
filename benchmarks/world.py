"""Worlds from seeds: terminals, strangers, a user, a disk and a clock around the daemon's own code.

    python -m benchmarks.world [--seeds 100] [--seed 1] [--faults]

One seed is one run, always the same: everything happens in one thread, in simulated time. Each
world has its own odds for lost connections, programs that begin anew, changed accounts, halts,
orders, changed and stopped rule files, strangers with valid frames of extreme values, a clock that
is set and a machine that sleeps; in each of its daemon's lives the disk may fail, be full, or the
process ends at any write, with the power or without. Threads that write are interrupted before a
sync and behind it, and all else goes on meanwhile, or ends. At the end everything heals, and then:

* what was called stored is stored, once and in order, and everything else was sent again;
* no order is executed twice, none that was refused, none at another account than it was meant for;
* what the journal of orders says is what the broker did, within the limits of the settings;
* the files of rows are, byte for byte, what a new run makes of the spool;
* nothing was left open, no session failed, no thread, and nobody has waited in vain.

A world in which one of it does not is told with its last events. With --faults the defects of
`tests/world/faults.py` are planted, one after another, and the first world that tells of each is
named.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from loguru import logger
from rich.console import Console
from rich.progress import track

from benchmarks.machine import describe
from mt5bridge.clock import monotonic_ms
from tests.world.faults import FAULTS, RARE
from tests.world.hunt import hunt
from tests.world.runs import repeated_by, run_seed

_ROWS = {
    "lives": "ends of a daemon before its last",
    "power losses": "of them with the power",
    "connections": "connections that greeted",
    "hang_up": "connections lost",
    "begin": "programs begun anew",
    "switch": "logins to another account",
    "rules": "changes of a rule file",
    "turn_rules": "a rule file stopped or loaded",
    "halt": "turns of the kill switch",
    "order": "orders of a user",
    "interrupted": "turns of a thread interrupted at a sync",
    "jump": "a clock set",
    "sleep": "a machine asleep",
    "stranger": "sayings of strangers",
    "ticks": "ticks taken",
    "deals": "deals taken",
    "signal_results": "results of signals and orders",
}


def run(seeds: range) -> tuple[Counter[str], dict[int, list[str]]]:
    """All worlds; what happened in them, and the last events of those with problems."""
    counts: Counter[str] = Counter()
    bad: dict[int, list[str]] = {}
    console = Console(stderr=True)
    for seed in track(seeds, "worlds", console=console, transient=True):
        record = run_seed(seed)
        counts.update(record.counts)
        if record.problems:
            bad[seed] = [*record.last, *(f"problem: {text}" for text in record.problems)]
    return counts, bad


def table(seeds: int, counts: Counter[str], bad: int, seconds: float) -> str:
    """The result as Markdown."""
    rows = [f"| worlds | {seeds:,} |"]
    rows += [f"| {text} | {counts[name]:,} |" for name, text in _ROWS.items()]
    rows += [f"| worlds with problems | {bad} |", f"| seconds | {seconds:.0f} |"]
    return "\n".join(["| | |", "|---|---:|", *rows]) + "\n"


def find_faults(seeds: range) -> int:
    """Print which world tells of each planted fault."""
    print(describe(), "\n| planted | found by world | it says |", "|---|---:|---|", sep="\n")
    missed = 0
    for name in (*FAULTS, *RARE):
        found = hunt(name, seeds)
        missed += found is None and name in FAULTS
        told = (found.seed, found.problem.replace("|", "/")) if found else ("none", "")
        print(f"| {name} | {told[0]} | {told[1]} |", flush=True)
    return 1 if missed else 0


def main() -> int:
    """Run, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="how many, from --seed on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="how many worlds find planted ones")
    options = parser.parse_args()
    logger.remove()
    began_ms = monotonic_ms()
    seeds = range(options.seed, options.seed + options.seeds)
    if options.faults:
        return find_faults(seeds)
    counts, bad = run(seeds)
    seconds = (monotonic_ms() - began_ms) / 1_000
    print(describe(), table(options.seeds, counts, len(bad), seconds), sep="\n\n", end="")
    for seed, events in bad.items():
        print(f"\n`{repeated_by(seed)}`:", *events, sep="\n    ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
