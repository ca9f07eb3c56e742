"""Bodies from dataclasses: the order of the fields is the order of the bytes.

Numbers are little-endian and unpadded, texts are UTF-8 after a u2 length, lists and record
arrays follow a u4 count.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import fields
from enum import IntEnum
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Protocol, TypeAlias, get_args, get_type_hints

import numpy as np

from mt5bridge.records import DEAL, TICK, Records
from mt5bridge.wire.errors import Reason, WireError

TEXT_BYTES_MAX = 1024

U1: TypeAlias = Annotated[int, "B"]
U2: TypeAlias = Annotated[int, "H"]
U4: TypeAlias = Annotated[int, "I"]
U8: TypeAlias = Annotated[int, "Q"]
I4: TypeAlias = Annotated[int, "i"]
I8: TypeAlias = Annotated[int, "q"]
F8: TypeAlias = Annotated[float, "d"]
Text: TypeAlias = Annotated[str, "text"]
TickArray: TypeAlias = Annotated[Records, TICK]
DealArray: TypeAlias = Annotated[Records, DEAL]

_COUNT = struct.Struct("<I")
_TEXT_LENGTH = struct.Struct("<H")


class Reader:
    """A cursor over a body; reading past its end is a WireError."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def skip(self, size: int) -> int:
        """The place of the next `size` bytes, which count as read."""
        at = self.at
        if size > len(self.data) - at:
            raise WireError(Reason.TRUNCATED, f"bytes wanted: {size}, left: {len(self.data) - at}")
        self.at = at + size
        return at

    def unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        """The values of a fixed structure."""
        at = self.at
        end = at + form.size
        if end > len(self.data):
            self.skip(form.size)
        self.at = end
        return form.unpack_from(self.data, at)


class Fields(Protocol):
    """Some neighbouring fields of a body."""

    def pack(self, body: Any) -> bytes:
        """The bytes of these fields of `body`."""

    def unpack(self, reader: Reader) -> tuple[Any, ...]:
        """The values of these fields, in order."""


class Numbers:
    """Neighbouring numbers, packed by one struct."""

    def __init__(self, names: tuple[str, ...], formats: str) -> None:
        self.names = names
        self.form = struct.Struct("<" + formats)
        get = attrgetter(*names)
        self._values: Callable[[Any], Any] = get if len(names) > 1 else lambda body: (get(body),)

    def pack(self, body: Any) -> bytes:
        try:
            return self.form.pack(*self._values(body))
        except struct.error as error:
            place = f"{type(body).__name__}({', '.join(self.names)})"
            raise WireError(Reason.BAD_VALUE, f"{place}: {error}") from None

    def unpack(self, reader: Reader) -> tuple[Any, ...]:
        return reader.unpack(self.form)


class Code:
    """A number that must be one of an enumeration."""

    def __init__(self, name: str, codes: type[IntEnum], form: str) -> None:
        self.name = name
        self.codes = codes
        self.form = struct.Struct("<" + form)
        self._known = {int(code): (code,) for code in codes}

    def pack(self, body: Any) -> bytes:
        value = getattr(body, self.name)
        return self.form.pack(value if value.__class__ is self.codes else self.codes(value))

    def unpack(self, reader: Reader) -> tuple[Any, ...]:
        (number,) = reader.unpack(self.form)
        found = self._known.get(number)
        if found is None:
            raise WireError(Reason.BAD_VALUE, f"{self.name} {number} is unknown")
        return found


class TextPart:
    """A length-prefixed UTF-8 text without U+0000."""

    def __init__(self, name: str) -> None:
        self.name = name

    def pack(self, body: Any) -> bytes:
        try:
            raw: bytes = getattr(body, self.name).encode("utf-8")
        except UnicodeEncodeError as error:
            raise WireError(Reason.BAD_TEXT, f"{self.name}: {error}") from None
        self._check(raw)
        return _TEXT_LENGTH.pack(len(raw)) + raw

    def unpack(self, reader: Reader) -> tuple[Any, ...]:
        (size,) = reader.unpack(_TEXT_LENGTH)
        at = reader.skip(size)
        raw = bytes(reader.data[at : at + size])
        self._check(raw)
        try:
            return (raw.decode("utf-8"),)
        except UnicodeDecodeError as error:
            raise WireError(Reason.BAD_TEXT, f"{self.name}: {error}") from None

    def _check(self, raw: bytes) -> None:
        if len(raw) > TEXT_BYTES_MAX:
            raise WireError(
                Reason.BAD_TEXT, f"{self.name} has {len(raw)} bytes, at most {TEXT_BYTES_MAX}"
            )
        if b"\0" in raw:
            raise WireError(Reason.BAD_TEXT, f"{self.name} holds a zero byte")


class RecordArray:
    """A u4 count and that many fixed records; decoded as a read-only view, not a copy."""

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name = name
        self.dtype = dtype

    def pack(self, body: Any) -> bytes:
        records: Records = getattr(body, self.name)
        if records.dtype != self.dtype:
            raise WireError(Reason.BAD_VALUE, f"{self.name} has dtype {records.dtype}")
        return _COUNT.pack(len(records)) + records.tobytes()

    def unpack(self, reader: Reader) -> tuple[Any, ...]:
        (count,) = reader.unpack(_COUNT)
        at = reader.skip(count * self.dtype.itemsize)
        return (np.frombuffer(reader.data, self.dtype, count, at),)


class Entries:
    """A u4 count and that many bodies of one class."""

    def __init__(self, name: str, entry: type) -> None:
        self.name = name
        self.entry = entry

    def pack(self, body: Any) -> bytes:
        entries = getattr(body, self.name)
        return _COUNT.pack(len(entries)) + b"".join(map(pack_body, entries))

    def unpack(self, reader: Reader) -> tuple[Any, ...]:
        (count,) = reader.unpack(_COUNT)
        return (tuple(unpack_body(self.entry, reader) for _ in range(count)),)


def pack_body(body: Any) -> bytes:
    """The bytes of a dataclass whose annotations are those of this module."""
    return b"".join([part.pack(body) for part in parts(body.__class__)])


def unpack_body(cls: Callable[..., Any], reader: Reader) -> Any:
    """A `cls` from the reader's next bytes."""
    values: list[Any] = []
    for part in parts(cls):
        values += part.unpack(reader)
    return cls(*values)


@cache
def parts(cls: Any) -> tuple[Fields, ...]:
    """How a dataclass is laid out."""
    found: list[Fields] = []
    for plain, run in groupby(_marked(cls), key=lambda field: _is_number(*field[1:])):
        group = list(run)
        if plain:
            names = tuple(name for name, _, _ in group)
            found.append(Numbers(names, "".join(mark for _, _, mark in group)))
        else:
            found += [_part(*field) for field in group]
    return tuple(found)


def _marked(cls: Any) -> list[tuple[str, Any, Any]]:
    hints = get_type_hints(cls, include_extras=True)
    return [(field.name, *_base_and_mark(hints[field.name])) for field in fields(cls)]


def _base_and_mark(hint: Any) -> tuple[Any, Any]:
    base, mark = get_args(hint) if hasattr(hint, "__metadata__") else (hint, None)
    return base, mark


def _is_number(base: Any, mark: Any) -> bool:
    return base in (int, float) and mark is not None


def _part(name: str, base: Any, mark: Any) -> Fields:
    if mark == "text":
        return TextPart(name)
    if isinstance(mark, np.dtype):
        return RecordArray(name, mark)
    if mark is None:
        return Entries(name, get_args(base)[0])
    return Code(name, base, mark)
