"""Compiled queries against the interpreter, on generated queries and rows in order of time."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan.nodes import Plan
from tests.engine.test_against_reference import Row, examples, native
from tests.reference.generate_families import filter_plans, window_plans
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import SourceRow


def interpreted(plan: Plan, rows: list[SourceRow]) -> list[Row]:
    run = InterpretedRun(plan)
    return [found for row in rows for found in run.push_row(*row)]


def by_stream(rows: list[Row]) -> dict[Any, list[Row]]:
    """The rows of each stream in order.

    Between streams the order may differ: a stage keyed by symbol runs in front of the others, and
    in the interpreter, as in Siddhi, queries are told of a row before callbacks are.
    """
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row["stream"], []).append(row)
    return found


def in_order(rows: list[SourceRow]) -> list[SourceRow]:
    return sorted(rows, key=lambda row: row[1])


@examples(300)
@given(query_plans(), query_rows(moderate=True))
def test_queries(plan: Plan, rows: list[SourceRow]) -> None:
    rows = in_order(rows)
    assert by_stream(native(plan, rows, jit=False)) == by_stream(interpreted(plan, rows))


@examples(150)
@given(filter_plans(), query_rows())
def test_filters_of_one_shape(plan: Plan, rows: list[SourceRow]) -> None:
    rows = in_order(rows)
    assert by_stream(native(plan, rows, jit=False)) == by_stream(interpreted(plan, rows))


@examples(150)
@given(window_plans(), query_rows(moderate=True))
def test_windows_of_one_shape(plan: Plan, rows: list[SourceRow]) -> None:
    rows = in_order(rows)
    assert by_stream(native(plan, rows, jit=False)) == by_stream(interpreted(plan, rows))


def test_nothing_of_these_is_left_to_the_interpreter() -> None:
    """What is compared is really compiled."""

    @examples(100)
    @given(query_plans() | filter_plans() | window_plans())
    def compiled(plan: Plan) -> None:
        assert not Compiled(plan, jit=False).why_not_generated("sorted")

    compiled()
