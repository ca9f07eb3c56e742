"""Rates of output on the machine give the rows of the interpreter."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.campaign import either
from tests.engine.machine.compared import Record, assert_same
from tests.engine.machine.generated import TICKS, end_of, ticks

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
