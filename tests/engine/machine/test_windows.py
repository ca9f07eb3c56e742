"""Windows on the machine give the rows of the interpreter."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.machine.compared import Record, assert_same
from tests.engine.machine.generated import TICKS, end_of, ticks

WINDOWS = [
    "lengthBatch(3)",
    "lengthBatch(1)",
    "lengthBatch(0)",
    "lengthBatch(3, true)",
    "batch()",
    "batch(2)",
    "timeBatch(2 sec)",
    "timeBatch(2 sec, 500)",
    "timeBatch(2 sec, true)",
    "timeBatch(3 sec, 100, true)",
    "externalTime(at, 2 sec)",
    "externalTimeBatch(at, 2 sec)",
    "externalTimeBatch(at, 2 sec, 300)",
    "externalTimeBatch(at, 2 sec, n, 1 sec)",
    "externalTimeBatch(at, 2 sec, 0, 3 sec, true)",
    "externalTimeBatch(at, 1 sec, 0, 700)",
    "hopping(3 sec, 1 sec)",
    "hopping(1 sec, 2 sec)",
    "hopping(2 sec, 2 sec)",
    "cron('*/3 * * * * ?')",
    "sort(3, price)",
    "sort(2, n, 'desc', price)",
    "sort(4, symbol, 'desc', n, 'asc')",
    "lengthJump(3, 2)",
    "lengthJump(4, 3, symbol)",
    "lengthJump(1, 2, price)",
    "timeJump(3 sec, 1 sec)",
    "timeJump(1 sec, 2 sec)",
    "length(2)",
    "time(2 sec)",
    "timeLength(2 sec, 3)",
    "delay(1 sec)",
]
SELECTIONS = [
    "select symbol, price, n insert all events into Out",
    "select symbol, sum(n) as total, count() as rows insert into Out",
    "select symbol, sum(n) as total, max(price) as top group by symbol insert all events into Out",
    "select symbol, price group by symbol having price > 0 insert expired events into Out",
    "select n, price order by price desc limit 2 insert all events into Out",
]
CHAIN = """
from Out select * insert into Mid;
from Out#window.lengthBatch(2) select * insert all events into Late;
from Mid#window.batch() select * insert all events into Last;
"""
QUICK = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.parametrize("window", WINDOWS)
@given(data=st.data())
@QUICK
def test_window(window: str, data: st.DataObject) -> None:
    records: list[Record] = data.draw(ticks(clock_nulls=True))
    selection = data.draw(st.sampled_from(SELECTIONS))
    before = data.draw(st.sampled_from(["", "[n > 0]"]))
    after = data.draw(st.sampled_from(["", "[price > 0]"]))
    text = f"{TICKS}from S{before}#window.{window}{after} {selection};{CHAIN}"
    assert_same(text, records, end_of(records))
