"""Spools and archives in a temporary directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.archive import Archive
from mt5bridge.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """An empty spool that seals a segment with every commit."""
    spool = Spool(tmp_path / "spool", segment_bytes=1)
    spool.recover()
    return spool


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive")
