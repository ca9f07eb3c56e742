"""Hypothesis strategies: joins of two streams with sliding windows, and rows to feed them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from cep.plan.expressions import Arithmetic, Column, Comparison, Constant, Expression, Logical
from cep.plan.nodes import Origin, Plan, Stream
from cep.plan.query import Join, Query, StreamInput
from cep.plan.steps import Insert, Kinds, Window, selecting
from cep.plan.types import Schema, Type

SCHEMA = Schema.of(key=Type.STRING, x=Type.INT, y=Type.DOUBLE)
OUT = Schema.of(left_x=Type.INT, left_y=Type.DOUBLE, right_x=Type.INT, right_y=Type.DOUBLE)
START_MS = 1_700_000_000_000
ROWS_MAX = 16
LEFT_KEY, RIGHT_KEY = (Column(0, "key", Type.STRING, slot) for slot in (0, 1))
LEFT_X, RIGHT_X = (Column(1, "x", Type.INT, slot) for slot in (0, 1))
LEFT_Y, RIGHT_Y = (Column(2, "y", Type.DOUBLE, slot) for slot in (0, 1))

Values = list[str | int | float | None]


@dataclass(frozen=True, slots=True)
class JoinCase:
    """A join of the streams L and R and the rows to send, in order of time: (stream, ms, values).

    Rows' times are multiples of 10 ms, and no two rows ever expire at the same time.
    """

    plan: Plan
    join: Join
    rows: tuple[tuple[str, int, Values], ...]


def windows(offset_ms: int) -> st.SearchStrategy[Window | None]:
    """A sliding window or none; `offset_ms` keeps the expiries of two sides apart."""
    length = st.integers(1, 4).map(lambda n: Window("length", (Constant(n, Type.INT),)))
    time = st.integers(1, 6).map(
        lambda n: Window("time", (Constant(10 * n + offset_ms, Type.LONG),))
    )
    return st.one_of(st.none(), length, time)


def conditions() -> st.SearchStrategy[Expression | None]:
    """None, an equality, a band, a general comparison, or two of these."""
    number = st.integers(-2, 2).map(lambda n: Constant(n, Type.INT))
    shifted = number.map(lambda n: Arithmetic("+", RIGHT_X, n, Type.INT))
    order = st.sampled_from(("<", "<=", ">", ">=", "!="))
    band = st.builds(lambda op, right: Comparison(op, LEFT_X, right), order, shifted)
    doubles = st.builds(lambda op: Comparison(op, RIGHT_Y, LEFT_Y), order)
    equal = st.sampled_from(
        (
            Comparison("==", LEFT_KEY, RIGHT_KEY),
            Comparison("==", RIGHT_X, LEFT_X),
            Comparison("==", LEFT_Y, RIGHT_X),
        )
    )
    simple = st.one_of(equal, band, doubles)
    both = st.builds(Logical, st.sampled_from(("and", "or")), simple, simple)
    return st.one_of(st.none(), simple, both)


def row_values() -> st.SearchStrategy[Values]:
    """Few values, so that rows meet; null among them."""
    key = st.sampled_from(("a", "b", None))
    whole = st.one_of(st.none(), st.integers(-2, 3))
    real = st.one_of(st.none(), st.integers(-2, 3).map(float))
    return st.tuples(key, whole, real).map(list)


@st.composite
def joins(draw: st.DrawFn) -> JoinCase:
    """A join with its rows; sides without a window only cause output."""
    left = StreamInput("L", SCHEMA, window=draw(windows(0)))
    right = StreamInput("R", SCHEMA, window=draw(windows(5)))
    join = Join(
        left,
        right,
        draw(st.sampled_from(("inner", "left", "right", "full"))),
        draw(st.sampled_from(("both", "left", "right"))),
        draw(conditions()),
    )
    kinds: tuple[Kinds, ...] = ("current", "expired", "all")
    events = draw(st.sampled_from(kinds))
    steps = st.tuples(st.sampled_from(("L", "R")), st.integers(0, 4), row_values())
    time, rows = START_MS, []
    for stream, wait, values in draw(st.lists(steps, max_size=ROWS_MAX)):
        time += 10 * wait
        rows.append((stream, time, values))
    return JoinCase(_plan(join, Insert("Out", events)), join, tuple(rows))


def _plan(join: Join, output: Insert) -> Plan:
    columns = (LEFT_X, LEFT_Y, RIGHT_X, RIGHT_Y)
    projection = tuple(zip(OUT.names, columns, strict=True))
    streams = tuple(Stream(name, SCHEMA, Origin.SOURCE) for name in ("L", "R"))
    query = Query("joined", join, selecting(projection), output)
    return Plan("joins", (*streams, Stream("Out", OUT, Origin.QUERY)), (query,))
