"""Planted faults are found: what worlds prove, they would have told if it were not so."""

from __future__ import annotations

import pytest

from tests.campaign import only
from tests.world.faults import FAULTS
from tests.world.hunt import hunt

WITHIN = range(1, 201)
QUICK = (
    "ids of signals come from the place in the spool, which a crash gives to others",
    "lots of an order are not looked at",
    "signals go to every terminal that trades",
    "what comes while rules warm up is not kept for them",
    "rules that were behind what is kept for them leave out what is not",
)
"""Found by the first worlds."""


@pytest.mark.parametrize("name", [name if name in QUICK else only(name) for name in FAULTS])
def test_a_planted_fault_is_found(name: str) -> None:
    assert hunt(name, WITHIN) is not None
