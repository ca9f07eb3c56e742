"""The trace says that a rule fired exactly where the run without a trace fired it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.plan import compile_rules
from cep.plan.nodes import Origin, Plan
from cep.plan.steps import Insert
from cep.trace.scope import NO_KEY, Scope
from cep.trace.texts import pairs_text
from tests import campaign
from tests.reference.generate_joins import SCHEMA, JoinCase, joins
from tests.reference.generate_matches import Case, match_cases
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import SourceRow, cases
from tests.trace.blocks import blocks, entered, fired, real, said, traceable

Row = dict[str, Any]


def examples(count: int) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=campaign.examples(count), deadline=None, suppress_health_check=slow
    )


def of(plan: Plan, rows: list[Row], origin: Origin, key: str) -> list[Row]:
    """The rows of a key on streams of an origin."""
    names = {stream.name for stream in plan.streams if stream.origin is origin}
    own = None if key == NO_KEY else key
    return [row for row in rows if row["stream"] in names and row["key"] == own]


@examples(60)
@given(cases())
def test_engines(case: tuple[Plan, list[SourceRow]]) -> None:
    plan, rows = case
    expected = real(plan, rows)
    for key in traceable(plan):
        for lines, made in zip(blocks(plan, key, rows), expected, strict=True):
            complexes = [(r["stream"], r["events"]) for r in of(plan, made, Origin.COMPLEX, key)]
            events = [(r["stream"], r["seq"]) for r in of(plan, made, Origin.EVENT, key)]
            signals = [row["stream"] for row in of(plan, made, Origin.SIGNAL, key)]
            assert sorted(fired(lines)) == sorted(complexes)
            assert sorted(entered(lines)) == sorted(events)
            assert sorted(name for name, _ in said(lines, "MADE ")) == sorted(signals)
            # whoever explains why nothing was found has searched as the binder has
            assert not any(line.endswith(": complete") for line in lines)


@examples(60)
@given(query_plans(), query_rows(moderate=True))
def test_queries(plan: Plan, rows: list[SourceRow]) -> None:
    expected = real(plan, rows)
    for key in traceable(plan):
        names = Scope(plan, key).names
        for source, lines, made in zip(rows, blocks(plan, key, rows), expected, strict=True):
            concerns = key == NO_KEY or source[2].get("symbol") == key
            put_out = [pair for pair in queried(plan, made) if concerns and pair[0] in names]
            assert sorted(said(lines, "PUT OUT ")) == sorted(put_out)


def queried(plan: Plan, rows: list[Row]) -> list[tuple[str, str]]:
    """Rows of queries, each with a target of its own, as the trace writes them."""
    names = {query.target: query.name for query in plan.queries}
    return [(names[row["stream"]], values_text(row)) for row in rows if row["stream"] in names]


def values_text(row: Row) -> str:
    values = {name: value for name, value in row.items() if name not in HEAD}
    return pairs_text(values, values.values())


HEAD = ("stream", "time_msc", "kind")


@examples(100)
@given(match_cases())
def test_matches(case: Case) -> None:
    plan = compile_rules(case.text)
    rows = [(one.stream, one.time, {"p": one.p}) for one in case.events]
    for lines, made in zip(blocks(plan, NO_KEY, rows), real(plan, rows), strict=True):
        assert said(lines, "PUT OUT ") == queried(plan, made)
        assert len([line for line in lines if line.endswith(" MATCHED")]) == len(made)


@examples(100)
@given(joins())
def test_joins(case: JoinCase) -> None:
    query = replace(case.plan.queries[0], output=Insert("Out", "current"))
    plan = replace(case.plan, operators=(query,))
    rows = [
        (stream, time_msc, dict(zip(SCHEMA.names, values, strict=True)))
        for stream, time_msc, values in case.rows
    ]
    for lines, made in zip(blocks(plan, NO_KEY, rows), real(plan, rows), strict=True):
        assert said(lines, "PUT OUT ") == queried(plan, made)


PARTITIONED = """
define stream S (symbol string, n int);
partition with (symbol of S) begin
    @info(name='run') from every e1=S[n == 0] -> e2=S[n > e1.n] within 5 sec
    select e1.n as first, e2.n as second insert into Pairs;
    @info(name='turn') from every e1=S[n > 1], e2=S[n < e1.n]+, e3=S[n > 2]
    select e1.n as first, e3.n as last insert into Turns;
    @info(name='big') from S[n > 1]#window.length(2) select sum(n) as total having total > 4
    insert into Big;
end;
"""


@examples(60)
@given(
    st.lists(
        st.tuples(st.integers(0, 3_000), st.sampled_from("AB"), st.integers(0, 4)), max_size=25
    )
)
def test_partitions(drawn: list[tuple[int, str, int]]) -> None:
    plan, time_msc, rows = compile_rules(PARTITIONED), 1_700_000_000_000, []
    for step_ms, symbol, n in drawn:
        time_msc += step_ms
        rows.append(("S", time_msc, {"symbol": symbol, "n": n}))
    expected = real(plan, rows)
    for key in "AB":
        for source, lines, made in zip(rows, blocks(plan, key, rows), expected, strict=True):
            found = queried(plan, made) if source[2]["symbol"] == key else []
            assert sorted(said(lines, "PUT OUT ")) == sorted(found)
