"""Rates of output on the machine give the rows of the interpreter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.campaign import either, examples
from tests.engine.machine.compared import Record, assert_same
from tests.engine.machine.generated import TICKS, end_of, ticks
from tests.engine.machine.records import START, STREAMS, records

RATES = [f"{kind} every {every}"
         for kind in ("all", "first", "last")
         for every in ("1 events", "3 events", "1500 milliseconds")]  # fmt: skip
RATES += ["snapshot every 1 sec", "snapshot every 2500 milliseconds"]
WINDOWS = ["", "#window.length(3)", "#window.time(2 sec)", "#window.lengthBatch(2)",
           "#window.timeBatch(1 sec)"]  # fmt: skip
SELECTIONS = [
    "select symbol, price, n",
    "select symbol, sum(n) as total, count() as rows",
    "select symbol, price, sum(n) as total group by symbol",
    "select sum(n) as total, max(price) as top group by symbol",
    "select sum(n) as total, max(price) as top group by price, symbol having total > 0",
    "select count() as rows",
    "select symbol, price group by price order by symbol limit 2",
]
QUICK = settings(
    max_examples=either(20, 500), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.parametrize("rate", RATES)
@given(data=st.data())
@QUICK
def test_rate(rate: str, data: st.DataObject) -> None:
    records: list[Record] = data.draw(ticks())
    window, selection = data.draw(st.sampled_from(WINDOWS)), data.draw(st.sampled_from(SELECTIONS))
    kinds = data.draw(st.sampled_from(["", "all events", "expired events"]))
    if not window or "snapshot" in rate:
        kinds = "all events" if window and kinds else ""
    text = f"""{TICKS}
        from S{window} {selection} output {rate} insert {kinds} into Out;
        from Out#window.batch() select count() as together insert into Chunks;
    """
    assert_same(text, records, end_of(records))


@pytest.mark.parametrize("join", ["join", "left outer join", "right outer join"])
@pytest.mark.parametrize(
    "select",
    [
        "a.symbol as s, b.n as n",
        "a.symbol as s, sum(b.n) as n",
        "count() as c, max(a.n) as n",
        "count() as c, max(a.n) as n group by a.symbol",
    ],
)
@settings(max_examples=examples(40))
@given(rows=records(20))
def test_a_snapshot_of_a_join_forgets_what_a_stream_without_a_window_takes_with_it(
    select: str, join: str, rows: list[Any]
) -> None:
    text = (
        f"{STREAMS}from A as a {join} B#window.length(3) as b on a.n > b.n select {select}"
        " output snapshot every 500 milliseconds insert into Held;"
    )
    assert_same(text, rows, START + 10_000)
