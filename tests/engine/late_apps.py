"""Hypothesis strategies: apps of windows by time and of what looks into them, and late rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine.input_rows import InputRows
from cep.engine.native import Run

Row = tuple[str, int, dict[str, str | float | int | None]]
START_MS = 1_600_000_000_000
MS = (3, 5, 9, 14, 30)
COLUMNS = "who string, x double, n int, v long"
MEASURES = ("sum(n)", "avg(x)", "min(x)", "max(x)", "min(n)", "max(v)", "stdDev(x)", "count()")
FILTERS = ("", "", "[n > 0]", "[not (x is null)]")
CONDITIONS = (
    "l.n == r.n",
    "l.x < r.x + 1.0",
    "l.n == r.n and l.x <= r.x",
    "r.x >= l.x - 1.0 and r.x < l.x + 1.0",
)
INTERPRETED = (
    "timeBatch({} milliseconds)",
    "hopping(9 milliseconds, {} milliseconds)",
    "timeLength({} milliseconds, 3)",
    "timeJump({} milliseconds, 7 milliseconds)",
    "delay({} milliseconds)",
)


@dataclass(frozen=True)
class Case:
    """Rules, rows for them, and after which rows a batch ends or the run is snapshot."""

    text: str
    mode: Mode
    rows: list[Row]
    cuts: list[int]
    saved: int


@st.composite
def late_cases(draw: st.DrawFn) -> Case:
    """Compiled, and lived, a window of all keys behind another query goes by the rows that get
    there, where the interpreter's goes by all records: such a chain is drawn of sorted rows alone.
    """
    mode: Mode = draw(st.sampled_from(("sorted", "lived")))
    shapes = (sizes, partitions, joins, lookups, interpreted)
    shape = draw(st.sampled_from(shapes if mode == "lived" else (windows, *shapes)))
    names, key = "AB", draw(st.sampled_from(("symbol", "name")))
    text = draw(shape(key))
    streams = "\n".join(f"define stream {name} ({key} string, {COLUMNS});" for name in "AB")
    rows = draw(late_rows(key, names))
    cuts = draw(st.sets(st.integers(1, len(rows) - 1)))
    return Case(f"{streams}\n{text}", mode, rows, sorted(cuts), draw(st.integers(0, len(cuts))))


@st.composite
def late_rows(draw: st.DrawFn, key: str, names: str = "AB") -> list[Row]:
    """Rows of which every third is older than one before it, some by more than any window."""
    newest, rows = START_MS, []
    for _ in range(draw(st.integers(12, 40))):
        time = newest + draw(st.sampled_from((0, 0, 1, 1, 2, 3, 7, -1, -2, -4, -6, -10, -20, -50)))
        newest = max(newest, time)
        values = {
            key: draw(st.sampled_from(("K", "L", None))),
            "who": draw(st.sampled_from("MN")),
            "x": draw(st.sampled_from((None, -1.0, 0.5, 1.0, 2.5, 3.0))),
            "n": draw(st.sampled_from((None, 0, 1, 2, 3))),
            "v": draw(st.integers(0, 40)),
        }
        rows.append((draw(st.sampled_from(names)), time, values))
    return rows


def measures(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3))
    return ", ".join(f"{one} as b{number}" for number, one in enumerate(chosen))


def grouping(draw: st.DrawFn, key: str) -> str:
    return draw(st.sampled_from(("", "", " group by who", f" group by {key}", " group by who, n")))


def span(draw: st.DrawFn) -> str:
    return f"time({draw(st.sampled_from(MS))} milliseconds)"


@st.composite
def windows(draw: st.DrawFn, key: str) -> str:
    """One window alone, and a second one over what it puts out."""
    before, behind = (draw(st.sampled_from(FILTERS)) for _ in range(2))
    window = draw(st.sampled_from((span(draw), span(draw), "externalTime(v, 5 milliseconds)")))
    chosen = f"n, {measures(draw)}{grouping(draw, key)}"
    return (
        f"from A{before}#window.{window}{behind} select {chosen} insert into O;"
        f"from O#window.{span(draw)} select sum(n) as s insert into P;"
    )


@st.composite
def sizes(draw: st.DrawFn, key: str) -> str:
    """Windows of one shape and several sizes, which share what they hold."""
    end, behind = f"{measures(draw)}{grouping(draw, key)}", draw(st.sampled_from(FILTERS))
    return "".join(
        f"from A#window.{span(draw)}{behind} select n, {end} insert into O{number};"
        for number in range(draw(st.integers(4, 6)))
    )


@st.composite
def joins(draw: st.DrawFn, key: str) -> str:
    kind, on = draw(st.sampled_from(("", "left outer "))), draw(st.sampled_from(CONDITIONS))
    right = draw(st.sampled_from("AB"))
    sides = [draw(st.sampled_from((span(draw), span(draw), "length(3)"))) for _ in range(2)]
    return "".join(
        f"from A#window.{sides[0]} as l {kind}join {right}#window.{sides[1]} as r on {on}"
        f" select l.n as a, r.n as b, l.x as c, r.v as d insert into J{number};"
        for number in range(draw(st.integers(1, 3)))
    )


@st.composite
def lookups(draw: st.DrawFn, key: str) -> str:
    """So many joins that they are looked up together."""
    return "".join(
        f"from A#window.{span(draw)} as l join B#window.{span(draw)} as r"
        f" on l.n - r.n == {number - 7} select l.n as a, l.x as c insert into J{number};"
        for number in range(14)
    )


@st.composite
def interpreted(draw: st.DrawFn, key: str) -> str:
    """What is left to the interpreter, beside what is compiled."""
    window = draw(st.sampled_from(INTERPRETED)).format(draw(st.sampled_from(MS)))
    kind = draw(st.sampled_from(("", "all events ", "expired events ")))
    chosen = f"n, {measures(draw)}{grouping(draw, key)}"
    return (
        f"from A#window.{window} select {chosen} insert {kind}into O;"
        f"from B#window.{span(draw)} select sum(n) as s insert into P;"
        "from A#bars:time(x, v, 7 milliseconds) select close insert into Bar;"
    )


@st.composite
def partitions(draw: st.DrawFn, key: str) -> str:
    left, right = (f"{name}#window.{span(draw)}" for name in "AB")
    queries = (
        f"from A#window.{span(draw)} select n, {measures(draw)} insert into O;"
        f"from {left} as l join {right} as r on l.n == r.n select l.n as a, r.v as b insert into J;"
    )
    return f"partition with ({key} of A, {key} of B) begin {queries} end;"


def batches(case: Case) -> Iterator[list[Row]]:
    """The rows, cut into batches."""
    for first, past in pairwise((0, *case.cuts, len(case.rows))):
        yield case.rows[first:past]


def encoded(run: Run, rows: list[Row]) -> InputRows:
    """Rows of both streams as one batch."""
    parts = []
    for name in "AB":
        own = [(place, row) for place, row in enumerate(rows) if row[0] == name]
        if not own:
            continue
        columns = {
            one.name: [row[2][one.name] for _, row in own]
            for one in run.rules.plan.stream(name).schema.attributes
        }
        orders = [run.next_order + place for place, _ in own]
        times = [row[1] for _, row in own]
        parts.append(run.encoder.encode(name, columns, times, orders))
    return InputRows.merge(parts)
