"""Queries in real databases give the rows of the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests import campaign
from tests.metamorphic import servers
from tests.metamorphic.test_triples import check
from tests.metamorphic.triples import triple, verdict


@pytest.fixture(autouse=True, scope="module")
def _stopped() -> Iterator[None]:
    yield
    servers.stop()


def check_some(way: str, wanted: int) -> None:
    """Check so many triples that a way runs; what it refuses does not count."""
    ran, numbers = 0, count()
    while ran < wanted:
        one = triple(next(numbers), way)
        found = verdict(one)
        ran += not found.refused
        if found.difference is not None:
            check(one)


@pytest.mark.parametrize("way", ["duckdb", "postgresql"])
def test_databases_give_the_same_rows(way: str) -> None:
    check_some(way, campaign.either(4, 80))
