"""Named windows and triggers on the machine give the rows of the interpreter."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.campaign import either
from tests.engine.machine.compared import Record, assert_same
from tests.engine.machine.generated import TICKS, end_of, ticks
from tests.engine.machine.test_windows import WINDOWS

OUTPUTS = ["", "output all events", "output expired events", "output current events"]
SELECTIONS = [
    "select *",
    "select symbol, sum(n) as total group by symbol",
    "select count() as rows, max(price) as top",
    "select symbol, n, price order by price limit 3",
    "select symbol, eventTimestamp() as came, sum(eventTimestamp()) as total group by symbol"
    " having eventTimestamp() % 2L == 0L",
]
HANDLERS = [
    "",
    "[eventTimestamp() % 2L == 0L]",
    "#pol2Cart(price, 1.0)[eventTimestamp() % 3L > 0L]",
    "[eventTimestamp() % 2L == 0L]#bars:ticks(price, 1.0, 2)[eventTimestamp() % 3L > 0L]",
]
TIMES = [
    "at every 700 milliseconds",
    "at 'start'",
    "at every 2 sec",
    "at '*/2 * * * * ?'",
    "at '0 30 9 ? * MON-FRI'",
]
QUICK = settings(
    max_examples=either(20, 500), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@given(data=st.data())
@QUICK
def test_named_window(data: st.DataObject) -> None:
    """Fed by a stream, by what leaves another window, and by a trigger; read by several queries."""
    records: list[Record] = data.draw(ticks())
    window, output = data.draw(st.sampled_from(WINDOWS)), data.draw(st.sampled_from(OUTPUTS))
    selection, times = data.draw(st.sampled_from(SELECTIONS)), data.draw(st.sampled_from(TIMES))
    kinds = data.draw(st.sampled_from(["", "all events", "expired events"]))
    handlers = data.draw(st.sampled_from(HANDLERS))
    text = f"""{TICKS}
        define window W (symbol string, price double, n long, at long) {window} {output};
        define trigger T {times};
        define trigger U at every 2 sec;
        from S[n > 0] select symbol, price, n, at insert into W;
        from W{handlers} {selection} insert {kinds} into Out;
        partition with (symbol of W) begin
        from W select symbol, n, max(eventTimestamp()) as newest insert {kinds} into Parts;
        end;
        from T select 'A' as symbol, 1.0 as price, 1L as n, triggered_time as at insert into W;
        from S#window.length(2) select symbol, price, n, at insert {kinds} into W;
        from W[n > 1] select symbol, count() as c group by symbol
        output last every 1500 milliseconds insert into Rare;
        from U#window.timeBatch(2 sec) select count() as c insert all events into Tick;
        from Out#window.batch() select count() as together insert into Chunks;
    """  # noqa: S608 -- rules, no SQL
    assert_same(text, records, end_of(records))
