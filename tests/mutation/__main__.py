"""How many small faults the tests notice: `python -m tests.mutation [--group NAME ..] [--jobs N]`.

Faults are the same every time as long as the functions are. Which tests run a line is measured
first and kept in .cache/mutation; `--again` measures it anew. Faults that change no answer stand in
equivalent.toml, each with its reason. The exit code is 1 when fewer than nine in ten of the others
were noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import count
from pathlib import Path

from tests.mutation.groups import GROUPS, Group
from tests.mutation.mutants import Mutant, chosen
from tests.mutation.trial import SURVIVED, UNTESTED, copied

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "mutation"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
WANTED = 0.9


def worker(verb: str, group: Group, tree: Path, told: object) -> subprocess.Popen[str]:
    """A process that measures or tries, with what it is told on its standard input."""
    command = [sys.executable, "-m", "tests.mutation.trial", verb, str(tree)]
    process = subprocess.Popen(
        [*command, str(KEPT / f"{group.name}.json")],
        cwd=ROOT,
        env=os.environ | group.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if verb == "try" else None,
        text=True,
    )
    assert process.stdin is not None
    with process.stdin:
        json.dump(told, process.stdin)
    return process


def measured(group: Group, tree: Path) -> None:
    """Have the group's tests measured."""
    told = {"modules": group.paths(tree), "tests": list(group.tests)}
    if worker("measure", group, tree, told).wait():
        sys.exit(f"{group.name}: its tests could not be measured")


def tried(group: Group, trees: list[Path], mutants: list[Mutant]) -> dict[str, str]:
    """What became of each fault, several at a time."""
    outcomes: dict[str, str] = {}
    places = count(1)

    def listen(tree: Path, mine: list[Mutant]) -> None:
        process = worker("try", group, tree, [asdict(mutant) for mutant in mine])
        assert process.stdout is not None
        for line in process.stdout:
            name, outcome = json.loads(line)
            if not name:
                assert outcome == SURVIVED, f"{group.name}: tests fail without a fault"
                continue
            outcomes[name] = outcome
            print(f"{group.name} {next(places)}/{len(mutants)} {outcome:<9} {name}", flush=True)
        assert process.wait() == 0, f"{group.name}: a worker failed"

    with ThreadPoolExecutor(len(trees)) as pool:
        parts = [mutants[place :: len(trees)] for place in range(len(trees))]
        list(pool.map(listen, trees, parts))
    return outcomes


def reasons() -> dict[str, str]:
    """Why faults that change no answer change none, by name."""
    found = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {one["fault"]: one["reason"] for one in found.get("equivalent", [])}


def report(results: dict[str, dict[str, str]]) -> bool:
    """Print what was found; whether it is enough."""
    known, total = reasons(), Counter[str]()
    print("\n| modules | faults | equivalent | noticed | survived |\n|---|---|---|---|---|")
    survivors: list[str] = []
    for group, outcomes in results.items():
        own = {name: outcome for name, outcome in outcomes.items() if name not in known}
        left = [name for name, outcome in own.items() if outcome in (SURVIVED, UNTESTED)]
        survivors += [f"{own[name]}: {name}" for name in left]
        row = {"faults": len(outcomes), "own": len(own), "noticed": len(own) - len(left)}
        total.update(row)
        print(f"| {group} | {row['faults']} | {row['faults'] - row['own']} | {row['noticed']}"
              f" | {len(left)} |")  # fmt: skip
    share = total["noticed"] / max(1, total["own"])
    print(f"\n{total['noticed']} of {total['own']} faults noticed: {share:.1%}\n")
    print("\n".join(survivors))
    return share >= WANTED


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [group.name for group in GROUPS]
    parser.add_argument("--group", action="append", choices=names, help="default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument("--again", action="store_true", help="measure anew which tests run a line")
    parser.add_argument("--more", type=float, default=1.0, help="so many times as many faults")
    told = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        trees = [copied(ROOT, Path(folder) / str(place)) for place in range(told.jobs)]
        for group in GROUPS:
            if told.group and group.name not in told.group:
                continue
            if told.again or not (KEPT / f"{group.name}.json").exists():
                measured(group, trees[0])
            mutants = chosen(trees[0], group.paths(trees[0]), round(group.count * told.more))
            results[group.name] = tried(group, trees, mutants)
    if not report(results):
        sys.exit(1)


if __name__ == "__main__":
    main()
