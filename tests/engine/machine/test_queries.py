"""Queries over one stream on the machine: groups, aggregates, order and limits, partitions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from tests.campaign import examples
from tests.engine.machine.compared import assert_same
from tests.engine.machine.records import START, STREAMS, records

QUERIES = {
    "values": "from A[price > 1.0] select symbol, price * 2.0 as p, n % 3 as m insert into Out;",
    "having": """from A select symbol, lag(n, 2) as l, max(price) as m group by symbol
        having not (l is null) insert into Out;""",
    "moments": """from A#window.length(5) select avg(price) as a, sum(price) as s,
        stdDev(price) as d, sum(n) as w group by symbol insert all events into Out;""",
    "extremes": """from A#window.time(2 sec) select min(price) as a, max(price) as b, min(n) as c,
        max(k) as d, minForever(n) as e group by symbol insert all events into Out;""",
    "ranks": """from A#window.time(2 sec) select median(price) as a, percentile(n, 0) as b,
        percentile(price, 100) as c, percentile(price, 33.3) as d insert all events into Out;""",
    "distinct": """from A#window.length(4) select distinctCount(price) as a,
        distinctCount(symbol) as b, distinctCount(flag) as c group by k insert into Out;""",
    "two groups": "from A select symbol, k, count() as c group by symbol, k insert into Out;",
    "a group of doubles": "from A select price, count() as c group by price insert into Out;",
    "order": """from A#window.lengthBatch(4) select symbol, n, price order by symbol desc, price
        limit 3 offset 1 insert into Out;""",
    "last of groups": """from A#window.lengthBatch(5) select symbol, sum(n) as s group by symbol
        order by s desc insert into Out;""",
    "read again": """from A select symbol, price insert into B2;
        from B2#window.length(2) select symbol, avg(price) as a insert into Out;
        from A[n > 1] select symbol, price insert into B2;""",
    "by value": """partition with (symbol of A) begin
        from A#window.time(2 sec) select symbol, avg(price) as a insert all events into #X;
        from #X#window.length(2) select symbol, a, count() as c insert into Out; end;""",
    "by number, with rows for all": """partition with (k of A) begin
        from B select n, count() as c insert into Out;
        from A select k, sum(n) as s insert into Out2; end;""",
    "by ranges": """partition with (price > 2.0 as 'high' or n > 0 as 'some' of A) begin
        from A#window.delay(1 sec) select n, sum(n) as s insert into Out; end;""",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@settings(max_examples=examples(200), deadline=None)
@given(rows=records())
def test_query(query: str, rows: list[Any]) -> None:
    assert_same(STREAMS + query, rows, START + 10_000_000)
