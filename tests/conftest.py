"""What holds for all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A shared machine is slow at times; a slow example is not a wrong one. The examples are the same
# every time, so that a failure is the change's; `make explore` looks for new ones.
settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests that need Spark run in one worker, which starts it once."""
    for item in items:
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
