"""No office outlives its test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.orders.desk import Office


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while Office.living:
        Office.living.pop().kill()
