"""How many worlds it takes until a planted fault is found."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.world.faults import FAULTS, RARE
from tests.world.runs import run_seed


class Found(NamedTuple):
    """The seed of the world that shows a fault, and by what."""

    seed: int
    problem: str


def hunt(name: str, seeds: range) -> Found | None:
    """Plant a fault and run worlds until one of them has a problem; None: none has."""
    for seed in seeds:
        with pytest.MonkeyPatch.context() as patch:
            (FAULTS | RARE)[name](patch)
            problems = run_seed(seed).problems
        if problems:
            return Found(seed, problems[0])
    return None
