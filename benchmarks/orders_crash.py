"""Orders and crashes: never a double execution, never a lost report.

    python -m benchmarks.orders_crash [--points 1000] [--seed 1] [--each 20] [--workers 2]

The trader EA runs on the emulated terminal against a real server with the daemon's order desk. At
each point the terminal ends at a random effect outside (a file flushed, bytes sent, an order
accepted, a deal made), or the server does (a record journalled, a sync, a frame sent, a result
received), or both. On the way the EA begins again for each reason that OnDeinit knows, half of the
worlds log in to another account and back, with requests for both, files cannot be opened, moved,
deleted or written for a while, and a terminal may not be logged in at first. The network cuts and
shortens writes, the broker fills in parts, answers timeouts for what it has executed and
loses requests, and what was under way in a crash is executed or lost. At the end of each world of
`--each` points the broker's own log is held against the server's journal: at most one order for
each id, exactly one final result, told fills = deals.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from loguru import logger
from rich.console import Console
from rich.progress import track

from benchmarks.machine import describe
from benchmarks.orders_world import Account, World, worlds
from mt5bridge.clock import monotonic_ms

_REQUESTS_A_POINT = 5  # about 3 come to something between two crashes; the rest is the end's
HEAD = """# Orders and crashes

The trader EA on the emulated terminal and a real server with the daemon's order desk, each ended at
random effects between signal, send, execution and report, begun again for each reason of OnDeinit,
logged in to another account and back, with files that fail; the broker's own log held against the
server's journal: at most one order for each id, one final result, told fills = deals.
"""
_ROWS = {
    "points": "crash points",
    "terminal_crashes": "of the terminal",
    "server_crashes": "of the server",
    "both": "of both",
    "reinitialisations": "the trader begun again, for each reason of OnDeinit",
    "account_switches": "logins to the other account and back",
    "file_failures": "files that could not be opened, moved, deleted or written",
    "requests": "signals and orders",
    "executed": "executed in full",
    "cancelled": "executed in part, the rest cancelled",
    "expired": "expired",
    "rejected": "rejected",
    "not_found": "of these, in doubt and not found at the broker",
    "unknown": "asked about only and never seen by the terminal",
    "deals": "deals",
}


def run_world(folder: Path, seed: int, points: int) -> Account:
    """One world; its folder is kept when something is wrong."""
    account = World(folder, seed, points, _REQUESTS_A_POINT * points).run()
    account.problems = [f"seed {seed}: {problem}" for problem in account.problems]
    return account


def run(points: int, seed: int, each: int, workers: int, folder: Path) -> Account:
    """All worlds, `workers` at a time."""
    total = Account()
    plan = list(worlds(points, each, seed))
    with ThreadPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(run_world, folder / f"world_{number}", number, count)
            for number, count in plan
        ]
        for job in track(jobs, "worlds", console=Console(stderr=True), transient=True):
            total.add(job.result())
    return total


def table(total: Account, seconds: float) -> str:
    """The result as Markdown."""
    rows = [f"| {text} | {getattr(total, name):,} |" for name, text in _ROWS.items()]
    rows += [f"| problems | {len(total.problems)} |", f"| seconds | {seconds:.0f} |"]
    return "\n".join(["| | |", "|---|---:|", *rows]) + "\n"


def main() -> int:
    """Run, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=20, help="points a world")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="keep the worlds here")
    options = parser.parse_args()
    logger.remove()
    began_ms = monotonic_ms()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        total = run(options.points, options.seed, options.each, options.workers, folder)
    print(HEAD, describe(), table(total, (monotonic_ms() - began_ms) / 1_000), sep="\n", end="")
    for problem in total.problems:
        print(f"- {problem}")
    return 1 if total.problems else 0


if __name__ == "__main__":
    sys.exit(main())
