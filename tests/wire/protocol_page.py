"""A slow reader of frames that knows nothing but the tables of PROTOCOL.md."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import mt5bridge

PAGE = (Path(mt5bridge.__file__).parent / "PROTOCOL.md").read_text(encoding="utf-8")
_FORMATS = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i4": "i", "i8": "q", "f8": "d"}
_FRAME = re.compile(r"^\*\*4\.\d+ ([A-Z_]+) = (\d+) \([^)]*\)\.\*\* (.*)$", re.MULTILINE)
_RECORD = re.compile(r"^\*\*4\.\d+ (tick|deal)\*\*, (\d+) bytes[^:]*: (.*)$", re.MULTILINE)

Field = tuple[str, str]  # type, name


def frame_tables() -> dict[int, tuple[str, list[Field]]]:
    """Type number to name and fields, as the page has them."""
    return {int(number): (name, _fields(text)) for name, number, text in _FRAME.findall(PAGE)}


def record_tables() -> dict[str, tuple[int, list[Field]]]:
    """Record name to size and fields, as the page has them."""
    return {
        name: (int(size), _fields(text.split(". `")[0]))
        for name, size, text in _RECORD.findall(PAGE)
    }


def read_frame(data: bytes) -> tuple[str, dict[str, Any]]:
    """Name and fields of a valid frame; records as raw bytes."""
    name, fields = frame_tables()[data[5]]
    values, end = _read(fields, data, 16)
    assert end == len(data)
    return name, values


def _fields(text: str) -> list[Field]:
    """`u4 a · list of: u8 b · text c` to fields; a list takes the rest of its row."""
    plain = re.sub(r" \([^)]*\)", "", text)
    head, marker, entry = plain.partition("list of: ")
    fields = [_field(item) for item in head.split(" · ") if item]
    return [*fields, ("list", entry)] if marker else fields


def _field(item: str) -> Field:
    if item.startswith("array of "):
        return "array", item.removeprefix("array of ")
    kind, _, name = item.rpartition(" ")
    return kind, name


def _read(fields: list[Field], data: bytes, at: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    for kind, name in fields:
        if kind in _FORMATS:
            (values[name],) = struct.unpack_from("<" + _FORMATS[kind], data, at)
            at += struct.calcsize("<" + _FORMATS[kind])
        elif kind == "text":
            (size,) = struct.unpack_from("<H", data, at)
            values[name] = data[at + 2 : at + 2 + size].decode()
            at += 2 + size
        else:
            values[kind], at = _read_many(kind, name, data, at)
    return values, at


def _read_many(kind: str, name: str, data: bytes, at: int) -> tuple[list[Any], int]:
    (count,) = struct.unpack_from("<I", data, at)
    at += 4
    items: list[Any] = []
    for _ in range(count):
        if kind == "array":
            size = record_tables()[name][0]
            items.append(data[at : at + size])
            at += size
        else:
            item, at = _read(_fields(name), data, at)
            items.append(item)
    return items, at
