"""A pattern of single events as source: what a row of one of its streams does.

A partial match waits in the ring of the state whose event it lacks (`kernels/partials.py`) with
what later states and the selection still need of its events. A row goes to the states from the last
to the first, so that it is never taken twice by one match; within a state the oldest go first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cep.dropped import Reason
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_index import Index, index_of
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
from cep.engine.kernels.partials import (
    BY_EQUALITY,
    BY_THRESHOLD,
    FRESH,
    INDEX_INTS,
    INDEX_SIZE,
    LIVE,
    UNINDEXED,
    WAIT_COLUMNS,
)
from cep.engine.kernels.state import RING_HEAD, RING_TAIL
from cep.engine.layout import Home, Layout
from cep.engine.linear import conditions
from cep.plan.expressions import Expression
from cep.plan.families import PARAMETER
from cep.plan.types import Type

ARMED, AWAY, AGAIN = 0, 1, 2
"""Whether the next row can begin a match: yes; not now; yes from the row after this one on."""
ARENAS = "gi, wi, wf"
"""Arrays for kernels that make room. A call with the whole state would cost more than they do."""
LARGER_BLOCKS = 4
"""A ring that doubles step by step takes less than this times what it holds in the end."""


@dataclass(slots=True)
class Wait:
    """The state with number `slot` (1, 2, ..): its conditions and the cells of what waits there.

    `alone` are conditions on the row only, `crossing` those that need the partial match too; what
    the `index` answers is not among them. Cell `newest` has the time of the newest row; by it what
    comes `settles`, where other rows than the state's own bring it.
    """

    slot: int
    alone: tuple[Expression, ...]
    crossing: tuple[Expression, ...]
    index: Index | None
    ring: int = 0
    ints: int = 1
    floats: int = 0
    cells: dict[Place, tuple[bool, int]] = field(default_factory=dict)
    newest: int = 0
    settles: bool = False

    @property
    def kind(self) -> int:
        """The kind of the index."""
        return self.index.kind if self.index else UNINDEXED


class PatternSource:
    """Writes the queries of a group; `times` is the most rows its streams get per input row."""

    def __init__(
        self,
        group: MatchGroup,
        number: int,
        keyed: bool,
        layout: Layout,
        constants: Constants,
        times: int,
    ) -> None:
        self.group = group
        self.linear = group.linear
        self.home: Home = "key" if keyed else "global"
        self.array = "ki" if keyed else "gi"
        self.tables = tables_of(group, number, constants)
        self.waits = [self._wait(slot) for slot in range(len(self.linear.states))]
        self._assign_cells()
        self.last = 0
        self.armed = 1
        self.mixed = 2
        width = 3
        for wait in self.waits[1:]:
            wait.ring = width
            width += WAIT_COLUMNS
        self.width = width
        owners = [("query", name) for name in group.names]
        form = f"pattern {[(wait.ints, wait.floats, wait.kind) for wait in self.waits]}"
        self.base = layout.each(owners, form, lambda: layout.int_columns(self.home, width))
        self.dropped = layout.counted(owners, Reason.BOUND)
        self._need_room(layout, times)

    @property
    def timed(self) -> bool:
        """Whether partial matches grow too old."""
        return self.linear.within_ms is not None

    def _wait(self, slot: int) -> Wait:
        state = self.linear.states[slot]
        parts = conditions(state)
        alone = tuple(part for part in parts if slots(part) <= {slot, PARAMETER})
        crossing = tuple(part for part in parts if part not in alone)
        index, rest = index_of(crossing, slot)
        return Wait(slot, alone, rest, index)

    def _assign_cells(self) -> None:
        """What waits at a state: what is asked there, and what is needed behind it."""
        query = self.group.query
        behind: dict[Place, bool] = {}
        for expression in [value for _, value in query.projection]:
            behind |= places(expression)
        if query.having is not None:
            behind |= places(query.having)
        limit: dict[Place, bool] = {}
        for wait in reversed(self.waits[1:]):
            behind |= limit
            for condition in wait.crossing:
                behind |= places(condition)
            behind = {place: kind for place, kind in behind.items() if place[0] < wait.slot}
            limit = places(wait.index.limit) if wait.index else {}
            self._place(wait, behind)

    def _place(self, wait: Wait, held: dict[Place, bool]) -> None:
        """Cells of a waiting partial match: time of the first event, what is indexed, the rest."""
        wait.ints = 3 if wait.kind == BY_EQUALITY else 1
        wait.floats = int(wait.kind == BY_THRESHOLD)
        for place, is_broken in sorted(held.items()):
            if place == (0, TIME):
                continue
            wait.cells[place] = (is_broken, wait.floats if is_broken else wait.ints)
            wait.floats += is_broken
            wait.ints += not is_broken
        states = self.linear.states
        wait.settles = states[wait.slot].input.stream != states[wait.slot - 1].input.stream
        if wait.slot > 1 or wait.settles:
            wait.newest, wait.ints = wait.ints, wait.ints + 1

    def _need_room(self, layout: Layout, times: int) -> None:
        """All that waits may move one state on at once, or leave: see `Layout`."""
        waiting = len(self.group) * (len(self.waits) - 1)
        for wait in self.waits[1:]:
            blocks = LARGER_BLOCKS * waiting
            ints = wait.ints + 2 * bool(wait.index)
            floats = wait.floats + 2 * bool(wait.index)
            layout.match_ints += blocks * ints
            layout.match_floats += blocks * floats
            layout.row_ints += LARGER_BLOCKS * times * len(self.group) * ints
            layout.row_floats += LARGER_BLOCKS * times * len(self.group) * floats

    def write(self, w: Writer, stream: str, scope: Scope, key: str, emit: Emission) -> None:
        """What a row of the stream does to every query of the group."""
        at = key if self.home == "key" else "0"
        row = _Row(self, w, scope, key, at, emit)
        slots_here = self.linear.at(stream)
        tests = {slot: row.test(self.waits[slot]) for slot in slots_here}
        with row.each_query():
            row.grow_old()
            row.look(slots_here)
            for slot in slots_here:
                with guarded(w, [tests[slot], row.inner_test(self.waits[slot])]):
                    if slot:
                        row.offer(self.waits[slot])
                    else:
                        row.begin()
                        row.bound(slots_here)


class _Row:
    """Writes the source that shows one row to a group."""

    def __init__(
        self, source: PatternSource, w: Writer, scope: Scope, key: str, at: str, emit: Emission
    ) -> None:
        self.source = source
        self.w = w
        self.outer = scope
        self.key = key
        self.at = at
        self.emit = emit
        self.base = str(source.base)

    @contextmanager
    def each_query(self) -> Iterator[None]:
        """A loop over the queries of the group, when there are several."""
        source, w = self.source, self.w
        if len(source.group) == 1:
            yield
            return
        with w.block(f"for q in range({len(source.group)}):"):
            self.base = w.let("base", f"{source.base} + q * {source.width}")
            yield

    def cell(self, column: int) -> str:
        """The home cell of a column of the query at work."""
        return f"{self.source.array}[{self.at}, {self.column(column)}]"

    def column(self, column: int) -> str:
        if self.base.isdigit():
            return str(int(self.base) + column)
        return f"{self.base} + {column}" if column else self.base

    def ring(self, wait: Wait) -> str:
        """Arguments of kernels: the ring of a state."""
        return f"{self.source.array}, {self.at}, {self.column(wait.ring)}"

    def scope(self, wait: Wait, held: dict[Place, str], outputs: tuple[str, ...] = ()) -> SlotScope:
        """What can be named when a row is shown to a partial match; `held`: its cells."""
        own = {(wait.slot, index): name for index, name in enumerate(self.outer.columns)}
        own[wait.slot, TIME] = self.outer.time
        cells = {**self.source.tables.parameters, **held, **own}
        return SlotScope((), self.outer.time, self.outer.constants, (), outputs, cells=cells)

    def test(self, wait: Wait) -> str:
        """A local with the conditions on the row alone, the same for all queries of the group."""
        parts = [part for part in wait.alone if PARAMETER not in slots(part)]
        return self.w.let("fits", self._all(wait, parts)) if parts else ""

    def inner_test(self, wait: Wait) -> str:
        """The conditions on the row alone with constants of the query at work."""
        return self._all(wait, [part for part in wait.alone if PARAMETER in slots(part)])

    def _all(self, wait: Wait, parts: list[Expression]) -> str:
        scope = self.scope(wait, {})
        return " and ".join(scope.condition(part) for part in parts)

    def grow_old(self) -> None:
        """Note the time; an `every` over several states starts again when its match is too old.

        Elsewhere a state drops what is too old when a row or a partial match comes to it. But a row
        that comes late does not find again what was too old already.
        """
        source, w = self.source, self.w
        if source.timed:
            with w.block(f"if {self.outer.time} < {self.cell(source.last)}:"):
                for wait in source.waits[1:]:
                    self._drop(wait, "purge", self.cell(source.last))
                mixed = self.cell(source.mixed)
                w(f"{mixed} = max({mixed}, {self.cell(source.last)})")
            w(f"{self.cell(source.last)} = {self.outer.time}")
        for wait in source.waits[1 : source.linear.every]:
            self._expire(wait)

    def _expire(self, wait: Wait) -> None:
        """Drop what is too old, and gaps, from the front of a state."""
        head, tail = (self.cell(wait.ring + end) for end in (RING_HEAD, RING_TAIL))
        with self.w.block(f"if {head} < {tail}:"):
            self._drop(wait, "expire", self.outer.time)

    def _drop(self, wait: Wait, kernel: str, time: str) -> None:
        call = f"{kernel}(wi, {self.ring(wait)}, {wait.ints}, {time}, {self.source.tables.within})"
        if wait.slot < self.source.linear.every and self.source.timed:
            with self.w.block(f"if {call} > 0:"):
                self.w(f"{self.cell(self.source.armed)} = {ARMED}")
        else:
            self.w(call)

    def look(self, slots_here: list[int]) -> None:
        """What has come to the row's states since their last row is ready for this one."""
        source, w = self.source, self.w
        if source.linear.every != 1 and 0 in slots_here:
            with w.block(f"if {self.cell(source.armed)} == {AGAIN}:"):
                w(f"{self.cell(source.armed)} = {ARMED}")
        for slot in slots_here:
            wait = source.waits[slot]
            if wait.settles:
                w(f"{self.cell(wait.ring + FRESH)} = {self.cell(wait.ring + RING_TAIL)}")

    def begin(self) -> None:
        """The first state takes the row, if a partial match may begin."""
        source, wait = self.source, self.source.waits[0]
        if source.linear.every == 1:
            self._take(wait, {}, self.outer.time)
            return
        with self.w.block(f"if {self.cell(source.armed)} == {ARMED}:"):
            self.w(f"{self.cell(source.armed)} = {AWAY}")
            self._take(wait, {}, self.outer.time)

    def bound(self, slots_here: list[int]) -> None:
        """Of too many partial matches the one that waits longest gives way; only here one began."""
        source, w = self.source, self.w
        waits = source.waits[1:]
        if not waits or not source.linear.every:
            return
        waiting = " + ".join(self.cell(wait.ring + LIVE) for wait in waits)
        is_too_many = f"if {waiting} > {source.linear.partials_max}:"
        with w.block(is_too_many):
            for wait in waits if source.timed else ():
                self._drop_old(wait, wait.slot in slots_here)
            with w.block(is_too_many):
                member = "" if len(source.group) == 1 else " + q"
                w(f"gi[0, {source.dropped}{member}] += 1")
                self._drop_oldest(waits)

    def _drop_old(self, wait: Wait, is_here: bool) -> None:
        """What is too old at a state counts no more; behind a younger one where the row is for it.

        At the second state it stands in front, but for a time after a row that came late.
        """
        source, w = self.source, self.w
        if not is_here:
            self._drop(wait, "expire", self.outer.time)
        elif wait.slot > 1:
            self._drop(wait, "purge", self.outer.time)
        else:
            until = f"{self.cell(source.mixed)} + {source.tables.within}"
            with w.block(f"if {self.outer.time} <= {until}:"):
                self._drop(wait, "purge", self.outer.time)
            with w.block("else:"):
                self._drop(wait, "expire", self.outer.time)

    def _drop_oldest(self, waits: list[Wait]) -> None:
        """Of equal age the one at the earlier state."""
        w = self.w
        if len(waits) == 1:
            w(f"drop_oldest(wi, {self.ring(waits[0])}, {waits[0].ints})")
            return
        ages = [
            w.let("age", f"longest_wait(wi, {self.ring(wait)}, {wait.ints}, {wait.newest})")
            for wait in waits
        ]
        oldest = w.let("oldest", f"min({', '.join(ages)})")
        for place, (wait, age) in enumerate(zip(waits, ages, strict=True)):
            earlier = (f"{other} > {oldest}" for other in ages[:place])
            with guarded(w, [f"{age} == {oldest}", *earlier]):
                w(f"drop_oldest(wi, {self.ring(wait)}, {wait.ints})")

    def offer(self, wait: Wait) -> None:
        """Show the row to all that waits at a state."""
        w = self.w
        self._expire(wait)
        head = w.let("head", self.cell(wait.ring + RING_HEAD))
        if wait.index is None:
            tail = self.cell(wait.ring + RING_TAIL)
            place = w.name("place")
            with w.block(f"for {place} in range({head}, {tail}):"):
                self._show(wait, place)
            return
        found = w.let("found", self._find(wait, wait.index))
        start = self.cell(wait.ring + INDEX_INTS)
        end = w.let("end", f"{start} + {self.cell(wait.ring + INDEX_SIZE)}")
        here = w.name("here")
        with w.block(f"for {here} in range({end}, {end} + {found}):"):
            place = w.let("place", f"wi[{here}]")
            with w.block(f"if {place} >= {head}:"):
                self._show(wait, place)

    def _find(self, wait: Wait, index: Index) -> str:
        """Source of how many partial matches the index gives for the row."""
        value = self._indexed(self.scope(wait, {}), index, index.value)
        if index.kind == BY_EQUALITY:
            return f"chained(wi, {self.ring(wait)}, {wait.ints}, {value})"
        return f"passed(wi, wf, {self.ring(wait)}, {wait.floats}, {value}, {index.equal})"

    def _indexed(self, scope: SlotScope, index: Index, expression: Expression) -> str:
        """A side of the condition as the index compares it."""
        if index.kind == BY_EQUALITY:
            return scope.value(expression)
        source = scope.as_type(expression, Type.DOUBLE)
        return f"-{source}" if index.negated else source

    def _show(self, wait: Wait, place: str) -> None:
        """Show the row to one partial match, which may be gone or too old."""
        w = self.w
        ring = self.ring(wait)
        cell = w.let("cell", f"int_cell({ring}, {place}, {wait.ints})")
        with w.block(f"if {self.outer.time} - wi[{cell}] <= {self.source.tables.within}:"):
            broken = ""
            if wait.floats:
                broken = w.let("fcell", f"float_cell({ring}, {place}, {wait.floats})")
            held = {
                at: f"wf[{broken} + {index}]" if is_broken else f"wi[{cell} + {index}]"
                for at, (is_broken, index) in wait.cells.items()
            }
            held[0, TIME] = f"wi[{cell}]"
            scope = self.scope(wait, held)
            with guarded(w, [scope.condition(part) for part in wait.crossing]):
                first = w.let("first", f"wi[{cell}]")
                w(f"wi[{cell}] = DEAD", f"{self.cell(wait.ring + LIVE)} -= 1")
                if wait.kind == BY_THRESHOLD:
                    w(f"wf[{broken}] = nan")
                held[0, TIME] = first
                self._take(wait, held, first)

    def _take(self, wait: Wait, held: dict[Place, str], first: str) -> None:
        """The state has its event: the partial match goes on, or is complete."""
        source, w = self.source, self.w
        if 1 < source.linear.every == wait.slot + 1:
            w(f"{self.cell(source.armed)} = {AGAIN}")
        if wait.slot + 1 < len(source.waits):
            self._go_on(wait, source.waits[wait.slot + 1], held, first)
        else:
            self._complete(wait, held)

    def _go_on(self, wait: Wait, to: Wait, held: dict[Place, str], first: str) -> None:
        """The partial match waits at the next state."""
        w = self.w
        ring = self.ring(to)
        widths = f"{to.ints}, {to.floats}"
        self._expire(to)
        place = w.let("place", f"admit_partial({ARENAS}, {ring}, {widths}, {to.kind})")
        cell = w.let("cell", f"int_cell({ring}, {place}, {to.ints})")
        w(f"wi[{cell}] = {first}")
        broken = w.let("fcell", f"float_cell({ring}, {place}, {to.floats})") if to.floats else ""
        scope = self.scope(wait, held)
        for at, (is_broken, index) in to.cells.items():
            target = f"wf[{broken} + {index}]" if is_broken else f"wi[{cell} + {index}]"
            w(f"{target} = {scope.cells[at]}")
        if to.newest:
            w(f"wi[{cell} + {to.newest}] = {self.outer.time}")
        if to.index is not None:
            limit = self._indexed(scope, to.index, to.index.limit)
            target = f"wi[{cell} + 1]" if to.kind == BY_EQUALITY else f"wf[{broken}]"
            kernel = "link" if to.kind == BY_EQUALITY else "watch"
            w(f"{target} = {limit}", f"{kernel}({ARENAS}, {ring}, {widths})")
        if to.settles:
            w(f"settle({ARENAS}, {ring}, {widths}, {to.kind}, {to.newest})")

    def _complete(self, wait: Wait, held: dict[Place, str]) -> None:
        """Select the match and hand it on."""
        query, w = self.source.group.query, self.w
        scope = self.scope(wait, held)
        outputs = tuple(w.let(name, scope.value(value)) for name, value in query.projection)
        having = ""
        if query.having is not None:
            having = self.scope(wait, held, outputs).condition(query.having)
        with guarded(w, [having]):
            self.emit(w, outputs, self.outer, self.key)
