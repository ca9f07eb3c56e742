"""Source rows, columnar, to the engine's input rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.columns import Column, is_column, numbers, texts
from cep.engine.input_rows import Given, InputRows
from cep.engine.kernels.state import Ints
from cep.engine.layout import StreamIds, row_cells
from cep.engine.strings import Coded, Strings
from cep.interpreter.arrow import BEYOND
from cep.plan.nodes import Plan, Stream
from cep.plan.types import Attribute, Type

if TYPE_CHECKING:
    from cep.engine.intake import Intake
    from cep.engine.text_codes import TextCodes


class InputError(ValueError):
    """Rows that do not fit their stream; the message names stream, column and remedy."""


def need_times(stream: str, time_msc: Column) -> None:
    """InputError when there are times, in ms UTC, that records cannot have."""
    if len(time_msc) and np.min(time_msc) < 0:
        raise InputError(f"{stream}: times before 1970; give milliseconds UTC since 1970")


class Encoder:
    """Encodes columns by the schemas of a plan's source streams."""

    def __init__(
        self,
        plan: Plan,
        ids: StreamIds,
        strings: Strings,
        keys: Mapping[str, str],
        widths: tuple[int, int],
    ) -> None:
        """`keys` are the key attributes by source; rows of other sources have no key. `widths` are
        the columns of int and float rows.
        """
        self.plan = plan
        self.ids = ids
        self.strings = strings
        self.keys = keys
        self.widths = widths
        self.sources = {stream.name: stream for stream in plan.sources}
        self._cells = {stream.name: row_cells(stream.schema) for stream in plan.sources}
        self.objects: list[Any] = []
        """Values that are objects, until their rows are done; their cells hold places here."""
        self.intake: Intake | None = None
        """What writes many rows at once, where there may be machine code."""
        self.text_codes: TextCodes | None = None
        """What finds the codes of many texts at once, where there may be machine code."""

    def encode(
        self, stream: str, columns: Mapping[str, Column], time_msc: Column, order: Column | range
    ) -> InputRows:
        """Rows of one stream: a column per attribute, times in ms UTC, places in the total order.

        InputError when the stream is unknown or a column is missing or of another type or length.
        """
        return self.written(self.given(stream, columns, time_msc, order))

    def written(self, given: Given) -> InputRows:
        """Columns as rows."""
        return given.rows(self.widths) if self.intake is None else self.intake.rows(given)

    def given(
        self, stream: str, columns: Mapping[str, Column], time_msc: Column, order: Column | range
    ) -> Given:
        """The same before they are written as rows."""
        source = self.source(stream)
        n = len(time_msc)
        need_times(stream, time_msc)
        attributes = source.schema.attributes
        return Given(
            self.ids.of(stream),
            _whole(time_msc, n),
            order if isinstance(order, range) else _whole(order, n),
            self._cells[stream],
            [self._values(source, attribute, columns, n) for attribute in attributes],
            self._key_place(source),
        )

    def _key_place(self, source: Stream) -> int | None:
        key = self.keys.get(source.name)
        return None if key is None else source.schema.names.index(key)

    def source(self, stream: str) -> Stream:
        """The source stream of that name; InputError when there is none."""
        if not isinstance(stream, str) or stream not in self.sources:
            known = ", ".join(self.sources) or "none"
            raise InputError(f"no source stream {stream!r}; the rules define: {known}")
        return self.sources[stream]

    def _values(
        self, stream: Stream, attribute: Attribute, columns: Mapping[str, Column], n: int
    ) -> NDArray[Any] | Coded:
        where = f"{stream.name}.{attribute.name}"
        if attribute.name not in columns:
            raise InputError(f"{where}: the input has no such column; it has {', '.join(columns)}")
        column = columns[attribute.name]
        if not is_column(column):
            kind = type(column).__name__
            raise InputError(
                f"{where}: a column of type {kind}; give a list, an array or one of Arrow"
            )
        if len(column) != n:
            raise InputError(f"{where}: {len(column)} values for {n} rows")
        try:
            return self._convert(attribute.type, column, where)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
            what = BEYOND if isinstance(problem, OverflowError) else problem
            raise InputError(f"{where}: not {attribute.type}: {what}") from problem

    def object(self, value: Any) -> int:
        """The cell of a value that is an object."""
        self.objects.append(value)
        return len(self.objects) - 1

    def _convert(self, type_: Type, column: Column, where: str) -> NDArray[Any] | Coded:
        if type_ is Type.OBJECT:
            return np.array([self.object(value) for value in column], np.int64)
        if type_ is not Type.STRING:
            return numbers(type_, column)
        if isinstance(column, list) and (codes := self.strings.known(column)) is not None:
            return codes
        if self.text_codes is not None:
            return self.text_codes.coded(texts(column), where)
        return self.strings.coded(texts(column), where)


def _whole(column: Column, n: int) -> Ints:
    """A column of whole numbers as one array, which its rows follow each other in."""
    if isinstance(column, np.ndarray) and column.dtype == np.int64 and column.ndim == 1:
        return np.ascontiguousarray(column)
    whole = np.empty(n, np.int64)
    whole[:] = column
    return whole
