"""Streams and attributes may be called whatever the language allows, in every database."""

from __future__ import annotations

from cep.jepc import NativeProvider, Provider
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event, Result
from cep.plan import compile_rules

ODD = """
define stream `My "Tick" é` (`a` double, `A` double, `x y` double, `it's` bool, `select` long,
  rowid int, LONGa double, LONGb double);
from `My "Tick" é`#window.time(5 sec)
select sum(`a`) as `sum`, sum(`A`) as `SUM`, min(`x y`) as `group by`, max(`select`) as `from`,
  max(rowid) as pos, count() as seq, sum(LONGa) as LONG, sum(LONGb) as LONGb
insert into `W W`;
from `W W`[`SUM` < 0.0] select `from` as `select`, `SUM` as `Sum`, `sum` insert into `order`;
""".replace("LONG", "n" * 70)
"""Names of SQL, of SQL's own columns, with quotes and spaces, and that differ in case or at their
end alone."""
STREAMS = ("W W", "order")
PLAN = compile_rules(ODD, "rules.cep")


def told(provider: Provider) -> list[Result]:
    stream = PLAN.sources[0].name
    values = [(0.5 * n, -1.0 * n, 2.0, n % 2 == 0, 2**62, n, 1.5, 2.5) for n in range(6)]
    try:
        provider.change(PLAN, STREAMS)
        return provider.push([Event(stream, 1_000 * n, one) for n, one in enumerate(values)])
    finally:
        provider.close()


def test_whatever_streams_and_attributes_are_called(url: str) -> None:
    found = told(DatabaseProvider(url))
    assert found == told(NativeProvider(jit=False))
    assert {one.query for one in found} == set(STREAMS)
