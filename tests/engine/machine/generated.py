"""Records for tests of the machine: several keys, equal times, late ones, silences, nulls."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.engine.machine.compared import Record

TICKS = "define stream S (symbol string, price double, n long, at long);\n"
START_MS = 1_700_000_000_000

STEPS = st.sampled_from([0, 0, 1, 300, 700, 1000, 1000, 2500, 9000, -400, -1500])
"""How much later than the record before one is, in ms; most are in order."""


@st.composite
def ticks(draw: st.DrawFn, count_max: int = 40, *, clock_nulls: bool = False) -> list[Record]:
    """Records of the stream S, whose `at` is a clock of its own near the time."""
    count = draw(st.integers(1, count_max))
    now, found = START_MS + draw(st.integers(0, 999)), list[Record]()
    for _ in range(count):
        now += draw(STEPS)
        symbol = draw(st.sampled_from(["A", "B", "C", None]))
        price = draw(st.sampled_from([1.0, 1.5, 2.0, -3.25, 0.0, None]))
        n = draw(st.sampled_from([0, 1, 2, 3, 7, None]))
        at = now + draw(st.sampled_from([0, 0, 500, -700]))
        gone = clock_nulls and draw(st.integers(0, 9)) == 0
        found.append(("S", now, (symbol, price, n, None if gone else at)))
    return found


def end_of(records: list[Record]) -> int:
    """A time long after all records."""
    return max(time for _, time, _ in records) + 60_000
