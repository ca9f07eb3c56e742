"""One source stream fed row by row: the short way of a tick that comes alone.

Columns, arrays and masks are made for batches. Here a row's values go straight into the one encoded
row there is, so that a tick costs a few microseconds.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from cep.engine.encode import InputError
from cep.engine.input_rows import InputRows
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.engine.layout import attribute_cells
from cep.engine.native import Run
from cep.engine.row_push import LARGEST, Place, Push, Target, pusher
from cep.plan.types import Attribute, Type

Put = Callable[[Any], None]


WANTED = {
    Type.BOOL: "True or False",
    Type.INT: "a whole number",
    Type.LONG: "a whole number",
    Type.FLOAT: "a number",
    Type.DOUBLE: "a number",
    Type.STRING: "a text",
    Type.OBJECT: "anything",
}


class RowFeed:
    """Feeds rows of one source stream, in order, to a run; the run may be fed otherwise, too."""

    push: Push
    """`push(time_msc, *values)` feeds one row: its time in ms UTC and its values in the order of
    the stream's attributes. Returns `Rows`. InputError, and nothing fed, when a value does not fit.
    """

    def __init__(self, run: Run, stream: str) -> None:
        """InputError when the rules define no such source stream."""
        self.run = run
        source = run.encoder.source(stream)
        ints, floats = run.rules.stages.row_widths
        words = np.zeros(ints + floats, np.int64)
        self._row = InputRows(words[:ints].reshape(1, -1), words[ints:].view(float).reshape(1, -1))
        self._number = run.rules.ids.of(stream)
        # single cells are written far faster through a memoryview than through an array
        self._ints: memoryview[int] = self._row.ints.data.cast("B").cast("q")
        self._floats: memoryview[float] = self._row.floats.data.cast("B").cast("d")
        self._known: dict[str | None, tuple[int, int]] = {}
        self._stream, self.names = stream, source.schema.names
        pairs = attribute_cells(source.schema)
        self._puts = tuple(self._put(attribute, cell.column) for attribute, cell in pairs)
        places = [
            Place(attribute.type, cell.column + ints * cell.is_float, self._is_key(attribute))
            for attribute, cell in pairs
        ]
        target = Target(
            run, self._row, words.data.cast("B"), self._known, run.strings.codes,
            run.encoder.object, self._take,
        )  # fmt: skip
        self.push = pusher(places, self._number, ints + floats, target)

    def _take(self, time_msc: int, values: tuple[Any, ...]) -> None:
        """Write the row value by value."""
        ints = self._ints
        try:
            ints[OUT_TIME] = time_msc
            for put, value in zip(self._puts, values, strict=True):
                put(value)
        except (TypeError, ValueError, OverflowError) as problem:
            raise self._explained(values, problem) from problem
        if time_msc < 0:
            raise InputError(f"{self._stream}: times before 1970; give milliseconds UTC since 1970")
        ints[OUT_ORDER], ints[OUT_STREAM] = self.run.next_order, self._number

    def _explained(self, values: tuple[Any, ...], problem: Exception) -> InputError:
        if len(values) != len(self._puts):
            wanted = ", ".join(self.names)
            return InputError(f"{self._stream}: {len(values)} values; give {wanted}")
        attributes = self.run.encoder.source(self._stream).schema.attributes
        for attribute, put, value in zip(attributes, self._puts, values, strict=True):
            try:
                put(value)
            except (TypeError, ValueError, OverflowError) as found:
                is_of_type = not isinstance(found, TypeError)
                why = str(found) if is_of_type else f"give {WANTED[attribute.type]}"
                what = f"{reprlib.repr(value)} does not fit {attribute.type}: {why}"
                return InputError(f"{self._stream}.{attribute.name}: {what}")
        return InputError(f"{self._stream}: {values!r} do not fit {self.names!r}: {problem}")

    def _put(self, attribute: Attribute, column: int) -> Put:
        """What writes a value of this attribute into its cell."""
        if attribute.type is Type.STRING:
            return self._put_key(column) if self._is_key(attribute) else self._put_text(column)
        if attribute.type is Type.OBJECT:
            return self._put_object(column)
        if attribute.type in LARGEST:
            return self._put_whole(column, LARGEST[attribute.type])
        return self._put_float(column, attribute.type is Type.FLOAT)

    def _is_key(self, attribute: Attribute) -> bool:
        return attribute.name == self.run.encoder.keys.get(self._stream)

    def _put_float(self, column: int, single: bool) -> Put:
        floats, isfinite, nan = self._floats, math.isfinite, math.nan

        def put(value: float | None) -> None:
            floats[column] = value if value is not None and isfinite(value) else nan

        def put_single(value: float | None) -> None:
            with np.errstate(over="ignore"):  # what is beyond its largest is not finite, then
                is_number = value is not None and isfinite(value)  # NumPy would read a text
                put(float(np.float32(value)) if is_number else None)

        return put_single if single else put

    def _put_whole(self, column: int, largest: int) -> Put:
        ints = self._ints

        def put(value: Any) -> None:
            if value is None:
                ints[column] = NULL
            elif -largest - 1 <= value <= largest:
                ints[column] = value.item() if isinstance(value, np.generic) else value
            else:
                raise ValueError(f"{value} is beyond {largest}")

        return put

    def _put_object(self, column: int) -> Put:
        ints, encoder = self._ints, self.run.encoder

        def put(value: Any) -> None:
            ints[column] = encoder.object(value)

        return put

    def _put_text(self, column: int) -> Put:
        ints, code = self._ints, self.run.strings.code

        def put(value: str | None) -> None:
            ints[column] = code(_text(value))

        return put

    def _put_key(self, column: int) -> Put:
        ints, known = self._ints, self._known

        def put(value: str | None) -> None:
            if value not in known:
                known[value] = self._code_and_row(_text(value))
            ints[column], ints[OUT_KEY] = known[value]

        return put

    def _code_and_row(self, key: str | None) -> tuple[int, int]:
        row = 0 if key is None else self.run.key_row(key)
        self.run.clocks.fit(row)
        return self.run.strings.code(key), row


def _text(value: str | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is no string")
