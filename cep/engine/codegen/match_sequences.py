"""A sequence of single events as source: what a row of one of its streams does.

In a sequence every row of its streams must go on with what waits, or ends it. So what waits at
state k is made of the latest k rows, whatever they are: a history of the latest rows, shared by all
queries of a group, and one bit per state say it all. A row shifts the bits of the states that take
it (Baeza-Yates and Gonnet, "A new approach to text searching", 1992).
"""

from __future__ import annotations

from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_scope import (
    TIME,
    Emission,
    Place,
    SlotScope,
    places,
    slots,
    tables_of,
)
from cep.engine.codegen.match_shapes import MatchGroup
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.layout import Home, Layout
from cep.engine.linear import conditions
from cep.plan.families import PARAMETER

Cell = tuple[str, int]
"""Where a row's attribute stands in the history: its stream and position; TIME of any stream."""


class SequenceSource:
    """Writes the queries of a group."""

    def __init__(
        self, group: MatchGroup, number: int, keyed: bool, layout: Layout, constants: Constants
    ) -> None:
        self.group = group
        self.linear = group.linear
        self.home: Home = "key" if keyed else "global"
        self.ints, self.floats = ("ki", "kf") if keyed else ("gi", "gf")
        self.tables = tables_of(group, number, constants)
        self.rooms = 1 << max(len(self.linear.states) - 2, 0).bit_length()
        self.cells: dict[Cell, tuple[bool, int]] = {("", TIME): (False, 0)}
        self.widths = [1, 0]
        for place, is_broken in self._held().items():
            self._keep(place, is_broken)
        self._take_columns(layout)

    def _take_columns(self, layout: Layout) -> None:
        """How many rows there were, their history, and bits of each query."""
        owners = [("query", name) for name in self.group.names]
        form = f"sequence {self.rooms} {self.widths} {sorted(self.cells.items())}"
        # Without `every` the count tells whether a query has begun.
        divisible = self.linear.every > 0
        with layout.owned(*owners, form=form, indivisible=not divisible):
            self.count = layout.int_columns(self.home, 1)
            self.history = layout.int_columns(self.home, self.rooms * self.widths[0])
            self.broken = layout.float_columns(self.home, self.rooms * self.widths[1])
        self.bits = layout.each(owners, form, lambda: layout.int_columns(self.home, 1))

    def _held(self) -> dict[Place, bool]:
        """What is read of rows other than the one that is looked at."""
        query = self.group.query
        found: dict[Place, bool] = {}
        for state in self.linear.states:
            for condition in conditions(state):
                found |= _earlier(places(condition), state.slot)
        selected = [value for _, value in query.projection]
        for expression in [*selected, *([query.having] if query.having else [])]:
            found |= _earlier(places(expression), len(self.linear.states) - 1)
        return found

    def _keep(self, place: Place, is_broken: bool) -> None:
        """A cell of each row of the history for a place; states of one stream share it."""
        cell = self.cell_of(place)
        if cell not in self.cells:
            self.cells[cell] = (is_broken, self.widths[is_broken])
            self.widths[is_broken] += 1

    def cell_of(self, place: Place) -> Cell:
        slot, position = place
        return ("", TIME) if position == TIME else (self.linear.states[slot].input.stream, position)

    def write(self, w: Writer, stream: str, scope: Scope, key: str, emit: Emission) -> None:
        """What a row of the stream does to every query of the group."""
        _Row(self, w, stream, scope, key, emit).write()


class _Row:
    """Writes the source that shows one row to a group."""

    def __init__(
        self,
        source: SequenceSource,
        w: Writer,
        stream: str,
        scope: Scope,
        key: str,
        emit: Emission,
    ) -> None:
        self.source = source
        self.w = w
        self.stream = stream
        self.outer = scope
        self.key = key
        self.at = key if source.home == "key" else "0"
        self.emit = emit
        self.slots = source.linear.at(stream)
        self.last = len(source.linear.states) - 1
        self.count = ""
        self.loaded: dict[tuple[int, Cell], str] = {}

    def write(self) -> None:
        source, w = self.source, self.w
        array = source.ints
        self.count = w.let("count", f"{array}[{self.at}, {source.count}]")
        w(f"{array}[{self.at}, {source.count}] = {self.count} + 1")
        self._fade()
        self._load()
        outside = {slot: self._outside(slot) for slot in self.slots}
        with w.block(f"for q in range({len(source.group)}):"):
            bits = w.let("bits", f"{array}[{self.at}, {source.bits} + q]")
            self._shift(bits, outside)
        self._remember()

    def _fade(self) -> None:
        """Before a row that comes late: what was too old at the latest row is gone."""
        source, w = self.source, self.w
        if source.linear.within_ms is None or self.last == 0:
            return
        latest = self._history(1, ("", TIME))
        late = w.block(f"if {self.count} > 0 and {self.outer.time} < {latest}:")
        with late, w.block(f"for q in range({len(source.group)}):"):
            w(
                f"fade({source.ints}, {self.at}, {source.bits} + q, {source.history}, "
                f"{source.widths[0]}, {source.rooms}, {self.count}, {source.tables.within})"
            )

    def _history(self, back: int, cell: Cell) -> str:
        """Source of a cell of the row so many rows ago."""
        source = self.source
        is_broken, column = source.cells[cell]
        base = source.broken if is_broken else source.history
        width = source.widths[is_broken]
        place = f"(({self.count} - {back}) & {source.rooms - 1}) * {width} + {base + column}"
        return f"{source.floats if is_broken else source.ints}[{self.at}, {place}]"

    def _load(self) -> None:
        """Locals for what conditions read of earlier rows: the same for all queries."""
        for slot in self.slots:
            for condition in conditions(self.source.linear.states[slot]):
                for place in _earlier(places(condition), slot):
                    known = slot - place[0], self.source.cell_of(place)
                    if known not in self.loaded:
                        self.loaded[known] = self.w.let("before", self._history(*known))

    def _scope(self, slot: int, outputs: tuple[str, ...] = ()) -> SlotScope:
        cells = dict(self.source.tables.parameters)
        for earlier in range(slot):
            for position in self._positions(earlier):
                place = earlier, position
                known = slot - earlier, self.source.cell_of(place)
                cells[place] = self.loaded.get(known) or self._history(*known)
        cells |= {(slot, index): name for index, name in enumerate(self.outer.columns)}
        cells[slot, TIME] = self.outer.time
        return SlotScope((), self.outer.time, self.outer.constants, (), outputs, cells=cells)

    def _positions(self, slot: int) -> list[int]:
        """What the history keeps of rows of a slot's stream."""
        stream = self.source.linear.states[slot].input.stream
        return [position for name, position in self.source.cells if name in ("", stream)]

    def _conditions(self, slot: int, in_loop: bool) -> str:
        """The conditions of a state that have (not) constants of the query at work."""
        scope = self._scope(slot)
        parts = [
            part
            for part in conditions(self.source.linear.states[slot])
            if (PARAMETER in slots(part)) == in_loop
        ]
        return " and ".join(scope.condition(part) for part in parts)

    def _outside(self, slot: int) -> str:
        """A local with the conditions that are the same for all queries of a group."""
        source = self._conditions(slot, in_loop=False)
        if not source or len(self.source.group) == 1:
            return source
        return self.w.let("fits", source)

    def _shift(self, bits: str, outside: dict[int, str]) -> None:
        """Each state hands what it takes on to the next; states of one condition do so at once."""
        w = self.w
        shifted = w.let("shifted", "0")
        middle: dict[str, int] = {}
        for slot in self.slots:
            test = " and ".join(
                part for part in (outside[slot], self._conditions(slot, in_loop=True)) if part
            )
            if slot == self.last:
                self._end(bits, test)
            elif slot == 0:
                self._begin(shifted, test)
            else:
                middle[test] = middle.get(test, 0) | 1 << slot
        for test, states in middle.items():
            with guarded(w, [f"{bits} & {states}", test]):
                w(f"{shifted} |= ({bits} & {states}) << 1")
        w(f"{self.source.ints}[{self.at}, {self.source.bits} + q] = {shifted}")

    def _begin(self, shifted: str, test: str) -> None:
        """The first state takes any row that fits; without `every` only the very first row."""
        with guarded(self.w, [self._may_begin(), test]):
            self.w(f"{shifted} |= 2")

    def _may_begin(self) -> str:
        return "" if self.source.linear.every else f"{self.count} == 0"

    def _end(self, bits: str, test: str) -> None:
        """The last state takes the row: the match is complete."""
        source, w = self.source, self.w
        waits, young = self._may_begin(), ""
        if self.last:
            waits = f"{bits} & {1 << self.last}"
        if self.last and source.linear.within_ms is not None:
            first = self._history(self.last, ("", TIME))
            young = f"{self.outer.time} - {first} <= {source.tables.within}"
        with guarded(w, [waits, test, young]):
            scope = self._scope(self.last)
            query = source.group.query
            outputs = tuple(w.let(name, scope.value(value)) for name, value in query.projection)
            having = ""
            if query.having is not None:
                having = self._scope(self.last, outputs).condition(query.having)
            with guarded(w, [having]):
                self.emit(w, outputs, self.outer, self.key)

    def _remember(self) -> None:
        """The row becomes the latest of the history."""
        source, w = self.source, self.w
        for cell, (is_broken, column) in source.cells.items():
            stream, position = cell
            if stream in ("", self.stream):
                base = source.broken if is_broken else source.history
                array = source.floats if is_broken else source.ints
                width = source.widths[is_broken]
                place = f"({self.count} & {source.rooms - 1}) * {width} + {base + column}"
                value = self.outer.time if position == TIME else self.outer.columns[position]
                w(f"{array}[{self.at}, {place}] = {value}")


def _earlier(found: dict[Place, bool], slot: int) -> dict[Place, bool]:
    """The places of slots in front of one."""
    return {place: kind for place, kind in found.items() if place[0] < slot}
