"""No test leaves functions of files behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cep.functions import load_functions


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    yield
    load_functions([])
