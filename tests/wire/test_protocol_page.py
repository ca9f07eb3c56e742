"""PROTOCOL.md says what the code does."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from mt5bridge.records import DEAL, TICK
from mt5bridge.wire import Frame, FrameType, encode
from mt5bridge.wire import codes as wire_codes
from mt5bridge.wire.codec import BODY_BYTES_MAX
from tests.wire import protocol_page
from tests.wire.strategies import frames

_DTYPES = {"tick": TICK, "deal": DEAL}
_LISTED = (
    wire_codes.LostReason,
    wire_codes.OrderKind,
    wire_codes.OrderSide,
    wire_codes.Side,
    wire_codes.SignalStatus,
    wire_codes.SwapMode,
    wire_codes.TradeMode,
    wire_codes.Wanted,
    wire_codes.FieldKind,
)
_FORMATS = {"u4": "<u4", "u8": "<u8", "i8": "<i8", "f8": "<f8"}


def test_every_type_has_a_table() -> None:
    tables = protocol_page.frame_tables()
    assert {number: name for number, (name, _) in tables.items()} == {
        kind.value: kind.name for kind in FrameType
    }


@given(frames())
def test_tables_read_what_the_codec_writes(frame: Frame) -> None:
    """Section 4: names, types and order of all fields."""
    name, values = protocol_page.read_frame(encode(frame))
    assert name == frame.TYPE.name
    _assert_same(frame, values)


@pytest.mark.parametrize("name", ["tick", "deal"])
def test_record_tables(name: str) -> None:
    """4.22, 4.23: names, types and order of a record's fields."""
    size, table = protocol_page.record_tables()[name]
    types = [(field, _FORMATS.get(kind) or f"S{kind.split()[0]}") for kind, field in _bare(table)]
    assert np.dtype(types) == _DTYPES[name]
    assert size == _DTYPES[name].itemsize


def test_codes_are_those_of_the_page() -> None:
    """9.1 and the lists in section 4."""
    for code in wire_codes.ErrorCode:
        assert f"{code.value} `{code.name.lower()}`" in protocol_page.PAGE
    for kind in _LISTED:
        listed = ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in kind)
        assert f"({listed})" in protocol_page.PAGE
    assert f"{BODY_BYTES_MAX:,}" in protocol_page.PAGE


def test_clauses_are_numbered_once() -> None:
    numbers = re.findall(r"^(?:\*\*)?(\d+\.\d+)[ *]", protocol_page.PAGE, re.MULTILINE)
    assert len(numbers) == len(set(numbers)) > 50


def _bare(table: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(kind, re.sub(r" \(.*", "", name)) for kind, name in table]


def _assert_same(body: Any, values: dict[str, Any]) -> None:
    for field in fields(body):
        value = getattr(body, field.name)
        if isinstance(value, np.ndarray):
            assert b"".join(values["array"]) == value.tobytes()
        elif isinstance(value, tuple):
            for entry, entry_values in zip(value, values["list"], strict=True):
                assert is_dataclass(entry)
                _assert_same(entry, entry_values)
        elif isinstance(value, float) and math.isnan(value):
            assert struct.pack("<d", value) == struct.pack("<d", values[field.name])
        else:
            assert values[field.name] == value


def test_quoted_clauses_exist() -> None:
    """Tests begin their docstrings with the clauses they prove."""
    clauses = set(re.findall(r"^(?:\*\*)?(\d+\.\d+)[ *]", protocol_page.PAGE, re.MULTILINE))
    quoted = {
        number
        for path in Path(__file__).parent.parent.glob("*/test_*.py")
        if path.parent.name in ("wire", "bridge", "orders", "mql5")
        for line in re.findall(r'^    """(\d+\.\d+[^"]*)', path.read_text("utf-8"), re.MULTILINE)
        for number in re.findall(r"\b\d{1,2}\.\d{1,2}\b", line)
    }
    assert len(quoted) > 30
    assert quoted <= clauses
