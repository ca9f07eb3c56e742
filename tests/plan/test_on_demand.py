"""On-demand queries."""

from __future__ import annotations

import pytest

from cep.lang import RuleError
from cep.plan import build_on_demand
from cep.plan.expressions import TABLE_SLOT, Column, Comparison
from cep.plan.query import OnDemandQuery
from cep.plan.steps import Delete, Holder, Insert, Order, Slice, Sort, Update
from cep.plan.types import Type
from tests.plan.rules import plan

RULES = """define window W (symbol string, n int) length(5);
define aggregation A from S select symbol, sum(n) as total group by symbol
aggregate every sec ... day;"""


def ask(text: str) -> OnDemandQuery:
    return build_on_demand(text, plan(RULES))


def test_find() -> None:
    found = ask("""from T as t on t.price > 2.0 select symbol, sum(n) as total
    group by symbol having total > 3 order by total desc limit 5""")
    assert (found.source, found.holder) == ("T", Holder.TABLE)
    assert isinstance(found.on, Comparison)
    assert found.on.left == Column(1, "price", Type.DOUBLE, TABLE_SLOT)
    assert found.projection[0][1] == Column(0, "symbol", Type.STRING)
    assert found.schema.names == ("symbol", "total")
    assert found.step(Slice) == Slice(5, None, passes_expired=True)
    assert found.step(Sort) == Sort((Order(1, True),))


def test_everything_of_a_window_and_an_aggregation() -> None:
    assert ask("from W").schema.names == ("symbol", "n")
    found = ask("from A on symbol == 'X' within '2020-**-** **:**:**' per 'days'")
    assert found.schema.names == ("AGG_TIMESTAMP", "symbol", "total")
    assert found.per.value == "day"  # type: ignore[union-attr]


def test_changes() -> None:
    rows = "'A' as symbol, 1.0 as price, 2L as volume, 3 as n, true as ok, 4L as t"
    assert ask(f"select {rows} insert into T").output == Insert("T", "current", Holder.TABLE)
    assert isinstance(ask("delete T on T.symbol == 'A'").output, Delete)
    assert isinstance(ask("select 'A' as s delete T on T.symbol == s").output, Delete)
    update = ask("update T set T.n = T.n + 1 on T.symbol == 'A'").output
    assert isinstance(update, Update)
    assert len(update.assignments) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from S select n", "is a stream"),
        ("from U", "unknown stream `U`"),
        ("from A select total", "for a time and a unit"),
        ("from T within '2020' per 'days'", "reads aggregations"),
        ("from T select symbols", "no attribute `symbols`"),
        ("select 1 as n insert into T", "do not fit"),
        ("select 'x' as symbol, 1 as n insert into W", "no table"),
        ("delete W on n == 1", "a window"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(RuleError) as raised:
        ask(text)
    assert message in raised.value.message
