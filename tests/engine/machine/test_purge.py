"""Partitions that forget idle keys: nothing of them is left, neither rows nor memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import Record, Told, assert_same, assert_same_lived, resumed
from tests.engine.machine.test_lived import STREAMS, T0, lived, passed, records, told

PURGE = "@purge(enable='true', interval='7 sec', idle.period='{idle}') "
QUERIES = {
    "window": "from Tick#window.length(3) select symbol, sum(bid) as s insert all events into O;",
    "time": "from Tick#window.time(5 min) select symbol, avg(bid) as m, median(bid) as e "
    "insert all events into O;",
    "batch": "from Tick#window.timeBatch(1 min) select symbol, sum(bid) as s insert into O;",
    "session": "from Tick#window.session(30 sec, symbol) select symbol, count() as n "
    "insert all events into O;",
    "groups": "from Tick select symbol, bid, count() as n, distinctCount(ask) as d group by bid "
    "insert into O;",
    "bars": "from Tick#bars:time(bid, ask, 30 sec) select symbol, open, close, bar_ticks "
    "insert into O;",
    "frequent": "from Tick#window.frequent(2, bid) select symbol, count() as n "
    "insert all events into O;",
    "rate": "from Tick select symbol, max(bid) as m output last every 20 sec insert into O;",
    "snapshot": "from Tick#window.length(2) select symbol, bid output snapshot every 20 sec "
    "insert into O;",
    "match": "from every a=Tick[bid > 1.0] -> b=Tick[bid < a.bid] within 1 min "
    "select a.symbol as symbol, b.bid as x insert into O;",
    "absence": "from every a=Tick[bid > 1.0] -> not Tick[bid < 1.0] for 30 sec "
    "select a.symbol as symbol, a.bid as x insert into O;",
    "join": "from Tick#window.time(1 min) as t join Tick#window.length(2) as d on t.bid == d.bid "
    "select t.symbol as symbol, t.bid as bid, d.ask as ask insert into O;",
    "tables": "from Tick select symbol, bid update or insert into T set T.bid = bid "
    "on T.symbol == symbol; from Tick[T.bid == bid in T] select symbol insert into O;",
    "inner": "from Tick#window.length(2) select symbol, avg(bid) as m insert into #I; "
    "from #I#window.timeBatch(30 sec) select symbol, count() as n insert into O;",
    "without-key": "from Deal#window.length(2) select symbol, count() as n insert into O; "
    "from Tick select symbol, count() as n insert into P;",
}  # fmt: skip
HELD = "@Index('bid') define table T (symbol string, bid double); "
steps = st.lists(st.one_of(records, records, records, told, passed), max_size=30)
cuts = st.sets(st.integers(0, 30), max_size=3)


def rules(name: str, idle: str, by: str = "symbol of Tick") -> str:
    head = STREAMS + HELD + PURGE.format(idle=idle)
    return f"{head}partition with ({by}) begin {QUERIES[name]} end;"


@pytest.mark.parametrize("name", QUERIES)
@given(steps=steps, idle=st.sampled_from(["5 sec", "45 sec"]), cuts=cuts)
@settings(max_examples=examples(100))
def test_lived(name: str, steps: list[tuple[object, ...]], idle: str, cuts: set[int]) -> None:
    found = lived(steps)
    last = max((one.time_msc if isinstance(one, Told) else one[1] for one in found), default=T0)
    assert_same_lived(rules(name, idle), found, last + 500_000, cuts=cuts)


BY = ("symbol of Tick", "bid of Tick", "bid > 1.0 as 'high' or ask < 2.0 as 'low' of Tick")


@pytest.mark.parametrize("name", QUERIES)
@given(
    steps=st.lists(records, max_size=30), idle=st.sampled_from(["5 sec", "45 sec"]),
    by=st.sampled_from(BY), cuts=cuts,
)  # fmt: skip
@settings(max_examples=examples(100))
def test_sorted(
    name: str, steps: list[tuple[object, ...]], idle: str, by: str, cuts: set[int]
) -> None:
    found: list[Any] = lived(steps)
    last = max((one[1] for one in found), default=T0)
    assert_same(rules(name, idle, by), found, last + 500_000, cuts=cuts)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("mode", ["sorted", "lived"])
def test_the_memory_of_forgotten_keys_is_used_again(name: str, mode: Any) -> None:
    """However many keys there were: but that a key has come is known for good, in a few words."""
    plan = compile_rules(rules(name, "5 sec"))
    run = Compiled(plan, jit=False, machine="always").start(mode=mode)
    assert run.machine is not None
    tops: list[int] = []
    for key in range(120):
        for step, bid in enumerate((2.0, 0.5, 2.0, 1.5, 0.5)):
            row = {"symbol": f"K{key}", "bid": bid, "ask": bid}
            time_msc = T0 + 20_000 * key + 1_000 * step
            run.push_row("Tick", time_msc, row)
            run.push_row("Deal", time_msc, {"symbol": f"K{key}", "price": bid})
        tops.append(run.machine.memory.top)
    assert tops[-1] - tops[40] < 10_000


def test_what_is_beside_a_partition_goes_on_when_timers_are_forgotten() -> None:
    """Those of the key were the next ones on a clock that the partition does not go by."""
    more = "from Deal select price insert into Q; end;"
    partition = rules("rate", "5 sec", "bid of Tick, price of Deal").replace("end;", more)
    text = partition + "from Tick select symbol, bid output snapshot every 25 sec insert into P;"
    ticks: list[Record | Told] = [("Tick", T0, ("A", 1.0, 1.0))]
    assert assert_same_lived(text, ticks, T0 + 80_000) == 3


def test_a_key_that_comes_again_begins_anew() -> None:
    text = rules("window", "5 sec")
    ticks: list[Record] = [
        ("Tick", T0, ("A", 1.0, 1.0)),
        ("Tick", T0 + 14_001, ("B", 1.0, 1.0)),
        ("Tick", T0 + 14_002, ("A", 2.0, 1.0)),
    ]
    run = Compiled(compile_rules(text), jit=False, machine="always").start(mode="sorted")
    rows = []
    for stream, time_msc, (symbol, bid, ask) in ticks:
        row = {"symbol": symbol, "bid": bid, "ask": ask}
        rows += resumed(run).push_row(stream, time_msc, row).dicts()
        run.push_row(stream, time_msc, row)
    assert [row["s"] for row in rows] == [1.0, 1.0, 2.0]
    assert assert_same(text, ticks) == 3
