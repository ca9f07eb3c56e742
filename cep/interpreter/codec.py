"""The state of a part as bytes: plain data in MessagePack, with rows and sets."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.msgpack import Ext

from cep.interpreter.rows import Row, RowKind

ROW, SET, MAP = 1, 2, 3
"""Codes of the extension types: rows, sets, and dicts whose keys are not all strings."""


def pack(state: Any) -> bytes:
    """State as bytes; TypeError when something in it has no plain form. Tuples become lists."""
    return msgspec.msgpack.encode(_plain(state))


def unpack(data: bytes) -> Any:
    """State from bytes; ValueError when they are damaged."""
    return msgspec.msgpack.decode(data, ext_hook=_extension)


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str() | bytes():
            return value
        case Row():
            return Ext(ROW, pack([value.time, value.kind, value.values, value.slots, value.group]))
        case list() | tuple():
            return [_plain(item) for item in value]
        case set() | frozenset():
            return Ext(SET, pack(sorted(value, key=repr)))
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _plain(item) for key, item in value.items()}
        case dict():
            return Ext(MAP, pack(list(value.items())))
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be saved: {value!r}")


def _extension(code: int, data: memoryview) -> Any:
    body = msgspec.msgpack.decode(data, ext_hook=_extension)
    match code:
        case 1:
            return _row(*body)
        case 2:
            return set(body)
        case 3:
            return {tuple(key) if isinstance(key, list) else key: item for key, item in body}
        case _:
            raise ValueError(f"unknown type {code}")


def _row(time: int, kind: int, values: list[Any], slots: Any, group: Any) -> Row:
    row = Row(time, values, RowKind(kind), slots)
    row.group = None if group is None else tuple(group)
    return row
