"""Where in the state arrays everything lies: columns are handed out once, at compile time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cep.engine.kernels.state import HEADER, OUT_ATTRIBUTES
from cep.plan.nodes import Chained, Event, Origin, Plan, Stream
from cep.plan.types import Schema, Type

Home = Literal["key", "global", "group"]


@dataclass(slots=True)
class Layout:
    """Widths so far of the int and float arrays per key, global and per group."""

    ints: dict[Home, int] = field(default_factory=lambda: {"key": 1, "global": HEADER, "group": 1})
    floats: dict[Home, int] = field(default_factory=lambda: {"key": 1, "global": 1, "group": 1})
    rings: int = 0
    groups: int = 0

    def int_columns(self, home: Home, count: int) -> int:
        """Hand out `count` neighbouring int columns; the first one's index."""
        first = self.ints[home]
        self.ints[home] += count
        return first

    def float_columns(self, home: Home, count: int) -> int:
        first = self.floats[home]
        self.floats[home] += count
        return first


@dataclass(frozen=True, slots=True)
class Cell:
    """Where an attribute stands in a row: int or float array, and its column."""

    is_float: bool
    column: int


def is_float(type_: Type) -> bool:
    return type_ in (Type.FLOAT, Type.DOUBLE)


def row_cells(schema: Schema) -> tuple[Cell, ...]:
    """The cells of a source or query stream's attributes, in order."""
    cells: list[Cell] = []
    ints, floats = OUT_ATTRIBUTES, 0
    for attribute in schema.attributes:
        if is_float(attribute.type):
            cells.append(Cell(True, floats))
            floats += 1
        else:
            cells.append(Cell(False, ints))
            ints += 1
    return tuple(cells)


class StreamIds:
    """Small integers for streams.

    Beside the plan's streams, a raise of an event for a later stage, and the entry of a complex
    event into a chained engine, are internal streams of their own.
    """

    def __init__(self, plan: Plan) -> None:
        self._streams = {stream.name: index for index, stream in enumerate(plan.streams)}
        first = len(self._streams)
        self._raises = {event.name: first + index for index, event in enumerate(plan.events)}
        first += len(self._raises)
        self._entries = {
            (one.complex, one.engine): first + index for index, one in enumerate(plan.chained)
        }

    def __len__(self) -> int:
        return len(self._streams) + len(self._raises) + len(self._entries)

    def of(self, stream: str) -> int:
        return self._streams[stream]

    def raised(self, event: Event) -> int:
        return self._raises[event.name]

    def entry(self, chained: Chained) -> int:
        return self._entries[chained.complex, chained.engine]

    def names(self) -> dict[int, str]:
        return {index: name for name, index in self._streams.items()}


def row_widths(plan: Plan) -> tuple[int, int]:
    """Columns an int row and a float row need to hold any stream's row."""
    ints, floats = OUT_ATTRIBUTES + 5, 1
    for stream in plan.streams:
        if stream.origin in (Origin.SOURCE, Origin.QUERY):
            cells = row_cells(stream.schema)
            ints = max(ints, OUT_ATTRIBUTES + sum(not cell.is_float for cell in cells))
            floats = max(floats, sum(cell.is_float for cell in cells))
    return ints, floats


def has_cells(stream: Stream) -> bool:
    """Whether the stream's attributes lie in cells of their own (source and query streams)."""
    return stream.origin in (Origin.SOURCE, Origin.QUERY)
