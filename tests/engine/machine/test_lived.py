"""Programs with the clocks of lived records: each key has its own, and watermarks move them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import Record, Told, assert_same_lived

STREAMS = """
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, price double);
"""
T0 = 1_700_000_000_000
RULES = {
    "rates": "partition with (symbol of Tick) begin"
    " from Tick select symbol, bid output last every 1 sec insert into Bids;"
    " from Tick select symbol, ask output last every 1 sec insert into Asks; end;",
    "average": """
        from Tick#window.time(5 min) select symbol, avg(bid) as m group by symbol insert into O;
        """,
    "time": """
        from Tick#window.time(5 min) select symbol, avg(bid) as m, median(bid) as e group by symbol
        insert all events into O;
        """,
    "time-of-all": "from Tick#window.time(1 min) select symbol, sum(bid) as m insert into O;",
    "delay-and-time": """
        from Tick#window.delay(10 sec) select symbol, bid, count() as n group by symbol
        insert into P;
        from P#window.time(20 sec) select symbol, sum(bid) as b group by symbol
        insert all events into O;
        """,
    "chunks-of-several-keys": """
        from Tick#window.lengthBatch(4) select symbol, bid insert into P;
        from P#window.time(20 sec) select symbol, sum(bid) as b, count() as n group by symbol
        insert all events into O;
        """,
    "bars": """
        from Tick#bars:time(bid, 1.0, 1 min) select symbol, open, close, bar_ticks group by symbol
        insert into Bar;
        from Bar#window.length(3) select symbol, avg(close) as c group by symbol insert into O;
        """,
    "bars-beside-ticks": """
        from Tick#bars:time(bid, 1.0, 1 min) select symbol, open, close insert into Bar;
        define event UpBar for each symbol as every Bar[close > open] repeat allow;
        define event TickUp for each symbol as every Tick[ask - bid <= 0.5] repeat allow;
        define complex Both for each symbol as UpBar followed by TickUp within 1 min;
        """,
    "chained-engines": """
        define engine Fast (queue = 5 min, opposites = 'evict');
        define engine Slow (queue = 30 min, repeat = 'allow') from Fast;
        define event Up in Fast for each symbol as every Tick[bid > 1.0] repeat refresh;
        define event Down in Fast for each symbol as every Tick[bid < 1.0] repeat refresh;
        define event Wide in Fast as every Tick[ask > 1.5] repeat allow;
        define complex Turn in Fast for each symbol as Up followed by Down within 1 min;
        define complex Wider in Fast as Wide followed by Wide within 1 min;
        define complex Twice in Slow for each symbol as Turn followed by Turn within 5 min;
        """,
    "partition": """
        partition with (symbol of Tick) begin
            from Tick#window.timeBatch(1 min) select symbol, sum(bid) as s insert into O;
            from every a=Tick[bid > 1.0] -> not Tick[bid < 1.0] for 30 sec
            select a.symbol as symbol, a.bid as x insert into P;
        end;
        """,
    "absence-of-another-stream": """
        partition with (symbol of Tick) begin
            from Tick select symbol, bid insert into O;
            from every not Deal[price > 1.0] for 30 sec
            select currentTimeMillis() as t insert into P;
            from every (not Deal[price > 1.0] for 20 sec and a=Tick[bid > 1.0])
            select a.bid as x insert into Q;
        end;
        """,
    "pattern": """
        from every a=Tick[bid > 1.0] -> b=Tick[bid > a.bid] within 1 min
        select a.bid as x, b.bid as y insert into O;
        """,
    "rate": """
        from Tick#window.time(5 min) select symbol, avg(bid) as m group by symbol
        output last every 30 sec insert into O;
        """,
    "trigger": """
        define trigger Tr at every 20 sec;
        from Tr select eventTimestamp() as t insert into O;
        """,
    "two-sources": """
        from Tick#window.time(1 min) as t join Deal#window.time(2 min) as d
        on t.symbol == d.symbol select t.symbol as symbol, bid, price insert into O;
        from Deal#window.time(1 min) select symbol, sum(price) as p group by symbol
        insert all events into P;
        """,
    "named-window": """
        define window W (symbol string, bid double) time(30 sec) output all events;
        from Tick select symbol, bid insert into W;
        from W select symbol, sum(bid) as b insert all events into O;
        """,
}  # fmt: skip

KEYS = ("A", "B", "C", None)
times = st.sampled_from((0, 1, 500, 5_000, 20_000, 70_000, 400_000, -3_000, -40_000))
prices = st.sampled_from((0.5, 1.0, 1.5, 2.0))
records = st.tuples(st.sampled_from(("Tick", "Tick", "Deal")), st.sampled_from(KEYS), times, prices)
told = st.tuples(
    st.sets(st.sampled_from("ABD")), times, st.sampled_from((None, 0, -5_000)), st.booleans()
)
passed = st.tuples(times, st.booleans())


def lived(steps: list[tuple[object, ...]]) -> list[Record | Told]:
    """Records of keys whose times go on by themselves, and watermarks behind or ahead of them."""
    at = dict.fromkeys(KEYS, T0)
    found: list[Record | Told] = []
    for step in steps:
        match step:
            case (str(stream), key, int(by), float(price)):
                at[key] += by
                prices_of = (price, price) if stream == "Tick" else (price,)
                found.append((stream, at[key], (key, *prices_of)))
            case (set(keys), int(by), common, bool(complete)):
                common_msc = None if common is None else min(at.values()) + common
                found.append(Told(max(at.values()) + by, tuple(sorted(keys)), common_msc, complete))
            case (int(by), bool(complete)):
                found.append(Told(max(at.values()) + by, None, None, complete))
    return found


@pytest.mark.parametrize("name", RULES)
@given(steps=st.lists(st.one_of(records, records, records, told, passed), max_size=30))
@settings(max_examples=examples(150))
def test_programs_go_by_the_clocks_of_keys(name: str, steps: list[tuple[object, ...]]) -> None:
    found = lived(steps)
    last = max((one.time_msc if isinstance(one, Told) else one[1] for one in found), default=T0)
    assert_same_lived(STREAMS + RULES[name], found, last + 500_000)


def test_the_average_of_the_specification() -> None:
    text = STREAMS + RULES["average"]
    run = Compiled(compile_rules(text), jit=False, machine="always").start(mode="lived")
    assert run.machine is not None
    rows = [("EURUSD", 1_000, 1.0), ("GBPUSD", 1_000, 10.0), ("EURUSD", 1_400, 2.0),
            ("GBPUSD", 1_010, 20.0)]  # fmt: skip
    made = [
        run.push_row(
            "Tick", 1_700_000_000_000 + 1_000 * at, {"symbol": key, "bid": bid, "ask": bid}
        )
        for key, at, bid in rows
    ]
    assert made[-1].dicts()[0]["m"] == 15.0


def test_a_quiet_key_ends_its_bar_by_its_watermark() -> None:
    ticks: list[Record | Told] = [
        ("Tick", T0, ("A", 1.0, 1.0)),
        ("Tick", T0, ("B", 1.0, 1.0)),
        Told(T0 + 120_000, ("A",)),
    ]
    assert assert_same_lived(STREAMS + RULES["bars"], ticks, T0) == 2


def test_an_absence_in_a_partition_counts_from_the_record_that_opened_the_key() -> None:
    """Which may be later than what the clock of the stream shows that must be silent."""
    steps: list[Record | Told] = [Told(T0 + 1_000), ("Tick", T0 + 1_044, ("A", 1.0, 1.0))]
    assert assert_same_lived(STREAMS + RULES["absence-of-another-stream"], steps, T0 + 31_043) == 1
    assert assert_same_lived(STREAMS + RULES["absence-of-another-stream"], steps, T0 + 31_044) == 2


def test_much_that_is_due_on_one_clock() -> None:
    """As behind a pause: what comes next on the clock takes no room that is not there."""
    ticks: list[Record | Told] = [
        ("Tick", T0 + 1_000 * n, ("A", float(n), float(n))) for n in range(60)
    ]
    steps = [*ticks, Told(T0 + 200_000)]
    assert assert_same_lived(STREAMS + RULES["rates"], steps, T0 + 300_000) == 120
