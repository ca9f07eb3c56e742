"""The test proves itself: yesterday's errors, put back, are found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loguru import logger

from tests.metamorphic.faults import FAULTS, Fault
from tests.metamorphic.triples import triple, verdict

WITHIN = 600


@pytest.fixture(autouse=True)
def _silent() -> Iterator[None]:
    """A planted error may be logged for each of its rows."""
    logger.disable("cep")
    yield
    logger.enable("cep")


def finds(fault: Fault, number: int) -> bool:
    """Whether a triple differs with the error, and does not without it."""
    with fault.planted():
        has_found = verdict(triple(number)).difference is not None
    return has_found and verdict(triple(number)).difference is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_is_found_where_it_was(fault: Fault) -> None:
    assert fault.seed < WITHIN
    assert finds(fault, fault.seed)


@pytest.mark.campaign
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_is_found_first_where_the_list_says(fault: Fault) -> None:
    """If an earlier triple finds it now, the list should name that one."""
    assert next(number for number in range(WITHIN) if finds(fault, number)) == fault.seed


def test_there_are_ten_at_least() -> None:
    assert len({fault.name for fault in FAULTS}) >= 10
