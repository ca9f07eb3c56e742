"""Records of one or two streams with few values, so that rows meet: ties, late ones, nulls."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

START = 1_700_000_000_000
STREAMS = (
    "define stream A (symbol string, price double, n long, flag bool, k int);\n"
    "define stream B (symbol string, price double, n long, flag bool, k int);\n"
)
"""What `records` are of."""

steps = st.sampled_from([0, 0, 1, 500, 1000, 1700, 4000, 61_000, -700])
values = st.tuples(
    st.sampled_from(["EURUSD", "XAUUSD", "b", "cc", "", None]),
    st.sampled_from([1.0, 2.5, -0.0, 0.0, None, 7.25]),
    st.sampled_from([0, 1, 2, 3, -12, 100, None]),
    st.sampled_from([True, False, None]),
    st.sampled_from([0, 1, 2, None]),
)


@st.composite
def records(draw: st.DrawFn, count: int = 40) -> list[tuple[str, int, list[Any]]]:
    """Some records, most of them in order of time."""
    time, made = START, []
    drawn = st.lists(st.tuples(st.sampled_from("AAB"), steps, values), max_size=count)
    for stream, step, row in draw(drawn):
        time += step
        made.append((stream, time, list(row)))
    return made
