"""Windows on the machine give the rows of the interpreter."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import either
from tests.engine.machine.compared import Record, assert_same
from tests.engine.machine.generated import START_MS, TICKS, end_of, ticks

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
    "expression('count() < 3')",
    "expression('last.at - first.at < 3000')",
    "expression('max(price) < 2.0 and sum(n) < 8')",
    "expression('price > 0.0')",
    "expressionBatch('sum(n) < 6', true)",
    "expressionBatch('count() < 3', false, true)",
    "expressionBatch('max(n) < 3', true, true)",
    "expressionBatch('n < 3')",
    "length(2)",
    "time(2 sec)",
    "timeLength(2 sec, 3)",
    "delay(1 sec)",
    "session(1 sec)",
    "session(1 sec, symbol)",
    "session(1 sec, symbol, 1 sec)",
    "session(2 sec, symbol, 500)",
    "frequent(2)",
    "frequent(2, symbol)",
    "frequent(3, n, price)",
    "lossyFrequent(0.3, 0.2, symbol)",
    "lossyFrequent(0.5, 0.25)",
    "lossyFrequent(0.2)",
]
SELECTIONS = [
    "select symbol, price, n insert all events into Out",
    "select symbol, sum(n) as total, count() as rows insert into Out",
    "select symbol, sum(n) as total, max(price) as top group by symbol insert all events into Out",
    "select symbol, price group by symbol having price > 0 insert expired events into Out",
    "select n, price order by price desc limit 2 insert all events into Out",
    "select symbol, max(eventTimestamp()) - min(eventTimestamp()) as span,"
    " sum(eventTimestamp()) as total insert all events into Out",
    "select symbol, eventTimestamp() as came, count() as n group by symbol"
    " having eventTimestamp() % 2L == 0L insert all events into Out",
]
CHAIN = """
from Out select * insert into Mid;
from Out#window.lengthBatch(2) select * insert all events into Late;
from Mid#window.batch() select * insert all events into Last;
"""
QUICK = settings(
    max_examples=either(15, 500), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.parametrize("window", WINDOWS)
@given(data=st.data())
@QUICK
def test_window(window: str, data: st.DataObject) -> None:
    records: list[Record] = data.draw(ticks(clock_nulls=True))
    selection = data.draw(st.sampled_from(SELECTIONS))
    before = data.draw(st.sampled_from(["", "[n > 0]"]))
    after = data.draw(st.sampled_from(["", "[price > 0]", "[eventTimestamp() % 3L > 0L]"]))
    text = f"{TICKS}from S{before}#window.{window}{after} {selection};{CHAIN}"
    assert_same(text, records, end_of(records))


def test_windows_in_a_partition() -> None:
    """Each key has windows, rates and conditions of its own, from when it first comes."""
    text = f"""{TICKS}
        partition with (symbol of S) begin
        from S#window.timeBatch(2 sec) select symbol, sum(n) as total insert all events into Out;
        from S#window.expression('count() < 3') select symbol, count() as c
        output last every 1500 milliseconds insert all events into Out2;
        from S#window.lengthBatch(2) select symbol, n insert all events into Out3;
        end;
    """  # noqa: S608 -- rules, no SQL
    records: list[Record] = [
        ("S", START_MS + at, ("AB"[at % 3 % 2], 1.0, at % 5, START_MS))
        for at in range(0, 9000, 400)
    ]
    assert assert_same(text, records, end_of(records)) > 40


@pytest.mark.parametrize("window", ["expression(symbol)"])
def test_what_is_not_run_yet_says_so(window: str) -> None:
    """Such rules run the old way."""
    plan = compile_rules(f"{TICKS}from S#window.{window} select symbol insert into Out;")
    rules = Compiled(plan, jit=False, machine="always")
    assert rules.whole is None
    assert "window" in str(rules.why_not_whole)
