"""Hypothesis strategies: apps of joins that the engine compiles, several of a shape, and rows."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.engine.chains import SCHEMA, Row
from tests.reference.generate_matches import START_MS

STREAMS = ("A", "B")
COLUMNS = ("x", "n", "v")
KINDS = ("join", "join", "left outer join", "right outer join", "full outer join")
EQUALITIES = (
    "l.n == r.n",
    "l.n - r.n == {}",
    "l.n == r.v + {}",
    "r.n + {} == l.n - l.v",
    "r.v == l.x",
    "l.x == r.x + {}",
    "l.x * {} == r.x",
    "l.symbol == r.symbol",
    "l.n + 1 == {} - r.n",
)
OTHERS = (
    "l.x < r.x + {}",
    "l.n >= r.v",
    "l.n != {}",
    "(l.x > r.x or l.v == r.v)",
    "r.v <= {}",
    "l.n + r.n == l.v",
)


@st.composite
def join_apps(draw: st.DrawFn) -> tuple[str, list[Row]]:
    """Joins of one or two shapes, perhaps per symbol; what the first puts out may be filtered."""
    shapes = [draw(_shapes(f"Out{number}")) for number in range(draw(st.integers(1, 2)))]
    queries = [
        shape.format(*(draw(st.integers(1, 4)) for _ in range(shape.count("{}"))))
        for shape in shapes
        for _ in range(draw(st.integers(1, 3)))
    ]
    if draw(st.integers(0, 2)) == 0:
        keys = ", ".join(f"symbol of {name}" for name in STREAMS)
        queries = [f"partition with ({keys}) begin", *queries, "end;"]
    if draw(st.booleans()):
        queries.append("from Out0[c0 > 0] select c0, c0 + c0 as twice insert into Twice;")
    definitions = [f"define stream {name} {SCHEMA};" for name in STREAMS]
    return "\n".join([*definitions, *queries]), draw(_rows())


@st.composite
def _shapes(draw: st.DrawFn, target: str) -> str:
    """A query with a pair of braces for each number in which queries of a shape may differ."""
    kind = draw(st.sampled_from(KINDS))
    left, right = draw(_sides()), draw(_sides())
    triggers = ("", "", "left", "right")
    trigger = draw(st.sampled_from(triggers))
    alone = {"": ("", ""), "left": (" unidirectional", ""), "right": ("", " unidirectional")}
    marks = alone[trigger]
    on = " and ".join(draw(_conditions()))
    taken = draw(st.lists(_columns(), min_size=1, max_size=4))
    chosen = ", ".join(f"{column} as c{number}" for number, column in enumerate(taken))
    having = draw(st.sampled_from(("", "", "having c0 > {} ")))
    return (
        f"from {left} as l{marks[0]} {kind} {right} as r{marks[1]}{f' on {on}' if on else ''} "
        f"select {chosen}, {{}} as d {having}insert into {target};"
    )


@st.composite
def _sides(draw: st.DrawFn) -> str:
    stream = draw(st.sampled_from(STREAMS))
    tests = draw(st.sampled_from(("", "", "[n > 0]", "[x < 1.0]")))
    windows = ("#window.length({})", "#window.time({} milliseconds)")
    return stream + tests + draw(st.sampled_from((*windows, *windows, "")))


@st.composite
def _conditions(draw: st.DrawFn) -> list[str]:
    equal = draw(st.lists(st.sampled_from(EQUALITIES), max_size=2))
    return draw(st.permutations([*equal, *draw(st.lists(st.sampled_from(OTHERS), max_size=1))]))


def _columns() -> st.SearchStrategy[str]:
    return st.sampled_from([f"{side}.{column}" for side in "lr" for column in COLUMNS])


@st.composite
def _rows(draw: st.DrawFn) -> list[Row]:
    time, rows = START_MS, []
    number = st.one_of(st.integers(-2, 3), st.integers(-2, 3), st.none())
    for _ in range(draw(st.integers(5, 40))):
        time += draw(st.sampled_from((0, 1, 1, 2, 3, 6)))
        x, n, v = draw(number), draw(number), draw(number)
        symbol = draw(st.sampled_from(("K", "L", None)))
        row = {"symbol": symbol, "x": None if x is None else x / 2, "n": n, "v": v}
        rows.append((draw(st.sampled_from(STREAMS)), time, row))
    return rows
