"""Where in the state arrays everything lies: columns are handed out once, at compile time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from cep.dropped import Reason
from cep.engine.kernels.state import HEADER, OUT_ATTRIBUTES
from cep.plan.change import PartId
from cep.plan.nodes import COMPLEX_SCHEMA, Chained, Event, Origin, Plan, Stream
from cep.plan.types import Attribute, Schema, Type

Home = Literal["key", "global", "group"]


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring columns, and the parts of the plan whose state lies in them.

    Parts of equal `form`, homes and counts have their state in the same way. What shares an
    `indivisible` block can only go on together.
    """

    owners: tuple[PartId, ...]
    form: str
    home: Home
    is_float: bool
    first: int
    count: int
    indivisible: bool


@dataclass(frozen=True, slots=True)
class Start:
    """A column of `owner` that starts, when others it shares with go on, with what `like` holds."""

    owner: PartId
    home: Home
    column: int
    like: int


@dataclass(slots=True)
class Layout:
    """Widths so far of the int and float arrays per key, global and per group.

    One input row can take `row_ints` cells of the int arena for partial matches, and `match_ints`
    times as many as the longest ring of partial matches has places; floats likewise. `ring_cells`
    are the cells of the widest row of a window's ring: its first block is a multiple of them. One
    input row can put out `wide_values` values of wide rows, and rows of up to `packed_values` as
    packed ones.
    """

    ints: dict[Home, int] = field(default_factory=lambda: {"key": 1, "global": HEADER, "group": 1})
    floats: dict[Home, int] = field(default_factory=lambda: {"key": 1, "global": 1, "group": 1})
    rings: int = 0
    ring_cells: int = 4
    groups: int = 0
    match_ints: int = 0
    match_floats: int = 0
    row_ints: int = 0
    row_floats: int = 0
    wide_values: int = 0
    packed_values: int = 0
    blocks: list[Block] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    kinds: dict[int, tuple[PartId, ...]] = field(default_factory=dict)
    """Whose groups have which kind in the hash table."""
    constants: dict[tuple[bool, int], float] = field(default_factory=dict)
    """Numbers of the rules by global column, which is one of floats or not."""
    dropped: dict[tuple[PartId, Reason], int] = field(default_factory=dict)
    """The global column in which is counted what a part drops."""
    _owned: tuple[tuple[PartId, ...], str, bool] = ((), "", False)

    def int_columns(self, home: Home, count: int) -> int:
        """Hand out `count` neighbouring int columns; the first one's index."""
        return self._columns(self.ints, home, count)

    def float_columns(self, home: Home, count: int) -> int:
        return self._columns(self.floats, home, count)

    def _columns(self, widths: dict[Home, int], home: Home, count: int) -> int:
        first = widths[home]
        widths[home] += count
        owners, form, indivisible = self._owned
        is_float = widths is self.floats
        self.blocks.append(Block(owners, form, home, is_float, first, count, indivisible))
        return first

    def counted(self, owners: Iterable[PartId], *reasons: Reason) -> int:
        """Global columns for what each of these parts drops, by reason; the first one's index."""
        owners, columns = list(owners), len(reasons)
        first = self.each(owners, "dropped", lambda: self.int_columns("global", columns))
        for place, owner in enumerate(owners):
            for number, reason in enumerate(reasons):
                self.dropped[owner, reason] = first + place * columns + number
        return first

    @contextmanager
    def owned(self, *owners: PartId, form: str, indivisible: bool = False) -> Iterator[None]:
        """Columns handed out inside hold the state of these parts.

        A change of rules carries them over; what has columns without an owner starts empty.
        """
        before, self._owned = self._owned, (owners, form, indivisible)
        yield
        self._owned = before

    def each(self, owners: Iterable[PartId], form: str, take: Callable[[], int]) -> int:
        """Columns of each of these parts, one behind the other; the first one's index."""
        taken = []
        for owner in owners:
            with self.owned(owner, form=form):
                taken.append(take())
        return taken[0]


@dataclass(frozen=True, slots=True)
class Cell:
    """Where an attribute stands in a row: int or float array, and its column."""

    is_float: bool
    column: int


def is_float(type_: Type) -> bool:
    return type_.is_real


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


COMPLEX_INTS = 4
"""Number, first time, and where the lists stand: what a complex event has beside its key."""


def attribute_cells(schema: Schema) -> tuple[tuple[Attribute, Cell], ...]:
    """The attributes of a source or query stream, and their cells."""
    return tuple(zip(schema.attributes, row_cells(schema), strict=True))


def kept_cells(schema: Schema) -> tuple[tuple[Attribute, Cell], ...]:
    """What a complex event keeps of its events, and its cells, behind those that each has."""
    own = Schema(schema.attributes[len(COMPLEX_SCHEMA) :])
    return tuple(
        (attribute, replace(cell, column=cell.column + COMPLEX_INTS * (not cell.is_float)))
        for attribute, cell in attribute_cells(own)
    )


def own_cells(stream: Stream) -> tuple[tuple[Attribute, Cell], ...]:
    """The attributes of a stream that have cells of their own in rows that are put out."""
    match stream.origin:
        case Origin.EVENT:
            return ()
        case Origin.COMPLEX:
            return kept_cells(stream.schema)
        case _:
            return attribute_cells(stream.schema)


@dataclass(frozen=True, slots=True)
class Wide:
    """Streams of one schema that get rows at once: one wide row, a list of values.

    Floats lie in it by their bits. Each stream has one row in it, in their order; or, where the
    list is `packed`, any number, the last one first if `backward`: in front of its values stands
    the number of its stream, and in front of everything how many rows there are.
    """

    streams: tuple[str, ...]
    schema: Schema
    packed: bool = False
    backward: bool = False

    def __len__(self) -> int:
        return len(self.streams)


class StreamIds:
    """Small integers for streams.

    Beside the plan's streams, these are internal ones: a raise of an event for a later stage, the
    entry of a complex event into a chained engine, its hand-over to one of a later stage, the rows
    that the later stage gets of a stream, and wide rows.
    """

    def __init__(self, plan: Plan, turns: Iterable[tuple[str, int]] = ()) -> None:
        """`turns` are (stream, place): see `cep.engine.stages`."""
        self._streams = {stream.name: index for index, stream in enumerate(plan.streams)}
        first = len(self._streams)
        self._raises = {event.name: first + index for index, event in enumerate(plan.events)}
        first += len(self._raises)
        self._entries = {
            (one.complex, one.engine): first + index for index, one in enumerate(plan.chained)
        }
        first += len(self._entries)
        complexes = dict.fromkeys(one.complex for one in plan.chained)
        self._handed = {name: first + index for index, name in enumerate(complexes)}
        first += len(self._handed)
        self._turns = {turn: first + index for index, turn in enumerate(turns)}
        self._plain = first + len(self._turns)
        self.wide: dict[int, Wide] = {}

    def __len__(self) -> int:
        return self._plain + len(self.wide)

    def add_wide(self, wide: Wide) -> int:
        """The id of wide rows, which are made known one after the other."""
        number = len(self)
        self.wide[number] = wide
        return number

    def of(self, stream: str) -> int:
        return self._streams[stream]

    def raised(self, event: Event) -> int:
        return self._raises[event.name]

    def entry(self, chained: Chained) -> int:
        return self._entries[chained.complex, chained.engine]

    def handed(self, complex_: str) -> int:
        """A complex event that engines of a later stage take."""
        return self._handed[complex_]

    def turn(self, stream: str, place: int) -> int:
        return self._turns[stream, place]

    def names(self, *, turns: bool = False) -> dict[int, str]:
        """The plan's streams by id; with `turns` those of rows that the later stage gets, too."""
        found = {index: name for name, index in self._streams.items()}
        if turns:
            found |= {index: stream for (stream, _), index in self._turns.items()}
        return found


def row_widths(plan: Plan) -> tuple[int, int]:
    """Columns an int row and a float row need to hold any stream's row, without its clocks."""
    has_lists = not all(map(has_cells, plan.streams))
    # a wide row has one, too: where its values begin
    ints, floats = OUT_ATTRIBUTES + (5 if has_lists else 1), 1
    for stream in plan.streams:
        for _, cell in own_cells(stream):
            if cell.is_float:
                floats = max(floats, cell.column + 1)
            else:
                ints = max(ints, cell.column + 1)
    return ints, floats


def has_cells(stream: Stream) -> bool:
    """Whether the attributes lie in cells of their own: all but events and complex events."""
    return stream.origin not in (Origin.EVENT, Origin.COMPLEX)
