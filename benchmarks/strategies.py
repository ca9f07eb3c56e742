"""The rule files of `strategies/` over recorded ticks, by everything that can run them.

`python -m benchmarks.strategies [ROWS]`: all ticks of EURUSD and XAUUSD beside the repository, or
so many; after every 50th a fill. Output is compared byte by byte, and with it what was dropped.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.jepc_engines import DATABASES, Urls, databases
from benchmarks.measure import seconds, table, write_results
from cep.database.dialects import DIALECTS
from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.fragments.replay import DatabaseReplay
from cep.fragments.split import split
from cep.interpreter.run import InterpretedRun
from cep.plan import Plan
from cep.replay import Source, replay, replay_interpreted
from cep.spark.replay import replay_on_spark
from cep.spark.session import session
from tests.data.real_ticks import FOLDER
from tests.strategies.running import REAL, STRATEGIES, plan_of, real_sources

SHOWN = 12
WARM_UP = 100


class Output:
    """Lines of output as their number and a checksum, what was dropped, and the seconds it took."""

    def __init__(self, lines: Iterable[list[bytes]], dropped: Callable[[], Dropped]) -> None:
        self.count = 0
        self._digest = hashlib.sha256()
        self.taken_s = seconds(lambda: self._take(lines))
        self.dropped = dropped()

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def is_that_of(self, other: Output) -> bool:
        """Whether it is the same, byte by byte, and the same was dropped."""
        return (self.digest, self.dropped) == (other.digest, other.dropped)

    def _take(self, batches: Iterable[list[bytes]]) -> None:
        for lines in batches:
            self.count += len(lines)
            self._digest.update(b"".join(line + b"\n" for line in lines))


def native(plan: Plan, sources: Sequence[Source], *, jit: bool = True) -> Output:
    """Our engine alone; its code is compiled before the clock starts."""
    compiled, told = Compiled(plan, jit=jit), list[Dropped]()
    compiled.start().warm_up()
    found = replay(compiled, list(sources), ended=told.append)
    return Output((list(rows.json_lines()) for rows in found), lambda: told[0])


def plain(plan: Plan, sources: Sequence[Source]) -> Output:
    """The same code, not compiled."""
    return native(plan, sources, jit=False)


def interpreted(plan: Plan, sources: Sequence[Source]) -> Output:
    """The interpreter, which says what rules mean."""
    run, encode = InterpretedRun(plan), msgspec.json.Encoder().encode
    found = replay_interpreted(run, list(sources))
    return Output(([encode(row) for row in rows] for rows in found), lambda: run.dropped)


def on_spark(plan: Plan, sources: Sequence[Source]) -> Output:
    """A key at a time in tasks of Spark, as far as the rules run so."""
    told = list[Dropped]()
    rules = Compiled(plan)
    with TemporaryDirectory() as folder, session("local[2]") as spark:
        found = replay_on_spark(spark, rules, list(sources), Path(folder), ended=told.append)
        return Output((list(rows.json_lines()) for rows in found), lambda: told[0])


def on_database(plan: Plan, sources: Sequence[Source], url: str) -> Output:
    """Queries on a database, the rest behind it."""
    with closing(DatabaseReplay(plan, url)) as run:
        return Output(run.replay(sources), lambda: run.dropped)


WAYS = {"plain": plain, "interpreter": interpreted, "spark": on_spark}


def lines(name: str, rows: int | None, urls: Urls) -> Iterator[list[str]]:
    """Rows of the table for one rule file; AssertionError where the output differs."""
    plan = plan_of(name, **REAL)
    sources = real_sources(plan, rows)
    total = sum(len(source.order) for source in sources)
    expected = native(plan, sources)
    dropped = sum(count for _, _, count in expected.dropped)
    what = [name, f"{total:,}", f"{expected.count:,}", f"{dropped:,}", expected.digest[:SHOWN]]
    yield [*what, "native", "-", f"{total / expected.taken_s:,.0f}"]
    for way, found in _others(plan, sources, urls):
        assert found.is_that_of(expected), f"{name}, {way}: {found.count:,} lines, not the same"
        ran = "-"
        if way in DATABASES:
            queries = split(plan, DIALECTS[way]).front.queries
            ran = f"{len(queries)} of {len(plan.queries)}"
        yield ["", "", "", "", "the same", way, ran, f"{total / found.taken_s:,.0f}"]


def _others(plan: Plan, sources: Sequence[Source], urls: Urls) -> Iterator[tuple[str, Output]]:
    for way, run in WAYS.items():
        yield way, run(plan, sources)
    for database in DATABASES:
        on_database(plan, real_sources(plan, WARM_UP), urls[database])  # compiles what is behind it
        yield database, on_database(plan, sources, urls[database])


def main() -> None:
    if not FOLDER.is_dir():
        sys.exit(f"recorded ticks are not at {FOLDER}")
    rows = int(sys.argv[1]) if sys.argv[1:] else None
    found = []
    with databases() as urls:
        for name in STRATEGIES:
            for line in lines(name, rows, urls):
                print(*line, flush=True)
                found.append(line)
    head = [
        "rules",
        "rows in",
        "lines out",
        "dropped",
        "checksum",
        "engine",
        "queries on it",
        "rows in/s",
    ]
    write_results(
        "strategies", "Rule files on every engine", table(head, found), how="One run each."
    )


if __name__ == "__main__":
    main()
