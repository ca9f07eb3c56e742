"""Compiled patterns and sequences find what the definition says, and what the interpreter finds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

from cep.engine.native import Compiled
from cep.plan import Plan, compile_rules
from tests import campaign
from tests.engine.chains import Row, apps, chain_cases, encoded
from tests.reference.generate_matches import Case
from tests.reference.matches import matches


def examples(count: int) -> settings:
    slow = [HealthCheck.too_slow]
    return settings(
        max_examples=campaign.examples(count),
        deadline=None,
        suppress_health_check=slow,
        database=None,
    )


def found(rules: Compiled, case: Case) -> list[tuple[int, list[int | None]]]:
    """The number of the event that completed each match, and what was selected."""
    run = rules.start()
    rows = run.feed(encoded(run, case.events))
    orders = rows.orders.tolist()
    return [
        (order, [*row.values()][3:])
        for order, row in zip(orders, rows.dicts(), strict=True)
    ]  # fmt: skip


@examples(1000)
@given(chain_cases())
def test_chains(case: Case) -> None:
    rules = Compiled(compile_rules(case.text, "case.cep"), jit=False)
    assert not rules.why_not_generated("sorted")
    expected = [(one[0], case.values(one)) for one in matches(case.spec, case.events)]
    assert found(rules, case) == expected


def output(rules: Compiled, rows: list[Row]) -> list[dict[str, Any]]:
    run = rules.start()
    return [one for stream, time, row in rows for one in run.push_row(stream, time, row).dicts()]


@examples(600)
@given(apps())
def test_apps_as_the_interpreter_runs_them(app: tuple[str, list[Row]]) -> None:
    text, rows = app
    plan = compile_rules(text, "app.cep")
    native = Compiled(plan, jit=False)
    assert not native.why_not_generated("sorted")
    assert output(native, rows) == output(_interpreted(plan), rows)


def _interpreted(plan: Plan) -> Compiled:
    return Compiled(plan, jit=False).by_interpreter


KINDS = """
define stream A (symbol string, x double, n int, v long);
define stream B (symbol string, x double, n int, v long);
define stream C (symbol string, x double, n int, v long);
from every e1=A -> e2=A[x > e1.x + 0.5] within 40 milliseconds
select e1.x as x, e2.v as v insert into Rise;
from every e1=A[n > 0] -> e2=B[v == e1.v] -> e3=C[x < e2.x and n != e1.n] within 60 milliseconds
select e1.x as x, e2.n as n, eventTimestamp(e2) as t, e3.x - e1.x as d having d < 1.0
insert into Three;
from every (e1=A -> e2=B[x >= e1.x]) within 20 milliseconds
select e1.v as v, e2.v as w insert into Again;
from every (e1=A -> e2=B) -> e3=A[n == 3] select e1.n as n, e3.x as x insert into Led;
from e1=C -> e2=C[x > e1.x] select e1.x as x, e2.x as y insert into Once;
from every e1=A, e2=B[x > e1.x], e3=A[n > e1.n] within 9 milliseconds
select e1.x as x, e2.x as y, e3.v as v insert into Row;
from every e1=C, e2=C[x > e1.x], e3=C[x > e2.x], e4=C[x > e3.x]
select e1.x as a, e2.x as b, e3.x as c, e4.x as d insert into Run;
"""


def test_all_kinds_compiled_by_numba() -> None:
    """Every kind of match, over thousands of rows: compiled, plain and interpreted are one."""
    plan = compile_rules(KINDS, "kinds.cep")
    rng = np.random.default_rng(1)
    rows: list[Row] = []
    time = 0
    for _ in range(3000):
        time += int(rng.choice([0, 1, 2, 3, -2], p=[0.2, 0.3, 0.3, 0.18, 0.02]))
        x, n, v = float(rng.normal()), int(rng.integers(0, 4)), int(rng.integers(0, 4))
        values = {"symbol": "K", "x": None if rng.random() < 0.02 else x, "n": n, "v": v}
        rows.append((str(rng.choice(list("ABC"))), 10_000 + time, values))
    expected = output(_interpreted(plan), rows)
    counts = {query.target: 0 for query in plan.queries}
    for row in expected:
        counts[row["stream"]] += 1
    assert counts["Once"] == 1 and min(counts.values()) > 0 and sum(counts.values()) > 1000
    assert output(Compiled(plan, jit=False), rows) == expected
    assert output(Compiled(plan), rows) == expected
