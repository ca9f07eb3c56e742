"""What is defined at the edges, on the naive reference, our engine and every database."""

from __future__ import annotations

import pytest

from tests.database.answers import Asked, asked_in_turn, in_any_order, naive, native
from tests.database.boundaries import BOUNDARIES, TESTS, Boundary
from tests.database.conftest import NAMES

EACH = pytest.mark.parametrize("case", BOUNDARIES, ids=lambda one: one.name)
asked = pytest.fixture(asked_in_turn, scope="module", params=NAMES, name="asked")


@EACH
def test_reference(case: Boundary) -> None:
    assert in_any_order(naive(case.query, case.events, TESTS)) == in_any_order(case.results)


@EACH
def test_native(case: Boundary) -> None:
    found = native({"q": case.query}, case.events)["q"]
    assert in_any_order(found) == in_any_order(case.results)


@EACH
def test_database(case: Boundary, asked: Asked) -> None:
    queries = {"q": case.query}
    assert not asked.refusals(queries)
    expected = native(queries, case.events)
    for size in (1, 7, 1_000):
        assert asked.tell(queries, case.events, size) == expected, f"{size} events a batch"
