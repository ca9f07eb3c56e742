"""The same aggregates over windows of many sizes: one ring of rows, in which each has its head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cep.engine.codegen.aggregates import Aggregates
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_scope import SlotScope
from cep.engine.codegen.predicates import Emission, slot_scope
from cep.engine.codegen.queries import ARRAYS, QuerySource
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.kernels.state import (
    OUT_ATTRIBUTES,
    RING_COLUMNS,
    RING_HEAD,
    RING_INTS,
    RING_ROOM,
    RING_TAIL,
)
from cep.engine.layout import Layout, Start, is_float
from cep.plan.families import Family


@dataclass(frozen=True, slots=True)
class Coming:
    """The row that comes: its scope and key, and locals with its place, the ring's end, the clock,
    the row of its group, what is aggregated.
    """

    scope: Scope
    key: str
    place: str
    tail: str
    clock: str
    row: str
    values: list[str]


class SharedWindow(QuerySource):
    """A family of queries over one window of several sizes.

    The ring keeps what the largest window holds. A member has its own columns for its head and its
    aggregates, one block behind the other.
    """

    def __init__(
        self,
        family: Family,
        index: int,
        keyed: bool,
        group_is_key: bool,
        layout: Layout,
        constants: Constants,
        times: int,
        clock: str,
        tables: Tables,
    ) -> None:
        self.family = family
        self.tables = tables
        self.families = [family]
        super().__init__(family.query, index, keyed, group_is_key, layout, constants, times, clock)
        self.sizes = tables.array("W", family.sizes(0))
        self.cells = tables.parameters(family, "{}")
        self.wide: int | None = None
        self.mask = self.rows = ""
        layout.wide_values += times * len(family) * len(family.query.projection)

    @property
    def is_even(self) -> bool:
        """Whether each row makes a row of every member."""
        return self.query.having is None and not self.filtered

    def __len__(self) -> int:
        return len(self.family)

    def _take_columns(self, layout: Layout, times: int) -> None:
        """A block per member in the home of aggregates, ring and heads in that of the window."""
        owners = [("query", query.name) for query in self.family.members]
        form = "shared window"
        block = Layout({"key": 0, "global": 0, "group": 0}, {"key": 0, "global": 0, "group": 0})
        self.aggregates = Aggregates(self.query, self.home, block, True, self.is_whole)
        self.widths = (block.ints[self.home], block.floats[self.home])
        self.blocks = (
            layout.each(owners, form, lambda: layout.int_columns(self.home, self.widths[0])),
            layout.each(owners, form, lambda: layout.float_columns(self.home, self.widths[1])),
        )
        with layout.owned(*owners, form=form):
            self.ring = layout.int_columns(self.window_home, RING_COLUMNS)
        self.heads = layout.each(owners, form, lambda: layout.int_columns(self.window_home, 1))
        tail = self.ring + RING_TAIL
        for number, owner in enumerate(owners):
            layout.starts.append(Start(owner, self.window_home, self.heads + number, tail))
        layout.kinds[self.index] = tuple(owners)
        layout.rings += times * (block.rings * len(owners) + 1)
        self._take_groups(layout, times)

    def write_run(self, w: Writer, scope: Scope, key: str, emit: Emission) -> None:
        """What a row does to all members, in their order."""
        with guarded(w, [self.filters(scope)]):

            def select(member: str, results: tuple[str, ...]) -> None:
                self._write_selection(w, scope, member, results, emit)

            self._write_members(w, scope, key, select)

    def write_wide(self, w: Writer, scope: Scope, key: str) -> None:
        """The same where all members put out a row: the values of all of them one by one."""
        with guarded(w, [self.filters(scope)]):
            self._write_wide(w, scope, key)

    def _write_wide(self, w: Writer, scope: Scope, key: str) -> None:
        row = w.let("row", f"write_row(gi, oi, order, {self.wide}, t, {key})")
        first = w.let("first", "gi[0, LISTS]")
        w(f"oi[{row}, {OUT_ATTRIBUTES}] = {first}")
        width = len(self.query.projection)

        def select(member: str, results: tuple[str, ...]) -> None:
            inner = self._member_scope(scope, member, results)
            for number, (_, value) in enumerate(self.query.projection):
                source = inner.value(value)
                stored = f"bits_of({source})" if is_float(value.type) else source
                w(f"ol[{first} + {member} * {width} + {number}] = {stored}")

        self._write_members(w, scope, key, select)
        w(f"gi[0, LISTS] = {first} + {len(self.family) * width}")

    def _write_members(
        self, w: Writer, scope: Scope, key: str, select: Callable[[str, tuple[str, ...]], None]
    ) -> None:
        """A row enters the windows; `select` writes what each member makes of its aggregates."""
        counted = self.counted(scope)
        if counted:
            w(f"counted = {counted}")
        values = self._arguments(w, scope)
        row = self._group_row(w, scope, key)
        home, at = self._window_row(key)
        tail = w.let("tail", f"{home}[{at}, {self.ring + RING_TAIL}]")
        oldest = w.let("oldest", f"{home}[{at}, {self.ring + RING_HEAD}]")
        clock = self._write_clock(w, scope)
        self.mask = w.let("mask", f"{home}[{at}, {self.ring + RING_ROOM}] - 1")
        self.rows = w.let("rows", f"{home}[{at}, {self.ring + RING_INTS}]")
        place = self._write_place(w, scope, key, (oldest, tail))
        coming = Coming(scope, key, place, tail, clock, row, values)
        w(f"{oldest} = {tail}")
        member = w.name("member")
        with w.block(f"for {member} in range({len(self.family)}):"):
            head = w.let("head", f"{home}[{at}, {self.heads} + {member}]")
            results = self._write_member(w, coming, head, member)
            w(f"{home}[{at}, {self.heads} + {member}] = {head}")
            w(f"{oldest} = min({oldest}, {head})")
            if self.by_time:
                self._write_overdue(w, coming, head, member)
            select(member, results)
        w(f"{home}[{at}, {self.ring + RING_HEAD}] = {oldest}")
        if self.by_time:
            w(f"{place} = max({place}, {oldest})")
        self._write_entry(w, scope, key, (place, tail), row, values)

    def _write_overdue(self, w: Writer, coming: Coming, head: str, member: str) -> None:
        """A late row that is too old for the member's window, or that comes in front of its first
        row, leaves at once: the rows of the window follow one another.
        """
        home, at = self._window_row(coming.key)
        i, f = ARRAYS[self.home]
        time, clock = coming.scope.time, coming.clock
        is_old = f"{time} + {self.size} <= {clock}"
        with w.block(f"if {time} < {clock} and ({is_old} or {head} > {coming.place}):"):
            lines = self.aggregates.leave(i, f, coming.row, coming.values, time)
            with guarded(w, ["counted" if self.filtered else ""]):
                w(*lines)
            w(f"{home}[{at}, {self.heads} + {member}] = {head} + 1")

    def _held_cell(self, home: str, at: str, position: str) -> str:
        """Where the ring lies is read once a row: members' stores could change it, for all the
        compiler knows.
        """
        return f"{self.rows} + ({position} & {self.mask}) * {self.ints}"

    def _write_member(self, w: Writer, coming: Coming, head: str, member: str) -> tuple[str, ...]:
        """The member's window moves on; the locals of its aggregates."""
        key, row, tail = coming.key, coming.row, coming.tail
        home, at = self._window_row(key)
        i, f = ARRAYS[self.home]
        ints, floats = (
            f"{w.let('block', f'{block} + {member} * {width}')} + " if width else ""
            for block, width in zip(self.blocks, self.widths, strict=True)
        )
        self.aggregates.bases = (ints, floats)
        self.size = w.let("size", f"{self.sizes}[{member}]")
        self._write_leaving(w, home, at, (head, tail), coming.clock, row)
        with guarded(w, ["counted" if self.filtered else ""]):
            w(*self._enter(coming.scope, (coming.place, tail), row, coming.values))
        self._write_rebase(w, key, row, head, coming.values)
        self.aggregates.held = f"({tail} + 1 - {head})"
        return tuple(w.let("a", source) for source in self.aggregates.results(i, f, row))

    def _write_selection(
        self, w: Writer, scope: Scope, member: str, results: tuple[str, ...], emit: Emission
    ) -> None:
        with guarded(w, ["counted" if self.filtered else ""]):
            inner = self._member_scope(scope, member, results)
            outputs = tuple(w.let(name, inner.value(one)) for name, one in self.query.projection)
            having = ""
            if self.query.having is not None:
                selected = self._member_scope(scope, member, outputs=outputs)
                having = selected.condition(self.query.having)
            with guarded(w, [having]):
                emit(w, self.family, member, outputs, scope)

    def _member_scope(
        self,
        scope: Scope,
        member: str,
        results: tuple[str, ...] = (),
        outputs: tuple[str, ...] = (),
    ) -> SlotScope:
        cells = {place: source.format(member) for place, source in self.cells.items()}
        return slot_scope(scope, cells, results, outputs)
