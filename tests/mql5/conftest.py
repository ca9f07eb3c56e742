"""Programs compiled once for all tests of the wire and the link."""

from __future__ import annotations

import pytest

from mt5bridge.emulator.build import CompilerMissingError
from tests.mql5.running import Scripts


@pytest.fixture(scope="session")
def scripts() -> Scripts:
    """The compiled scripts; skips where there is no g++."""
    try:
        return Scripts.build()
    except CompilerMissingError as missing:
        pytest.skip(str(missing))
