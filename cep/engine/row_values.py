"""The values of one output row, by the shortest way: arrays and masks are for many.

A rule's row that is turned into a dictionary alone costs 2 us so, and 15 as columns.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_TIME
from cep.engine.layout import row_cells
from cep.engine.strings import Strings
from cep.plan.nodes import Stream
from cep.plan.types import Type

Value = Callable[[Any], Any]
"""What the word of a cell means, of an integer or a real."""


class RowValues:
    """Reads rows of a source or query stream: `width` whole numbers, then reals."""

    def __init__(self, stream: Stream, width: int, strings: Strings) -> None:
        attributes = stream.schema.attributes
        letters = {OUT_TIME: "q"}
        words = []
        for cell in row_cells(stream.schema):
            words.append(cell.column + width * cell.is_float)
            letters[words[-1]] = "d" if cell.is_float else "q"
        format_ = "".join(letters.get(word, "8x") for word in range(max(letters) + 1))
        order = sorted(letters)
        self._time = order.index(OUT_TIME)
        self._unpack = struct.Struct("=" + format_).unpack_from
        self._empty: dict[str, Any] = {"stream": stream.name, "time_msc": 0, "kind": "current"}
        self._cells = tuple(
            (attribute.name, order.index(word), value_of(attribute.type, strings))
            for attribute, word in zip(attributes, words, strict=True)
        )

    def dict(self, row: bytearray, objects: Sequence[Any]) -> dict[str, Any]:
        """The row as `{"stream", "time_msc", "kind", ...attributes}`. O(attributes)."""
        words = self._unpack(row)
        found = self._empty.copy()
        found["time_msc"] = words[self._time]
        for name, place, value in self._cells:
            word = words[place]
            found[name] = objects[word] if value is None else value(word)
        return found


def value_of(type_: Type, strings: Strings) -> Value | None:
    """What a cell of that type means; None: it is the place of an object."""
    match type_:
        case Type.OBJECT | Type.LIST:
            return None
        case Type.STRING:
            return strings.text
        case Type.BOOL:
            return _truth
        case Type.FLOAT | Type.DOUBLE:
            return _real
        case _:
            return _whole


def _whole(word: int) -> int | None:
    return None if word == NULL else word


def _truth(word: int) -> bool | None:
    return None if word == NULL else bool(word)


def _real(word: float) -> float | None:
    return word if isfinite(word) else None
