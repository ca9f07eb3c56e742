"""The proof of the terminal's side: what the tick base and the broker hold is in the archive, once.

    python -m benchmarks.chaos [--seeds 100] [--first 1] [--ticks 200000] [--again] > chaos.md

For every seed the real publisher EA, compiled from its MQL5 sources, runs on the emulated terminal
over recorded ticks of three symbols: up to six ticks in a millisecond, one OnTick in three skipped,
late ticks, CopyTicks that times out, connections that are refused and cut, short writes. The
daemon is killed with SIGKILL and started again, with every third seed the terminal as well; the
EA begins again for reasons drawn from all that OnDeinit knows, the terminal logs in to another
account and back, and with every second seed files cannot be opened, moved, deleted or written for
a while. Then the archive is compared byte for byte
with the terminal's tick base and with the broker's deals, and Spark counts it. What is done is kept
in `.cache/chaos.jsonl`, so that a run that was broken off goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from benchmarks.chaos_proof import deal_problems, late, part_problems, tick_problems
from benchmarks.chaos_run import Chaos, Outcome
from benchmarks.machine import describe
from benchmarks.measure import FOLDER, table
from cep.archive import Archive
from cep.cli.progress import progress
from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.terminal.sources import source_files, sources_folder
from tests.live.service import archived

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEAD = """# Chaos

The publisher EA, compiled from its MQL5 sources, on the emulated terminal; the daemon killed with
SIGKILL and started again, with every third seed the terminal, too; the EA begun again for reasons
of OnDeinit, the terminal logged in to another account and back, files that fail; the archive
compared byte for byte with the terminal's tick base and with the broker's deals, and counted by
Spark.
"""
DONE = FOLDER.parent / ".cache" / "chaos.jsonl"


def prove(folder: Path, seed: int, ticks: int, spark: SparkSession) -> Outcome:
    """One seed: play, then compare."""
    chaos = Chaos(folder, seed, ticks)
    terminal = chaos.run()
    try:
        archive = archived(chaos.settings)
    except AssertionError as error:
        chaos.outcome.problems.append(f"the archive is not whole: {error}")
        return chaos.outcome
    chaos.outcome.problems += examined(chaos, terminal, archive, spark)
    return chaos.outcome


def examined(
    chaos: Chaos, terminal: EmulatedTerminal, archive: Archive, spark: SparkSession
) -> Iterator[str]:
    """What is wrong with an archive; the outcome gets its numbers."""
    outcome, names = chaos.outcome, chaos.names
    bases = {name: terminal.tick_base(name) for name in chaos.market.ticks}
    for name, base in bases.items():
        yield from tick_problems(archive, names.first, name, base)
        come = chaos.market.ticks[name]
        yield from part_problems(archive, names.other, name, base, come)
        outcome.ticks += len(base)
        outcome.late += late(archive, names.first, name)
    for source, log in ((names.first, "broker.log"), (names.other, names.log)):
        made = read_broker_log(terminal.folder / log).revisions
        outcome.deals += len(np.unique(made["ticket"]))
        yield from deal_problems(archive, source, made)
        counts = spark_counts(spark, archive, "deals", source)
        outcome.revisions += sum(count for count, *_ in counts.values())
    counted = spark_counts(spark, archive, "ticks", names.first)
    for name, base in bases.items():
        if counted.get(name) != (len(base), len(base), 1, len(base)):
            yield f"{name}: Spark counts {counted.get(name)}, the tick base holds {len(base):,}"


def spark_counts(
    spark: SparkSession, archive: Archive, stream: str, source: str
) -> dict[str, tuple[int, int, int, int]]:
    """By symbol: rows, different sequence numbers, the first and the last one, by Spark."""
    from pyspark.sql import functions as f

    paths = [str(archive.path(file)) for file in archive.files(stream)]
    if not paths:
        return {}
    seq = f.col("seq")
    rows = (
        spark.read.option("basePath", str(archive.directory / stream))
        .parquet(*paths)
        .filter(f.col("source") == source)
        .groupBy("symbol")
        .agg(f.count("*"), f.countDistinct(seq), f.min(seq), f.max(seq))
        .collect()
    )
    return {str(name): tuple(numbers) for name, *numbers in rows}


def sources_digest() -> str:
    """Results hold for these MQL5 sources, and for this proof, only."""
    folder = sources_folder()
    files = [folder / path for path in source_files(folder)] + sorted(FOLDER.glob("chaos*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


class Kept(msgspec.Struct):
    """A line of the file of what is done."""

    sources: str
    ticks: int
    outcome: Outcome


def kept(ticks: int) -> dict[int, Outcome]:
    """Outcomes of earlier runs with these sources, by seed."""
    if not DONE.is_file():
        return {}
    lines = [msgspec.json.decode(line, type=Kept) for line in DONE.read_bytes().splitlines()]
    digest = sources_digest()
    return {
        one.outcome.seed: one.outcome
        for one in lines
        if (one.sources, one.ticks) == (digest, ticks)
    }


def keep(ticks: int, outcome: Outcome) -> None:
    DONE.parent.mkdir(exist_ok=True)
    with DONE.open("ab") as file:
        file.write(msgspec.json.encode(Kept(sources_digest(), ticks, outcome)) + b"\n")


def run(seeds: Iterable[int], ticks: int, done: dict[int, Outcome]) -> list[Outcome]:
    """All seeds, those that are done left out; one Spark session for all."""
    from cep.spark.session import session

    wanted = list(seeds)
    found = [done[seed] for seed in wanted if seed in done]
    with session("local[2]") as spark, progress("chaos", len(wanted), unit="seeds") as bar:
        bar.advance(len(found))
        for seed in [seed for seed in wanted if seed not in done]:
            with tempfile.TemporaryDirectory() as folder:
                outcome = prove(Path(folder), seed, ticks, spark)
            keep(ticks, outcome)
            found.append(outcome)
            for problem in outcome.problems:
                print(f"seed {seed}: {problem}", file=sys.stderr)
            bar.advance(1)
    return sorted(found, key=lambda outcome: outcome.seed)


def report(outcomes: list[Outcome]) -> str:
    """The table of a run."""
    names = [name for name in Outcome.__slots__ if name not in ("seed", "recorded", "problems")]
    totals = {name: sum(getattr(one, name) for one in outcomes) for name in names}
    totals["most_in_a_ms"] = max(one.most_in_a_ms for one in outcomes)
    rows = [
        ["seeds", len(outcomes)],
        ["seeds with a problem", sum(bool(o.problems) for o in outcomes)],
    ]
    rows += [[name.replace("_", " "), f"{value:,.0f}"] for name, value in totals.items()]
    source = "recorded" if all(one.recorded for one in outcomes) else "made-up"
    problems = [f"* seed {one.seed}: {problem}" for one in outcomes for problem in one.problems]
    return "\n\n".join([f"The ticks are {source}.", table(["", "all seeds"], rows), *problems])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--ticks", type=int, default=200_000)
    parser.add_argument("--again", action="store_true", help="forget what is done")
    options = parser.parse_args()
    done = {} if options.again else kept(options.ticks)
    outcomes = run(range(options.first, options.first + options.seeds), options.ticks, done)
    print("\n".join([HEAD, report(outcomes), "", describe()]))
    sys.exit(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    main()
