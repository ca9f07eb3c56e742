"""The short way of live ticks and deals into the engine, against the way of archived ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cep.engine.native import Compiled, Run
from cep.live.feed import MarketFeed
from cep.market import (
    deal_columns,
    fixed_texts,
    shown_deals,
    shown_ticks,
    source,
    tick_columns,
)
from cep.plan import compile_rules
from mt5bridge.records import DEAL, TICK, DealKind, Records, utc_msc
from mt5bridge.spool import CLOCK, Group, RecordKind
from mt5bridge.validate import each, tick_quality

TICKS = """
define stream Tick (symbol string, bid float, ask double, volume double, flags int, last double);
define stream Deal (symbol string, ticket long, side string, entry string, comment string,
                    lots double, order double);
from Tick select symbol, bid, ask, last, volume, flags, count() as n group by symbol
insert into Ticks;
from Deal select * insert into Deals;
"""
CROSSING = TICKS.replace("group by symbol", "")
PLAIN = TICKS.replace("bid float", "bid double").replace("flags int", "flags long")
RULES = {
    name: Compiled(compile_rules(text, name), jit=False)
    for name, text in [("keyed", TICKS), ("crossing", CROSSING), ("plain", PLAIN)]
}
PRICES = st.sampled_from([1.1, 1.2345678901, 0.0, -1.0, np.nan, np.inf, 1e30])


@st.composite
def ticks(draw: st.DrawFn) -> Records:
    n = draw(st.sampled_from([1, 2, 5, 64, 100]))
    made = np.zeros(n, TICK)
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    for name in ("bid", "ask", "last", "volume_real"):
        made[name] = generator.choice([1.1, 1.2345678901, draw(PRICES)], n)
    made["time_msc"] = 1_700_000_000_000 + np.cumsum(generator.integers(-2, 9, n))
    made["flags"] = generator.integers(0, 2**31, n)
    return made


@st.composite
def deals(draw: st.DrawFn) -> Records:
    n = draw(st.integers(1, 5))
    made = np.zeros(n, DEAL)
    made["ticket"] = draw(st.lists(st.integers(0, 2**53), min_size=n, max_size=n))
    made["kind"] = draw(st.lists(st.sampled_from(list(DealKind)), min_size=n, max_size=n))
    made["type"] = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    made["entry"] = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    made["revision"] = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    made["symbol"] = draw(st.sampled_from([b"A", b"\xff\xfe", b""]))
    made["comment"] = "zażółć".encode()
    made["volume"], made["time_msc"] = 0.1, 1_700_000_000_000
    return made


def as_group(ingest: int, symbol: str, records: Records) -> Group:
    if records.dtype == DEAL:
        return Group(ingest, RecordKind.DEALS, "demo", ("deals",), 1, records, 3_600_000)
    quality, _ = tick_quality(records, 0)
    return Group(
        ingest, RecordKind.TICKS, "demo", ("ticks", symbol), 1, records, 3_600_000, quality=quality
    )


def plainly(run: Run, group: Group) -> list[bytes]:
    """By columns, as records from an archive go."""
    stream = source(run.rules.plan, "Deal" if group.kind is RecordKind.DEALS else "Tick")
    assert stream is not None
    order = np.arange(group.ingest, group.ingest + len(group.records))
    times = utc_msc(group.records, group.utc_offset_ms)
    if group.kind is RecordKind.TICKS:
        shown = shown_ticks(each(group.quality, group.width))
    else:
        shown = shown_deals(lambda name: group.records[name], group.quality)
    kept = group.records[shown]

    def field(name: str) -> NDArray[np.generic]:
        return kept[name].copy()

    if group.kind is RecordKind.TICKS:
        columns = tick_columns(stream, field, [group.stream[1]] * len(kept))
    else:
        columns = deal_columns(stream, field, lambda name: fixed_texts(kept[name].tolist()))
    return list(run.push(stream.name, columns, times[shown], order[shown]).json_lines())


@given(
    st.sampled_from(sorted(RULES)),
    st.lists(st.tuples(st.sampled_from("ABC"), ticks() | deals()), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_live_records_lead_to_what_archived_ones_lead_to(
    rules: str, batches: list[tuple[str, Records]], together: int
) -> None:
    """Whatever comes together: symbols seen or new, deals, ticks that no rule is shown. Rules of
    another file, which are shown the same, find the same.
    """
    live, plain, other = (RULES[rules].start() for _ in range(3))
    groups, ingest = [], 1
    for symbol, records in batches:
        groups.append(as_group(ingest, symbol, records))
        ingest += len(records)
    feed, others, found, causes = MarketFeed(live), MarketFeed(other), [], []
    for first in range(0, len(groups), together):
        shown, before = groups[first : first + together], len(found)
        for rows, caused in feed.feed(shown):
            found += list(rows.json_lines())
            causes += caused
        also = [line for rows, _ in others.feed(shown) for line in rows.json_lines()]
        assert also == found[before:]
    assert found == [line for group in groups for line in plainly(plain, group)]
    assert live.keys == plain.keys
    assert [c.ingest for c in causes] == sorted(
        {c.ingest for c in causes} & {g.ingest for g in groups}
    )


def test_streams_that_no_rule_defines_are_not_fed() -> None:
    run = Compiled(compile_rules("define stream Tick (bid double);", "t"), jit=False).start()
    assert not list(MarketFeed(run).feed([as_group(1, "", np.zeros(1, DEAL))]))
    only_deals = Compiled(compile_rules("define stream Deal (lots double);", "d"), jit=False)
    tick = as_group(1, "A", np.zeros(1, TICK))
    assert not list(MarketFeed(only_deals.start()).feed([tick, tick]))
    assert not list(MarketFeed(only_deals.start()).feed([]))


def test_rules_may_read_the_symbol_or_flags_alone() -> None:
    for attribute, expected in (
        ("symbol string", '"symbol":"A"'),
        ("flags long", '"flags":4294967295'),
    ):
        name = attribute.split()[0]
        rules = f"define stream Tick ({attribute}); from Tick select {name} insert into O;"
        feed = MarketFeed(Compiled(compile_rules(rules, "o"), jit=False).start())
        records = np.zeros(1, TICK)
        records["bid"] = records["ask"] = 1.0
        records["flags"] = 2**32 - 1
        ((rows, _),) = feed.feed([as_group(1, "A", records)])
        assert [expected in line.decode() for line in rows.json_lines()] == [True]


def test_the_recorded_time_is_told_with_its_place() -> None:
    rules, start_msc = "define trigger Beat at every 3 sec;", 1_700_000_000_000
    feed = MarketFeed(Compiled(compile_rules(rules, "b"), jit=False).start())
    found = []
    for ingest, moment in ((5, 0), (6, 2_999), (9, 6_500)):
        records = np.array([(start_msc + moment,)], CLOCK)
        group = Group(ingest, RecordKind.CLOCK, "daemon", ("clock",), ingest, records)
        ((rows, _),) = feed.feed([group])
        times = [row["triggered_time"] - start_msc for row in rows.dicts()]
        found += list(zip(rows.orders.tolist(), times, strict=True))
    assert found == [(9, 3_000), (9, 6_000)]
