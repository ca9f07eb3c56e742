"""Stream functions on the machine give what they give in the interpreter, to the last bit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.machine.compared import Record, assert_same

STREAMS = """
@key('symbol')
define stream Tick (symbol string, bid double, volume double, size long, flag bool);
define stream Deal (symbol string, bid double, volume double, size long, flag bool);
"""
BAR = "open, high, low, close, bar_volume, bar_ticks, start_msc"
FORMS = {
    "by time": f"from Tick#bars:time(bid, volume, 1 min) select symbol, {BAR} insert into Out;",
    "by time and key": f"""
from Tick#bars:time(bid, volume, 1 min) select symbol, {BAR} group by symbol insert into Out;""",
    "by time and two keys": f"""
from Tick#bars:time(bid, size, 1 min) select symbol, flag, {BAR} group by flag, symbol
insert into Out;""",
    "by time and a real key": f"""
from Tick#bars:time(bid, size, 1 min) select symbol, {BAR} group by volume insert into Out;""",
    "by ticks": f"""
from Tick#bars:ticks(bid, volume, 3) select symbol, {BAR} group by symbol insert into Out;""",
    "by volume": f"""
from Tick#bars:volume(bid, volume, 2) select symbol, {BAR} group by symbol insert into Out;""",
    "by whole volume": f"""
from Tick#bars:volume(size, size, 2.5) select symbol, {BAR} insert into Out;""",
    "between filters": f"""
from Tick[bid > -1.0]#bars:time(bid, volume, 1 min)[high > low] select symbol, {BAR}
group by symbol insert into Out;""",
    "of what is never late": f"""
from Deal#bars:time(bid, volume, 1 min) select symbol, {BAR} group by symbol insert into Out;""",
    "in a partition": f"""
partition with (symbol of Tick) begin
from Tick#bars:time(bid, volume, 1 min) select symbol, {BAR} insert into Out;
end;""",
    "behind a window": f"""
from Tick#window.time(90 sec)#bars:time(bid, volume, 1 min) select symbol, {BAR}
group by symbol insert into Out;""",
    "behind a delay": f"""
from Tick#window.delay(150 sec)#bars:time(bid, volume, 1 min) select symbol, {BAR}
group by symbol insert into Out;""",
    "in front of a window": f"""
from Tick#bars:time(bid, volume, 1 min)#window.length(2)
select symbol, {BAR}, sum(close) as total, max(high) as top group by symbol
insert all events into Out;""",
    "two at one time": """
from Tick#bars:time(bid, volume, 1 min) select symbol, close as last group by symbol
insert into One;
from Tick#bars:time(bid, volume, 30 sec) select symbol, close group by symbol insert into Two;
from One#bars:time(last, 1, 2 min) select symbol, open, bar_volume group by symbol
insert into Three;""",
    "bands": """
from Tick#bollinger(bid, 3, 2.0) select symbol, bid, upper, middle, lower group by symbol
insert into Out;""",
    "wide bands": """
from Tick#bollinger(bid, 2, 3) select symbol, upper, middle, lower insert into Out;""",
    "bands of bars": f"""
from Tick#bars:ticks(bid, volume, 2)#bollinger(close, 3)[middle > 0.0 or close > 0.0]
select symbol, {BAR}, upper, middle, lower group by symbol insert into Out;""",
    "bands behind a window": """
from Tick#window.length(3)#bollinger(bid, 2) select symbol, bid, upper, lower, sum(bid) as total
insert all events into Out;""",
    "macd": """
from Tick#macd(bid, 2, 4, 3) select symbol, macd, signal, histogram, lag(macd) as before
group by symbol insert into Out;""",
    "macd of its own kind": """
from Tick#macd(bid, 3, 2, 1) select symbol, macd, signal, histogram insert into Out;""",
    "points": """
from Tick#pol2Cart(bid, volume) select symbol, x, y insert into Out;""",
    "points in space": """
from Tick#window.length(2)#pol2Cart(size, bid, volume) select symbol, x, y, z
insert all events into Out;""",
}

STEPS_MS = st.sampled_from([0, 0, 1, 700, 20_000, 30_000, 60_000, 61_000, 400_000])
BACK_MS = st.sampled_from([0, 0, 0, 0, 1, 30_000, 100_000])
NUMBERS = st.sampled_from(
    [None, 0.0, -0.0, 0.1, 0.2, 0.3, 1.0, 1.1, 2.5, -1.5, 1e9, 1e-9, 2.0**31 - 1, -(2.0**31), 1e30]
) | st.integers(-(10**9), 10**9).map(lambda number: number / 1000)
WHOLES = st.sampled_from(
    [None, 0, 1, 2, 3, -1, 2**31 - 1, -(2**31), 2**53 + 1, 2**62 + 1, -(2**60) - 3]
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["Tick", "Tick", "Tick", "Deal"]), STEPS_MS, BACK_MS,
        st.sampled_from(["a", "b", "c", None]), NUMBERS, NUMBERS, WHOLES,
        st.sampled_from([True, False, None]),
    ),
    max_size=40,
)  # fmt: skip
START_MS = 1_700_000_000_000


def records(rows: list[tuple[Any, ...]]) -> list[Record]:
    """Records of which some come late."""
    now_ms, found = START_MS, []
    for stream, step_ms, back_ms, *values in rows:
        now_ms += step_ms
        found.append((stream, now_ms - back_ms, values))
    return found


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=10, deadline=None)
@given(rows=ROWS)
def test_function(form: str, rows: list[tuple[Any, ...]]) -> None:
    assert_same(STREAMS + FORMS[form], records(rows), START_MS + 100_000_000)


def tick(at_ms: int, bid: float | None, volume: float | None = 1.0, symbol: str = "a") -> Record:
    return "Tick", START_MS + at_ms, [symbol, bid, volume, 1, True]


def test_late_row_is_dropped_where_time_has_ended_its_bar() -> None:
    ticks = [tick(0, 1.0), tick(200_000, 2.0), tick(10_000, 3.0), tick(199_000, 4.0)]
    assert assert_same(STREAMS + FORMS["by time and key"], ticks, START_MS + 400_000) == 2


def test_bars_that_end_together_come_in_the_order_of_their_keys() -> None:
    ticks = [tick(0, None, symbol="b"), tick(1, 1.0, symbol="a"), tick(2, 1.0, symbol="b")]
    assert assert_same(STREAMS + FORMS["by time and key"], ticks, START_MS + 400_000) == 2


@pytest.mark.parametrize(
    "volumes",
    [
        [1e300, 1.0, -1e300, 1e-300], [1.7e308, 1.7e308, -1.7e308], [float("inf"), 1.0],
        [float("inf"), float("-inf")], [5e-324] * 3, [2.0**53, 1.0, 1.0], [0.1] * 10,
    ],
)  # fmt: skip
def test_volume_of_a_bar_is_exact(volumes: list[float]) -> None:
    ticks = [tick(place, 1.0, volume) for place, volume in enumerate(volumes)]
    assert assert_same(STREAMS + FORMS["by time"], ticks, START_MS + 400_000) == 1


@pytest.mark.parametrize("form", ["bands", "macd"])
def test_infinities_come_and_go(form: str) -> None:
    bids = [1.0, 2.0, float("inf"), 3.0, 4.0, 5.5]
    assert_same(STREAMS + FORMS[form], [tick(place, bid) for place, bid in enumerate(bids)])
