"""Worlds from seeds: terminals, strangers, a user, a disk and a clock around the daemon's own code.

    python -m benchmarks.world [--seeds 100] [--seed 1] [--processes 2] [--again] [--faults]

One seed is one run, always the same: everything happens in one thread, in simulated time. Each
world has its own odds for lost connections, programs that begin anew, changed accounts, kill
switches (that of all, those of rule files), orders, rule files that are changed, read again,
stopped and loaded, also the main one and while others warm up, strangers with valid frames of
extreme values, a clock that is set and a machine that sleeps; in each of its daemon's lives the
disk may fail, be full, or the process ends at any write, with the power or without. Threads that
write are interrupted before a sync and behind it, rules that warm up at any group that they read,
and all else goes on meanwhile, or ends; in some worlds so little is kept for such rules that they
read on from the spool. At the end everything heals, and then:

* what was called stored is stored, once and in order, and everything else was sent again;
* no order is executed twice, none that was refused, none at another account than it was meant for;
* what the journal of orders says is what the broker did, within the limits of the settings;
* nothing that opens is sent while a kill switch is on, but behind the word of it;
* rules act on no record that was stored while they were stopped, and are those of their file;
* the files of rows are, byte for byte, what a new run makes of the spool;
* nothing was left open, no session failed, no thread, and nobody has waited in vain.

A world in which one of it does not is told with its last events. What is done is kept in
`.cache/world.jsonl`, so that a run that was broken off goes on; it counts as long as the code is
the same. A single seed is always run. With --faults the defects of `tests/world/faults.py` are
planted, one after another, and the first world that tells of each is named.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
from collections import Counter
from time import process_time

from loguru import logger
from rich.console import Console

from benchmarks.machine import describe
from benchmarks.processes import side_by_side
from benchmarks.world_kept import DONE, Outcome, code_digest, keep, kept
from cep.cli.progress import progress
from tests.world.faults import FAULTS, RARE
from tests.world.hunt import Found, hunt
from tests.world.runs import repeated_by, run_seed

HANGS_S = 600
"""A world takes a second; whatever takes this long never ends."""
_ROWS = {
    "lives": "ends of a daemon before its last",
    "power losses": "of them with the power",
    "connections": "connections that greeted",
    "hang_up": "connections lost",
    "begin": "programs begun anew",
    "switch": "logins to another account",
    "rules": "changes of a rule file",
    "turn_rules": "a rule file stopped or loaded",
    "loaded": "of them loaded again, and warm",
    "warm-ups": "warm-ups interrupted at a group",
    "halt": "turns of the kill switch",
    "halt_rules": "turns of that of a rule file",
    "order": "orders of a user",
    "interrupted": "turns of a thread interrupted at a sync",
    "jump": "a clock set",
    "sleep": "a machine asleep",
    "stranger": "sayings of strangers",
    "ticks": "ticks taken",
    "deals": "deals taken",
    "signal_results": "results of signals and orders",
}


def one(seed: int) -> Outcome:
    """A world, and what it took."""
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    began_s = process_time()
    record = run_seed(seed)
    faulthandler.cancel_dump_traceback_later()
    return Outcome.of(seed, record, process_time() - began_s)


def run(seeds: range, processes: int, *, again: bool = False) -> list[Outcome]:
    """All worlds but those that are done."""
    code = code_digest()
    known = {} if again else kept(DONE, code)
    found = [known[seed] for seed in seeds if seed in known]
    missing = [seed for seed in seeds if seed not in known]
    with progress("worlds", len(seeds), "worlds", Console(stderr=True)) as bar:
        bar.advance(len(found))
        for seed, outcome in side_by_side(one, missing, processes):
            keep(DONE, code, outcome)
            found.append(outcome)
            if outcome.problems:
                print(f"{repeated_by(seed)}: {outcome.problems}", file=sys.stderr, flush=True)
            bar.advance(1)
    return sorted(found, key=lambda outcome: outcome.seed)


def table(outcomes: list[Outcome]) -> str:
    """The result as Markdown."""
    counts: Counter[str] = Counter()
    for outcome in outcomes:
        counts.update(outcome.counts)
    bad = sum(bool(outcome.problems) for outcome in outcomes)
    rows = [f"| worlds | {len(outcomes):,} |"]
    rows += [f"| {text} | {counts[name]:,} |" for name, text in _ROWS.items()]
    seconds = sum(outcome.cpu_s for outcome in outcomes)
    rows += [f"| worlds with problems | {bad} |", f"| seconds of a processor | {seconds:,.0f} |"]
    return "\n".join(["| | |", "|---|---:|", *rows]) + "\n"


def find_faults(seeds: range, processes: int) -> int:
    """Print which world tells of each planted fault."""
    print(describe(), "\n| planted | found by world | it says |", "|---|---:|---|", sep="\n")
    missed = 0
    hunts = ((name, seeds) for name in (*FAULTS, *RARE))
    for (name, _), found in side_by_side(_hunted, hunts, processes):
        missed += found is None and name in FAULTS
        told = (found.seed, found.problem.replace("|", "/")) if found else ("none", "")
        print(f"| {name} | {told[0]} | {told[1]} |", flush=True)
    return 1 if missed else 0


def _hunted(wanted: tuple[str, range]) -> Found | None:
    return hunt(*wanted)


def main() -> int:
    """Run, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="how many, from --seed on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="forget what is done")
    parser.add_argument("--faults", action="store_true", help="how many worlds find planted ones")
    options = parser.parse_args()
    logger.remove()
    seeds = range(options.seed, options.seed + options.seeds)
    if options.faults:
        return find_faults(seeds, options.processes)
    is_one = len(seeds) == 1
    outcomes = [one(seeds[0])] if is_one else run(seeds, options.processes, again=options.again)
    print(describe(), table(outcomes), sep="\n\n", end="")
    bad = [outcome for outcome in outcomes if outcome.problems]
    for outcome in bad:
        told = (f"problem: {text}" for text in outcome.problems)
        print(f"\n`{repeated_by(outcome.seed)}`:", *outcome.events, *told, sep="\n    ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
