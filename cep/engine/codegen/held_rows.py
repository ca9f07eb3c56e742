"""One side of a family of joins as source: the ring of rows its windows hold, and indexes on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_scope import TIME, Place
from cep.engine.codegen.slot_index import SlotIndex, unsigned
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.kernels.held import FIRST_ROOM, LATE_COLUMNS
from cep.engine.kernels.slot_index import BITS, SLOT_INDEX_COLUMNS, SLOTS
from cep.engine.kernels.state import RING_COLUMNS, RING_HEAD, RING_ROOM, RING_TAIL
from cep.engine.layout import Home, Layout, Start
from cep.plan.change import PartId
from cep.plan.expressions import Expression
from cep.plan.families import Family
from cep.plan.types import Type
from cep.plan.windows import kind_of

IMPORTS = """\
from math import inf

from cep.engine.kernels.held import (
    advance_cursors, asked_past, enter_key, enter_zone, found_cell, next_in_band, note_late,
    reserve_held, search,
)
from cep.engine.kernels.slot_index import (
    advance_slots, enter_slot, find_slots, has_row, place_of, slot_of, slots_with_rows,
)
from cep.engine.kernels.state import HELD_ROOM
"""


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of one slot: of the member `q`, which cursor (time) or how many rows (length)."""

    counts_rows: bool
    member: str


@dataclass(slots=True)
class HeldRows:
    """A ring, its windows' cursors or slot index, and where each attribute of a row lies in it.

    `slots`: the sides of the join that hold the same rows. `spans`: of the cursors, in ms. What
    cursors say can be found again from the ring, so that they go with the members of the day. From
    its floor on a member may see rows: those that came since it is there.
    """

    slots: tuple[int, ...]
    home: Home
    layout: Layout
    times: int
    cells: dict[int, tuple[bool, int]] = field(default_factory=dict)
    keys: list[tuple[Expression, bool]] = field(default_factory=list)
    bands: list[Expression] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)
    longest: int = 0
    windows: dict[int, Windows] = field(default_factory=dict)
    ints: int = 1
    floats: int = 0
    keys_at: int = 0
    ring: int = -1
    cursors: int = -1
    late: int = -1
    advanced: int = -1
    floors: int = -1
    span_table: str = ""
    sizes: tuple[int, ...] = ()
    slot_index: SlotIndex | None = None

    def hold(self, position: int, as_float: bool) -> None:
        """Keep an attribute."""
        if position == TIME:
            self.cells[TIME] = (False, 0)
        elif position not in self.cells and as_float:
            self.cells[position] = (True, self.floats)
            self.floats += 1
        elif position not in self.cells:
            self.cells[position] = (False, self.ints)
            self.ints += 1

    def index(self, key: Expression, as_float: bool) -> int:
        """The number of the index on a value of the rows, which it gets on first sight."""
        if (key, as_float) not in self.keys:
            self.keys.append((key, as_float))
        return self.keys.index((key, as_float))

    def zone(self, key: Expression) -> int:
        """The number of a value by whose range zones of the ring are left out."""
        if key not in self.bands:
            self.bands.append(key)
        return self.bands.index(key)

    def add_windows(self, family: Family, slot: int, tables: Tables) -> None:
        """Cursors of the members' windows on a slot."""
        window = family.windows[0][slot]
        assert window is not None
        sizes = family.sizes(slot)
        self.sizes, numbers = sizes, list(sizes)
        counts_rows = kind_of(window).by == "rows"
        if counts_rows:
            self.longest = max(self.longest, *sizes)
        else:
            self.spans += [size for size in dict.fromkeys(sizes) if size not in self.spans]
            numbers = [self.spans.index(size) for size in sizes]
        member = str(numbers[0])
        if len(set(numbers)) > 1:
            member = tables.array(f"W{slot}", numbers) + "[{}]"
        self.windows[slot] = Windows(counts_rows, member)

    def place(
        self, tables: Tables, owners: Sequence[PartId], *, is_hashed: bool | None = None
    ) -> None:
        """Take columns and room, once everything that is held is known.

        With `is_hashed` given there is a slot index, and no cursors; there is one index then, which
        is kept although nobody asks it, so that rings go on when members come and go.
        """
        layout = self.layout
        self.keys_at = self.ints
        self.ints += 2 * len(self.keys)
        self.floats += len(self.bands)
        kept = (self.ints, self.floats, self.keys, self.bands, self.first_room, self.cells)
        form = f"join {self.slots} {kept}"
        with layout.owned(*owners, form=form):
            self.ring = layout.int_columns(self.home, RING_COLUMNS + LATE_COLUMNS)
        self.late = self.ring + RING_COLUMNS
        self.floors = layout.each(owners, form, lambda: layout.int_columns(self.home, 1))
        for number, owner in enumerate(owners):
            tail = self.ring + RING_TAIL
            layout.starts.append(Start(owner, self.home, self.floors + number, tail))
        self.advanced = layout.int_columns(self.home, 1)
        layout.rings += 1
        if is_hashed is None:
            self.cursors = layout.int_columns(self.home, len(self.spans))
            self.span_table = tables.array(f"S{self.slots[0]}", self.spans)
        else:
            self.slot_index = self._slot_index(tables, is_hashed)
            layout.rings += 2  # a row may have the slots of a ring found before it grows, and after
            layout.row_ints += self.first_room * (BITS + SLOTS)
        layout.row_ints += self.first_room * (self.ints + 2 * len(self.keys) + 1)
        layout.row_floats += self.first_room * (self.floats + 2 * len(self.bands))

    def _slot_index(self, tables: Tables, is_hashed: bool) -> SlotIndex:
        (slot,) = self.slots
        return SlotIndex(
            self.array,
            self.ring,
            self.ints,
            self.keys_at,
            self.layout.int_columns(self.home, SLOT_INDEX_COLUMNS),
            self.floors,
            self.sizes,
            tables.array(f"Z{slot}", self.sizes) + "[{}]",
            self.windows[slot].counts_rows,
            is_hashed,
        )

    @property
    def array(self) -> str:
        """The array with the columns of the ring."""
        return "ki" if self.home == "key" else "gi"

    @property
    def first_room(self) -> int:
        """So many rows that one input row never makes the ring grow twice."""
        return max(FIRST_ROOM, 1 << (self.times - 1).bit_length())

    def column(self, at: str, which: int) -> str:
        """Source of a column of the ring."""
        return f"{self.array}[{at}, {self.ring + which}]"

    def _arguments(self, at: str) -> str:
        return f"{self.array}, {at}, {self.ring}, {self.ints}"

    def _zones(self, at: str) -> str:
        return f"wf, {self.array}, {at}, {self.ring}, {self.floats}, {len(self.bands)}"

    def _cell(self, w: Writer, at: str, position: str, as_float: bool = False) -> str:
        name, width = ("float_cell", self.floats) if as_float else ("int_cell", self.ints)
        return w.let("cell", f"{name}({self.array}, {at}, {self.ring}, {position}, {width})")

    def write_advance(self, w: Writer, at: str, clock: str) -> None:
        """Let rows leave the windows; those of time need no second look at the same time."""
        advanced = f"{self.array}[{at}, {self.advanced}]"
        is_new = "" if self.longest else f"{advanced} != {clock}"
        with guarded(w, [is_new]):
            if self.slot_index is not None:
                self.slot_index.write_advance(w, at, clock)
            else:
                w(
                    f"advance_cursors(wi, {self._arguments(at)}, {self.cursors}, "
                    f"{self.span_table}, {self.longest}, {clock}, {self.late}, order)"
                )
            w(f"{advanced} = {clock}")

    def write_entry(self, w: Writer, at: str, scope: Scope, clock: str) -> None:
        """The arriving row enters the ring and its indexes."""
        tail = w.let("tail", self.column(at, RING_TAIL))
        with w.block(f"if {scope.time} < {clock}:"):
            w(f"note_late({self.array}, {at}, {self.late}, {tail}, order)")
        head = self.column(at, RING_HEAD)
        indexes, bands = len(self.keys), len(self.bands)
        with w.block(f"if {tail} - {head} == {self.column(at, RING_ROOM)}:"):
            w(
                f"reserve_held(s, {self._arguments(at)}, {self.floats}, {self.keys_at}, "
                f"{indexes}, {bands}, {self.first_room})"
            )
        cell = self._cell(w, at, tail)
        float_cell = self._cell(w, at, tail, as_float=True) if self.floats else ""
        w(f"wi[{cell}] = {scope.time}")
        for position, (as_float, number) in self.cells.items():
            array, first = ("wf", float_cell) if as_float else ("wi", cell)
            if position != TIME:
                w(f"{array}[{first} + {number}] = {scope.columns[position]}")
        for index, (key, as_float) in enumerate(self.keys):
            w(f"wi[{cell} + {self.keys_at + 2 * index}] = {key_source(w, scope, key, as_float)}")
            w(f"enter_key(wi, {self._arguments(at)}, {self.keys_at}, {index}, {tail})")
        if self.slot_index is not None:
            self.slot_index.write_entry(w, at, tail)
        for band, key in enumerate(self.bands):
            value = scope.as_type(key, Type.DOUBLE)
            w(f"wf[{float_cell} + {self.floats - bands + band}] = {value}")
            w(f"enter_zone({self._zones(at)}, {band}, {tail})")
        w(f"{self.column(at, RING_TAIL)} = {tail} + 1")
        w(f"gi[0, HELD_ROOM] = max(gi[0, HELD_ROOM], {tail} - {head} + {1 + self.times})")

    def low(self, at: str, slot: int, past: str, member: str) -> str:
        """Source of the oldest position in a member's window on a slot."""
        floor = f"{self.array}[{at}, {self.floors} + {member}]"
        return f"max({self.about(at, slot, past, member)}, {floor})"

    def about(self, at: str, slot: int, past: str, member: str) -> str:
        """The same for a member that has always been there."""
        windows = self.windows[slot]
        number = windows.member.format(member)
        if windows.counts_rows:
            return f"{past} - {number}"
        return f"{self.array}[{at}, {self.cursors} + {number}]"

    def write_asked(self, w: Writer, at: str, slot: int) -> str:
        """The local of where rows that are asked for their times end; empty where none are."""
        if self.windows[slot].counts_rows:
            return ""
        return w.let("asked", f"asked_past({self.array}, {at}, {self.late}, order)")

    def is_held(
        self, at: str, slot: int, position: str, member: str, asked: str, clock: str
    ) -> str:
        """Source of whether a row from the cursor on is in a window; empty where all are."""
        if not asked:
            return ""
        number = self.windows[slot].member.format(member)
        cell = f"int_cell({self.array}, {at}, {self.ring}, {position}, {self.ints})"
        leaves = f"wi[{cell}] + {self.span_table}[{number}]"
        return f"({position} >= {asked} or {leaves} > {clock})"

    def write_search(
        self, w: Writer, at: str, index: int, key: str, ends: tuple[str, str]
    ) -> tuple[str, str]:
        """Look rows up; the locals of how many there are and where their positions are noted."""
        arguments, indexes = self._arguments(at), len(self.keys)
        count = w.let(
            "count",
            f"search(wi, {arguments}, {self.keys_at}, {index}, {indexes}, {key}, "
            f"{ends[0]}, {ends[1]})",
        )
        return count, w.let("notes", f"found_cell({arguments}, {indexes})")

    @contextmanager
    def walk(
        self, w: Writer, at: str, band: int, ends: tuple[str, str], bounds: tuple[str, str]
    ) -> Iterator[str]:
        """A loop over the rows whose value lies within the bounds; the local of a position."""
        (low, past), (least, most) = ends, bounds
        position = w.let("position", f"{low} - 1")
        with w.block("while True:"):
            w(
                f"{position} = next_in_band({self._zones(at)}, {band}, {position} + 1, {past}, "
                f"{least}, {most})"
            )
            with w.block(f"if {position} >= {past}:"):
                w("break")
            yield position

    def write_cells(
        self, w: Writer, at: str, position: str, wanted: Mapping[int, object], row: str = ""
    ) -> dict[int, str]:
        """Locals with attributes of a held row, by position; `row`: its first int cell if known."""
        kinds = {self.cells[one][0] for one in wanted}
        first = {
            kind: row if row and not kind else self._cell(w, at, position, kind)
            for kind in sorted(kinds)
        }
        return {
            one: w.let("held", f"{'wf' if kind else 'wi'}[{unsigned(f'{first[kind]} + {number}')}]")
            for one in wanted
            for kind, number in (self.cells[one],)
        }


def key_source(w: Writer, scope: Scope, key: Expression, as_float: bool) -> str:
    """Source of a value rows are looked up by, as a whole number; null is NULL."""
    if not as_float:
        return scope.value(key)
    value = w.let("key", scope.as_type(key, Type.DOUBLE))
    return f"(NULL if isnan({value}) else float_bits({value}))"


def arriving(scope: Scope, slot: int) -> dict[Place, str]:
    """The places of the arriving row, seen in a slot."""
    cells: dict[Place, str] = {(slot, index): name for index, name in enumerate(scope.columns)}
    return {**cells, (slot, TIME): scope.time}
