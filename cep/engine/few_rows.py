"""The values of a few output rows of any streams, row by row: columns are for many.

What one tick leads to, an event, a complex event and a signal, costs a quarter so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_KEY, OUT_TIME, Ints
from cep.engine.layout import own_cells
from cep.engine.row_values import Value, value_of
from cep.engine.strings import Strings
from cep.plan.nodes import Origin, Stream

Row = dict[str, Any]
FEW = 12
"""From about twice as many on, columns are as fast."""
_KEY, _NUMBER, _SEQUENCE = 0, 1, 2
_FIRST, _ARRANGEMENT, _EVENTS = 2, 3, 4


class StreamValues:
    """Reads rows of one stream from lists of their whole numbers and reals.

    `key_codes` are the codes of the texts of keys, by the key's row.
    """

    def __init__(self, stream: Stream, strings: Strings, key_codes: Sequence[int]) -> None:
        names = stream.schema.names
        self._strings, self._key_codes = strings, key_codes
        self._origin = stream.origin
        own = own_cells(stream)
        self._names = names[: len(names) - len(own)]
        self._empty: Row = {
            "stream": stream.name, "time_msc": 0, "kind": "current", **dict.fromkeys(names),
        }  # fmt: skip
        self._cells: tuple[tuple[str, bool, int, Value | None], ...] = tuple(
            (attribute.name, cell.is_float, cell.column, value_of(attribute.type, strings))
            for attribute, cell in own
        )

    def row(self, ints: list[int], floats: list[float], lists: Ints, objects: Sequence[Any]) -> Row:
        """The row as `{"stream", "time_msc", "kind", ...attributes}`. O(attributes)."""
        found = self._empty.copy()
        found["time_msc"] = ints[OUT_TIME]
        if self._origin is Origin.EVENT:
            self._fill_event(found, ints)
        elif self._origin is Origin.COMPLEX:
            self._fill_complex(found, ints, lists)
        for name, is_real, column, value in self._cells:
            word = (floats if is_real else ints)[column]
            found[name] = objects[int(word)] if value is None else value(word)
        return found

    def _fill_event(self, found: Row, ints: list[int]) -> None:
        names = self._names
        found[names[_KEY]] = self._key(ints)
        found[names[_NUMBER]], found[names[_SEQUENCE]] = ints[OUT_ATTRIBUTES : OUT_ATTRIBUTES + 2]

    def _fill_complex(self, found: Row, ints: list[int], lists: Ints) -> None:
        names = self._names
        number, first, at, count = ints[OUT_ATTRIBUTES : OUT_ATTRIBUTES + 4]
        found[names[_KEY]] = self._key(ints)
        found[names[_NUMBER]], found[names[_FIRST]] = number, first
        found[names[_ARRANGEMENT]] = lists[at : at + count].tolist()
        found[names[_EVENTS]] = lists[at + count : at + 2 * count].tolist()

    def _key(self, ints: list[int]) -> str | None:
        return self._strings.text(self._key_codes[ints[OUT_KEY]])
