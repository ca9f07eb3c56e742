"""Aggregations on the machine give those who join them the rows of the interpreter."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import either
from tests.engine.machine.compared import Record, assert_same, assert_same_lived

STREAMS = """
define stream S (k string, n int, x double, at long, text string);
define stream Ask (who string, first long, last long, per string);
"""
T0 = 1_700_000_000_000
STEPS_MS = (0, 400, 1_000, 61_000, 3_700_000, 90_000_000, 2_700_000_000, 40_000_000_000)
AGGREGATIONS = [
    "from S select k, sum(n) as total, avg(x) as mean, count() as rows group by k"
    " aggregate every sec...year",
    "from S select sum(x) as total, max(x) as top, min(n) as least aggregate every min, month",
    "from S[n > 0] select k, x, distinctCount(n) as some group by k aggregate by at"
    " every sec, min, day, week",
    "from S select n, x + 1.0 as y, stdDev(x) as s group by n, x aggregate by text"
    " every sec...month",
    "from S select k, str:concat(k, '!') as loud, sum(x) * 2.0 as twice group by k"
    " aggregate every min...day",
]
JOINS = [
    "within 0l, 9999999999999l per 'minutes' select *",
    "within Ask.first, Ask.last per Ask.per select *",
    "within '2023-11-** **:**:**' per 'min' select *",
    "within '2023-11-14 22:13:20', '2031-01-01 00:00:00 +02:00' per 'minutes' select *",
]
TEXTS = st.sampled_from(
    ["2023-11-14 22:13:20", "2024-02-29 10:00:00 +05:30", "2024-12-31 23:59:59", "no time"]
)
QUICK = settings(
    max_examples=either(10, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    found: list[Record] = []
    time_ms = T0
    for _ in range(draw(st.integers(1, 25))):
        time_ms += draw(st.sampled_from(STEPS_MS))
        if draw(st.integers(0, 3)) == 0:
            first = time_ms - draw(st.sampled_from((-1, 1_000, 3_600_000, 10**12)))
            per = draw(st.sampled_from(("seconds", "min", "days", "weeks", "year", "nothing")))
            key = draw(st.sampled_from("ab"))
            found.append(("Ask", time_ms, [key, first, time_ms + 1, per]))
            continue
        late_ms = draw(st.sampled_from((0, 0, 0, 500, 90_000)))
        found.append(("S", time_ms - late_ms, [
            draw(st.sampled_from(("a", "b", "ab", None))),
            draw(st.sampled_from((-1, 0, 1, 2, None))),
            draw(st.sampled_from((0.1, -2.5, 1e16, None))),
            draw(st.sampled_from((None, time_ms, time_ms - 86_400_000, -1, 2**62))),
            draw(TEXTS),
        ]))  # fmt: skip
    return found


def rules(aggregation: str, join: str) -> str:
    return f"""{STREAMS}
        define aggregation Agg {aggregation};
        from Ask join Agg on who != 'none' {join} insert into Out;
        from Ask[per == 'min'] left outer join Agg {join} insert all events into Outer;
        from S select count() as n insert into Beside;"""


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@given(records=records())
@QUICK
def test_aggregation(aggregation: str, join: str, records: list[Record]) -> None:
    assert_same(rules(aggregation, join), records, T0 + 10**12)


def test_all_that_is_selected_is_seen() -> None:
    text = """
        define aggregation Agg from S select k, x, sum(n) as total, avg(x) as mean, count() as rows
            group by k aggregate every sec...year;
        from Ask join Agg on who == Agg.k within 0l, 9999999999999l per 'seconds'
            select Agg.k as k, Agg.x as x, total, mean, rows, AGG_TIMESTAMP as at
            insert into Out;"""
    steps: list[Record] = [("S", T0 + 250 * n, ["ab"[n % 2], n, n / 3, T0, ""]) for n in range(30)]
    steps += [("Ask", T0 + 9_000, ["b", 0, 1, "sec"]), ("Ask", T0 + 9_001, ["a", 0, 1, "sec"])]
    assert assert_same(STREAMS + text, steps) == 16
    assert assert_same_lived(STREAMS + text, steps, T0 + 60_000) == 16


def test_many_groups_want_memory() -> None:
    text = """
        define aggregation Agg from S select k, sum(n) as total group by k
            aggregate every sec...min;
        from Ask join Agg within 0l, 9999999999999l per Ask.per
            select Agg.k as k, total insert into Out;"""
    steps: list[Record] = [("S", T0 + n, [f"key {n}", n, 1.0, T0, ""]) for n in range(900)]
    steps.append(("Ask", T0 + 9_000, ["b", 0, 1, "sec"]))
    assert assert_same(STREAMS + text, steps) == 900


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "@purge(enable='true', interval='10 sec') define aggregation Agg from S"
            " select sum(n) as t aggregate every sec;",
            "@purge",
        ),
        ("define aggregation Agg from S select UUID() as u aggregate every sec;", "UUID"),
    ],
)
def test_what_is_not_run_yet_says_so(text: str, reason: str) -> None:
    compiled = Compiled(compile_rules(STREAMS + text), jit=False, machine="always")
    assert compiled.whole is None
    assert reason in compiled.why_not_whole
