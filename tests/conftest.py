"""What holds for all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A shared machine is slow at times; a slow example is not a wrong one.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests that need Spark run in one worker, which starts it once."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
