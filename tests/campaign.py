"""How far the tests look: `make test` takes a sample, `make test-all` the whole campaign.

A property test tries a share of its examples in the sample, a marked test (`campaign`) only runs in
the campaign. The examples of the sample are the first ones of the campaign's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

SHARE = 0.1
"""Of a property test's examples in `make test`."""
LEAST = 10
"""So many are tried all the same, if the campaign has as many."""
USUAL = 100
"""Examples of a property test that names no number, in the campaign."""


T = TypeVar("T")


def only(*values: object, id: str | None = None) -> ParameterSet:  # noqa: A002
    """A parameter of `pytest.mark.parametrize` that is the campaign's alone."""
    return pytest.param(*values, id=id, marks=pytest.mark.campaign)


NUMBA = only(True)
"""For the parameter `jit` of a test that has a sibling in machine code: seconds of compiling."""


class _Reach:
    """Set once by conftest.py, before any test is imported."""

    is_whole = False


def begin(is_whole: bool) -> None:
    """Decide for this session."""
    _Reach.is_whole = is_whole


def is_whole() -> bool:
    """Whether this session is a campaign."""
    return _Reach.is_whole


def either(sample: T, whole: T) -> T:
    """An amount or a size: for the sample, for the campaign."""
    return whole if _Reach.is_whole else sample


def sampled(items: Sequence[T]) -> Sequence[T]:
    """All of them in a campaign, else every fifth."""
    return items if _Reach.is_whole else items[::5]


def examples(count: int) -> int:
    """The examples of a property test (or rounds, seeds, mutations) whose campaign has `count`."""
    return count if _Reach.is_whole else min(count, max(LEAST, round(SHARE * count)))
