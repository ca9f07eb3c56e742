"""The user's functions in queries composed of objects, or read from SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cep.jepc import (
    Aggregator,
    CountWindow,
    EventProcessor,
    NativeProvider,
    Projector,
    Provider,
    QueryError,
    Stream,
    attribute,
    call,
    parse_sql,
)
from cep.jepc.database import DatabaseProvider
from cep.jepc.queries import Aggregate
from tests.functions.own import EXPECTED, TICKS, loaded

SCHEMA = {"symbol": "string", "bid": "double", "ask": "double"}
PIPS = Projector(Stream("Tick"), {"x": call("own:pips", attribute("bid"), attribute("ask"))})
MEAN = Aggregator(
    Stream("Tick").window(CountWindow(5)), {"x": Aggregate("own:mean", ("bid", 2))}, ["symbol"]
)


def results(provider: Provider, query: Any) -> list[Any]:
    found: list[Any] = []
    with EventProcessor(provider) as processor:
        processor.register_stream("Tick", SCHEMA)
        processor.create_query("q", query)
        processor.add_output_processor("q", lambda result: found.append(result.values["x"]))
        for time_msc, *row in TICKS:
            processor.push_event("Tick", dict(zip(SCHEMA, row, strict=True)), time_msc)
    return found


@pytest.mark.parametrize("provider", [lambda: NativeProvider(jit=False), DatabaseProvider])
def test_functions(tmp_path: Path, provider: Any) -> None:
    loaded(tmp_path)
    assert results(provider(), PIPS) == [row[4] for row in EXPECTED]


def test_indicators(tmp_path: Path) -> None:
    loaded(tmp_path)
    sql = "SELECT symbol, own:mean(bid, 2) AS x FROM Tick WINDOW(ROWS 5) GROUP BY symbol"
    for query in (MEAN, parse_sql(sql).query):
        assert results(NativeProvider(jit=False), query) == [row[3] for row in EXPECTED]


def test_a_database_refuses_indicators_by_name(tmp_path: Path) -> None:
    loaded(tmp_path)
    with pytest.raises(QueryError, match=r"own:mean\(\)"):
        results(DatabaseProvider(), MEAN)
