"""The slot index of a ring of held rows as source: many members ask at once, none has a cursor."""

from __future__ import annotations

from dataclasses import dataclass

from cep.engine.codegen.writer import Writer
from cep.engine.kernels.slot_index import (
    ALL_HOLD,
    ALL_THERE,
    BEFORE,
    BITS,
    LET_GO,
    ROW_CELLS,
    SLOT_INDEX,
    SLOT_INDEX_ROOM,
    SLOTS,
    TIME,
)
from cep.engine.kernels.state import RING_HEAD, RING_INTS, RING_ROOM, RING_TAIL


def unsigned(place: str) -> str:
    """Source of a place that is not counted from the end: Numba need not look whether it is."""
    return f"np.uint64({place})"


@dataclass(frozen=True, slots=True)
class Held:
    """Locals with where a held row and its slot index lie, and its position."""

    position: str
    row: str
    cells: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Locals with where a ring and its slot index lie, which must not move meanwhile.

    Kernels that look it up each time cost more than what they do. `clock` is when rows were last
    let go; all windows hold rows from `all_hold` on, and all members see them from `all_see` on,
    which is behind late rows.
    """

    mask: str
    rows: str
    index: str
    newest: str
    words: str
    slots: str
    head: str
    past: str
    clock: str
    all_hold: str
    all_see: str
    ints: int
    is_hashed: bool

    def slot(self, key: str) -> str:
        """Source of the slot of a key."""
        return f"slot_of({key}, {self.slots}, {self.is_hashed})"

    def newest_in(self, slot: str) -> str:
        """Source of the position of the newest row of a slot, which may have left."""
        return f"wi[{unsigned(f'{self.newest} + {slot}')}] - 1"

    def write_held(self, w: Writer, position: str) -> Held:
        """Locals with where a row lies."""
        at = w.let("at", f"{position} & {self.mask}")
        row = w.let("row", f"{self.rows} + {at} * {self.ints}")
        return Held(position, row, w.let("cells", f"{self.index} + {at} * {ROW_CELLS}"))

    def before(self, held: Held) -> str:
        """Source of the position of the row before this one in its slot."""
        return f"wi[{unsigned(f'{held.cells} + {BEFORE}')}] - 1"


@dataclass(frozen=True, slots=True)
class SlotIndex:
    """The slot index of a ring whose columns begin at `ring`; its own begin at `first`.

    `array` holds both. `sizes` are of the members' windows, `size` is the source of one, `floors`
    the column of the first member's floor.
    """

    array: str
    ring: int
    ints: int
    key: int
    first: int
    floors: int
    sizes: tuple[int, ...]
    size: str
    counts_rows: bool
    is_hashed: bool

    def _column(self, at: str, which: int) -> str:
        return f"{self.array}[{at}, {which}]"

    def _arguments(self, at: str) -> str:
        ring = f"{self.array}, {at}, {self.ring}, {self.ints}"
        return f"{ring}, {self.key}, {self.first}, {self.is_hashed}"

    def write_advance(self, w: Writer, at: str, clock: str) -> None:
        """Let rows leave that are in no window."""
        spans, longest = f"{max(self.sizes)}, {min(self.sizes)}", 0
        if self.counts_rows:
            spans, longest = "0, 0", max(self.sizes)
        w(f"advance_slots(wi, {self._arguments(at)}, {spans}, {longest}, {clock})")

    def write_entry(self, w: Writer, at: str, tail: str) -> None:
        """Mark the row that has come."""
        w(f"enter_slot(wi, {self._arguments(at)}, {tail})")

    def write_frame(self, w: Writer, at: str, asked: str) -> Frame:
        """Locals with where everything lies now; rows up to `asked` are asked for their times."""
        room, past = (self._column(at, self.ring + one) for one in (RING_ROOM, RING_TAIL))
        with w.block(f"if {self._own_column(at, SLOT_INDEX_ROOM)} != {room}:"):
            w(f"find_slots(s, {self._arguments(at)}, {self.floors}, {len(self.sizes)})")
        room, past = w.let("room", room), w.let("past", past)
        block = w.let("slot_index", self._own_column(at, SLOT_INDEX))
        all_hold = f"max({self._own_column(at, ALL_HOLD)}, {asked})"
        if self.counts_rows:
            all_hold = f"{past} - {min(self.sizes)}"
        all_hold = w.let("all_hold", all_hold)
        return Frame(
            w.let("mask", f"{room} - 1"),
            w.let("rows", self._column(at, self.ring + RING_INTS)),
            block,
            w.let("newest", f"{block} + {ROW_CELLS} * {room}"),
            w.let("words", f"{block} + {BITS} * {room}"),
            w.let("slots", f"{SLOTS} * {room}"),
            w.let("head", self._column(at, self.ring + RING_HEAD)),
            past,
            w.let("clock", self._own_column(at, LET_GO)),
            all_hold,
            w.let("all_see", f"max({all_hold}, {self._own_column(at, ALL_THERE)})"),
            self.ints,
            self.is_hashed,
        )

    def sees(self, at: str, frame: Frame, member: str, held: Held) -> str:
        """Source of whether a row of the ring is in a member's window, and not from before it."""
        size, floor = self.size.format(unsigned(member)), unsigned(f"{self.floors} + {member}")
        is_known = f"({held.position} >= {self.array}[{at}, {floor}])"
        if self.counts_rows:
            return f"({is_known} & ({held.position} >= {frame.past} - {size}))"
        leaves = f"wi[{unsigned(f'{held.cells} + {TIME}')}] + {size}"
        is_held = f"(({held.position} >= {frame.all_hold}) | ({leaves} > {frame.clock}))"
        return f"({is_known} & {is_held})"

    def _own_column(self, at: str, which: int) -> str:
        return self._column(at, self.first + which)
