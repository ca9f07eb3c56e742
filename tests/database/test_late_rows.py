"""Late rows with the queries on a database: what comes out is what the interpreter says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.fragments.replay import DatabaseReplay
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests.campaign import examples, only
from tests.database.test_semantics import sources
from tests.engine.late_apps import COLUMNS, Row, joins, late_rows, lookups, sizes, windows
from tests.engine.test_joins import by_stream

SEQUENCES = (
    "from every e1=A[n > 0], e2=A[n >= e1.n] within 5 milliseconds"
    " select e1.n as a, e2.v as b insert into Q;",
    "from every e1=A, e2=A[n >= e1.n], e3=A[x > 0.0] within 9 milliseconds"
    " select e1.n as a, e3.v as b insert into Q;",
    "from A[eventTimestamp() > 1600000000010L] select n, eventTimestamp() as at insert into Q;",
    "from A#window.length(3) as l join B#window.time(9 milliseconds) as r on l.n == r.n"
    " select eventTimestamp(l) as a, r.n as b insert into Q;",
    "from A#window.time(9 milliseconds) as l join B#window.time(5 milliseconds) as r"
    " on l.n == r.n select sum(l.v) as a, count() as b insert into Q;",
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[Row], int]:
    """Rules, rows for them, and how many of these are a batch."""
    queries = draw(st.sampled_from(SEQUENCES) | st.one_of(
        shape("symbol") for shape in (windows, sizes, joins, lookups)
    ))  # fmt: skip
    streams = "\n".join(f"define stream {name} (symbol string, {COLUMNS});" for name in "AB")
    return f"{streams}\n{queries}", draw(late_rows("symbol")), draw(st.sampled_from((1, 3, 7, 99)))


def on_database(text: str, rows: list[Row], url: str, size: int) -> list[dict[str, Any]]:
    plan = compile_rules(text, "late.cep")
    run = DatabaseReplay(plan, url, jit=False, batch_events=size)
    try:
        batches = run.replay(list(sources(plan, rows)))
        return [json.loads(line) for batch in batches for line in batch]
    finally:
        run.close()


def meant(text: str, rows: list[Row]) -> list[dict[str, Any]]:
    run = InterpretedRun(compile_rules(text, "late.cep"))
    return [out for row in rows for out in run.push_row(*row)]


@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    database=None,
)
@given(cases())
def test_late_rows_on_sqlite(case: tuple[str, list[Row], int]) -> None:
    text, rows, size = case
    assert by_stream(on_database(text, rows, "sqlite://", size)) == by_stream(meant(text, rows))


STREAMS = "".join(f"define stream {name} (symbol string, {COLUMNS});" for name in "AB")
EACH = """
from A#window.time(9 milliseconds) select n, sum(n) as a, stdDev(x) as b, min(x) as c
group by who insert into Of;
from A[n > 0]#window.time(5 milliseconds)[x > 0.0] select avg(x) as a, max(v) as b insert into Few;
from A#window.time(9 milliseconds) as l join B#window.time(14 milliseconds) as r on l.n == r.n
select l.v as a, r.v as b insert into Pair;
from every e1=A, e2=A[n >= e1.n] within 9 milliseconds select e1.v as a, e2.v as b insert into Q;
"""
ROWS: list[Row] = [
    (
        "AB"[number % 3 == 2],
        1_600_000_000_000 + 2 * number - (0, 0, 0, 3, 11, 40)[number * 5 % 6],
        {
            "symbol": "K",
            "who": "MN"[number % 2],
            "x": number * 7 % 5 / 2,
            "n": number * 3 % 4,
            "v": number,
        },
    )
    for number in range(40)
]


@pytest.mark.parametrize("size", [40, only(3)])
def test_late_rows_on_each(url: str, size: int) -> None:
    found = by_stream(on_database(STREAMS + EACH, ROWS, url, size))
    assert found == by_stream(meant(STREAMS + EACH, ROWS))
    assert all(len(found[name]) > 3 for name in ("Of", "Few", "Pair", "Q"))


@pytest.mark.parametrize(("quiet", "asks"), [(0, True), (1_500, False)])
def test_what_is_known_of_late_rows_goes_with_them(url: str, quiet: int, asks: bool) -> None:
    """And so do the statements that ask for it."""
    more = [("A", 1_600_000_100_000 + number, ROWS[0][2]) for number in range(quiet)]
    plan = compile_rules(STREAMS + EACH.partition("from A[n > 0]")[0], "late.cep")
    run = DatabaseReplay(plan, url, jit=False, batch_events=250)
    try:
        list(run.replay(list(sources(plan, [*ROWS, *more]))))
        assert run.late > 5
        steps = run._fragments.runner.program.steps
        assert any("late" in step.fetch.statement.text for step in steps if step.fetch) == asks
    finally:
        run.close()
