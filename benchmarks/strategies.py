"""The rule files of `strategies/` over recorded ticks: our engine, and the queries on databases.

`python -m benchmarks.strategies [ROWS]`: all ticks of EURUSD and XAUUSD beside the repository, or
so many; after every 50th a fill. The output is compared byte by byte.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.jepc_engines import DATABASES, Urls, databases
from benchmarks.measure import seconds, table, write_results
from cep.database.dialects import DIALECTS
from cep.engine.native import Compiled
from cep.hybrid import parts
from cep.hybrid.replay import Hybrid
from cep.plan import Plan
from cep.replay import Source, replay
from tests.data.real_ticks import FOLDER
from tests.strategies.running import REAL, STRATEGIES, plan_of, real_sources

SHOWN = 12
WARM_UP = 100


class Output:
    """Lines of output as their number and a checksum, and the seconds they took."""

    def __init__(self, lines: Iterable[list[bytes]]) -> None:
        self.count = 0
        self._digest = hashlib.sha256()
        self.taken_s = seconds(lambda: self._take(lines))

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def _take(self, batches: Iterable[list[bytes]]) -> None:
        for lines in batches:
            self.count += len(lines)
            self._digest.update(b"\n".join([*lines, b""]))


def native(plan: Plan, sources: Sequence[Source]) -> Output:
    """Our engine alone; its code is compiled before the clock starts."""
    compiled = Compiled(plan)
    compiled.start().warm_up()
    return Output(list(rows.json_lines()) for rows in replay(compiled, list(sources)))


def on_database(plan: Plan, sources: Sequence[Source], url: str) -> Output:
    """Queries on a database, the rest behind it."""
    run = Hybrid(plan, url)
    try:
        return Output(run.replay(sources))
    finally:
        run.close()


def lines(name: str, rows: int | None, urls: Urls) -> Iterator[list[str]]:
    """Rows of the table for one rule file; AssertionError where the output differs."""
    plan = plan_of(name, **REAL)
    sources = real_sources(plan, rows)
    total = sum(len(source.order) for source in sources)
    expected = native(plan, sources)
    what = [name, f"{total:,}", f"{expected.count:,}", expected.digest[:SHOWN]]
    yield [*what, "native", "-", f"{total / expected.taken_s:,.0f}"]
    for database in DATABASES:
        queries = parts(plan, DIALECTS[database]).database.queries
        on_database(plan, real_sources(plan, WARM_UP), urls[database])  # compiles what is behind it
        found = on_database(plan, sources, urls[database])
        same = (found.count, found.digest) == (expected.count, expected.digest)
        assert same, f"{name} on {database}: {found.count:,} lines, {expected.count:,} expected"
        of = len(plan.queries)
        ran = f"{len(queries)} of {of}"
        yield ["", "", "", "the same", database, ran, f"{total / found.taken_s:,.0f}"]


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
    head = ["rules", "rows in", "lines out", "checksum", "engine", "queries on it", "rows in/s"]
    write_results(
        "strategies", "Rule files on four engines", table(head, found), how="One run each."
    )


if __name__ == "__main__":
    main()
