"""No thread of Arrow's ever holds a Python object that is read."""

from __future__ import annotations

import sys

from mt5bridge.arrow import reader
from tests.tidy.sources import package_sources


def test_the_reader_keeps_no_python_object() -> None:
    data = bytes(range(256)) * 300
    before = sys.getrefcount(data)
    kept = reader(data)
    assert sys.getrefcount(data) == before
    assert kept.read() == data


def test_there_is_no_other_way_to_read_bytes() -> None:
    places = [source.place for source in package_sources() if "BufferReader" in source.text]
    assert places == ["mt5bridge/arrow.py"]
