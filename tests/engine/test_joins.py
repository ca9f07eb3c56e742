"""Compiled joins find what the definition says, and what the interpreter finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from cep.engine.explain import how_it_runs
from cep.engine.native import Compiled
from cep.engine.row_feed import RowFeed
from cep.engine.snapshot import restore, take
from cep.plan import Plan, compile_rules
from cep.plan.steps import Insert
from tests.campaign import NUMBA, examples
from tests.engine.chains import Row
from tests.engine.join_apps import join_apps
from tests.reference.generate_joins import OUT, SCHEMA, JoinCase, Values, joins
from tests.reference.joins import NaiveJoin

MANY = settings(
    max_examples=examples(600),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
SOME = settings(MANY, max_examples=examples(200))
FEW = settings(max_examples=examples(12), deadline=None)


@MANY
@given(joins())
def test_finds_what_the_definition_finds(case: JoinCase) -> None:
    rules = Compiled(_current(case.plan), jit=False)
    assert not rules.why_not_generated("sorted")
    run, naive = rules.start(), NaiveJoin(case)
    for stream, time, values in case.rows:
        rows = run.push_row(stream, time, dict(zip(SCHEMA.names, values, strict=True)))
        found = [[row[name] for name in OUT.names] for row in rows.dicts()]
        assert found == list(_selected(naive.send(stream, time, values)))


def _current(plan: Plan) -> Plan:
    query = replace(plan.queries[0], output=Insert("Out", "current"))
    return replace(plan, operators=(query,))


def _selected(chunks: list[list[Any]]) -> Iterator[Values]:
    for chunk in chunks:
        for _, kind, left, right in chunk:
            if kind == "CURRENT":
                yield [*(left or [None] * 3)[1:], *(right or [None] * 3)[1:]]


def output(rules: Compiled, rows: list[Row]) -> list[dict[str, Any]]:
    run = rules.start()
    return [one for stream, time, row in rows for one in run.push_row(stream, time, row).dicts()]


def by_stream(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What a record causes comes as a batch or row by row: streams compare one by one."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["stream"], []).append(row)
    return found


def interpreted(plan: Plan) -> Compiled:
    return Compiled(plan, jit=False).by_interpreter


@MANY
@given(join_apps())
def test_apps_as_the_interpreter_runs_them(app: tuple[str, list[Row]]) -> None:
    text, rows = app
    plan = compile_rules(text, "app.cep")
    native = Compiled(plan, jit=False)
    assert not native.why_not_generated("sorted")
    assert by_stream(output(native, rows)) == by_stream(output(interpreted(plan), rows))


@SOME
@given(join_apps())
def test_a_snapshot_goes_on_as_before(app: tuple[str, list[Row]]) -> None:
    text, rows = app
    rules = Compiled(compile_rules(text, "app.cep"), jit=False)
    run, half = rules.start(), len(rows) // 2
    for stream, time, row in rows[:half]:
        run.push_row(stream, time, row)
    again = restore(rules, take(run))
    for stream, time, row in rows[half:]:
        assert again.push_row(stream, time, row).dicts() == run.push_row(stream, time, row).dicts()


@pytest.mark.campaign
@pytest.mark.slow
@FEW
@given(join_apps())
def test_apps_compiled_by_numba(app: tuple[str, list[Row]]) -> None:
    text, rows = app
    plan = compile_rules(text, "app.cep")
    assert output(Compiled(plan), rows) == output(Compiled(plan, jit=False), rows)


MANY_ROWS = """
define stream S (a int, b int);
from S#window.time(400 milliseconds) as l join S#window.time(300 milliseconds) as r
on l.a - r.b == 1 select l.a as a, r.b as b insert into Near;
from S#window.time(250 milliseconds) as l join S#window.time(400 milliseconds) as r
on l.a - r.b == 2 select l.a as a, r.b as b insert into Near;
from S#window.length(200) as l join S#window.length(150) as r
on l.a <= r.b select l.a as a, r.b as b insert into Below;
"""


@pytest.mark.parametrize("jit", [False, True])
def test_one_batch_outgrows_every_array(jit: bool) -> None:
    a, b = np.random.default_rng(3).integers(0, 40, (2, 700))
    run = Compiled(compile_rules(MANY_ROWS, "many.cep"), jit=jit).start()
    rows = by_stream(run.push("S", {"a": a, "b": b}, np.arange(700)).dicts())
    for name, sizes in (("Near", ((400, 300, 1), (250, 400, 2))), ("Below", ((200, 150, None),))):
        found = [(row["time_msc"], row["a"], row["b"]) for row in rows[name]]
        pairs = (pair for now in range(700) for size in sizes for pair in _pairs(a, b, now, *size))
        assert found == list(pairs)


def _pairs(
    a: np.ndarray, b: np.ndarray, now: int, left: int, right: int, step: int | None
) -> Iterator[tuple[int, int, int]]:
    """What row `now` meets, a row per ms: the rows before it on the right, then all on the left."""
    for other in range(max(0, now - right + (step is not None)), now):
        if a[now] <= b[other] if step is None else a[now] - b[other] == step:
            yield now, a[now], b[other]
    for other in range(max(0, now - left + 1), now + 1):
        if a[other] <= b[now] if step is None else a[other] - b[now] == step:
            yield now, a[other], b[now]


def test_rows_one_by_one_on_one_clock() -> None:
    a, b = np.random.default_rng(3).integers(0, 40, (2, 200)).tolist()
    rules = Compiled(compile_rules(MANY_ROWS, "many.cep"), jit=False)
    feed, whole = RowFeed(rules.start(), "S"), rules.start()
    found = [row for n in range(200) for row in feed.push(n, a[n], b[n]).dicts()]
    assert found == whole.push("S", {"a": a, "b": b}, np.arange(200)).dicts()


SLOW_ROWS = """
define stream S (a int, b double);
from S#window.length(120) as l join S#window.time(330 milliseconds) as r
on r.b >= l.a - 1 and r.b < l.a + 1 select l.a as a, r.b as b insert into Near;
from S#window.time(200 milliseconds) as l join S#window.length(90) as r
on l.a < r.b - 8.0 select l.a as a, r.b as b insert into Far;
"""


@pytest.mark.parametrize("jit", [False, NUMBA])
def test_bands_leave_out_only_what_they_do_not_hold(jit: bool) -> None:
    steps = np.random.default_rng(4).integers(-1, 2, (2, 500))
    a, b = np.cumsum(steps, axis=1)
    columns = {"a": [None if n % 17 == 0 else int(one) for n, one in enumerate(a)], "b": b / 1.0}
    plan, times = compile_rules(SLOW_ROWS, "slow.cep"), 3 * np.arange(500)
    native, other = Compiled(plan, jit=jit).start(), interpreted(plan).start()
    found = by_stream(native.push("S", columns, times).dicts())
    assert len(found["Near"]) > 500 < len(found["Far"])
    assert found == by_stream(other.push("S", columns, times).dicts())


def test_explain_says_by_what_rows_are_found() -> None:
    text = how_it_runs(compile_rules(MANY_ROWS, "many.cep"))
    assert "join query1 looks rows up by left.a and right.b" in text
    assert "join query3 looks for bands of left.a and right.b" in text


KEPT = "from S#window.length(9) as l join S#window.length(9) as r on l.a == r.a "
WHOLE = "define stream S (a int, b int);\n" + KEPT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("select count() as n insert into Out;", "it aggregates over what it joins"),
        ("select l.b insert all events into Out;", "it puts out all events"),
        (
            "select l.b as b insert into Out; from Out#window.length(2) select b insert into O2;",
            "query2 looks at what it puts out as a whole",
        ),
        (
            "select l.b as b insert into Out;"
            "from Out select b insert into O2; from Out select b insert into O2;",
            "query2 and query3 read Out, to which it puts many rows at once, and both lead to O2",
        ),
    ],
)
def test_what_needs_batches_is_interpreted(text: str, reason: str) -> None:
    rules = Compiled(compile_rules(WHOLE + text, "whole.cep"), jit=False)
    assert rules.why_not_generated("sorted")["query1"] == reason
