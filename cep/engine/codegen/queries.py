"""A query as source: filters, window, aggregates, projection, having."""

from __future__ import annotations

from collections.abc import Sequence

from cep.engine.codegen.aggregates import Aggregates
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.kernels.state import RING_COLUMNS, RING_HEAD, RING_ROOM, RING_TAIL
from cep.engine.layout import Home, Layout, is_float
from cep.engine.windows import is_sliding
from cep.plan.expressions import Constant
from cep.plan.query import Query
from cep.plan.steps import Window
from cep.plan.windows import argument_of, kind_of

ARRAYS: dict[Home, tuple[str, str]] = {
    "key": ("ki", "kf"),
    "global": ("gi", "gf"),
    "group": ("ai", "af"),
}


class QuerySource:
    """Writes one query's work on the arriving row; the caller continues inside the open blocks."""

    def __init__(
        self,
        query: Query,
        index: int,
        keyed: bool,
        group_is_key: bool,
        layout: Layout,
        constants: Constants,
        times: int,
        clock: str,
    ) -> None:
        """`times`: most rows on the query's source per input row; `clock`: source of its clock."""
        self.query = query
        self.clock = clock
        self.index = index
        self.window_home: Home = "key" if keyed else "global"
        self.home = self._group_home(keyed, group_is_key)
        self.hashed = self.home == "group"
        self.source = query.stream_input
        self._take_window(self.source.window, constants)
        self.filtered = bool(self.source.window_filters)
        self._take_columns(layout, times)
        self._assign_cells()
        layout.ring_cells = max(layout.ring_cells, self.ints, self.floats)

    def _take_window(self, window: Window | None, constants: Constants) -> None:
        self.window, self.size = window, "0"
        self.windowed = self.batched = self.by_time = self.by_attribute = self.by_rows = False
        if window is None:
            return
        kind = kind_of(window)
        self.windowed = is_sliding(window) and bool(self.query.aggregates)
        self.batched = not is_sliding(window)
        self.by_time, self.by_attribute = kind.by == "clock", kind.by == "attribute"
        self.by_rows = kind.by == "rows"
        self.size = constants.whole(window.constant(kind.size))

    def _take_columns(self, layout: Layout, times: int) -> None:
        rings = layout.rings
        self.aggregates = Aggregates(self.query, self.home, layout, self.windowed, self.is_whole)
        self.filled = layout.int_columns(self.home, 1) if self.batched else -1
        self.ring = layout.int_columns(self.window_home, RING_COLUMNS) if self.windowed else -1
        layout.rings = rings + times * (layout.rings - rings + int(self.windowed))
        self._take_groups(layout, times)

    def _take_groups(self, layout: Layout, times: int) -> None:
        parts = len(self.query.group_by) + (self.query.partition is not None)
        layout.groups += times * parts if self.hashed else 0

    def _group_home(self, keyed: bool, group_is_key: bool) -> Home:
        alone = keyed and self.query.partition is not None and not self.query.group_by
        if keyed and (group_is_key or alone):
            return "key"
        return "group" if self.query.group_by and self.query.aggregates else "global"

    def _assign_cells(self) -> None:
        """Cells of a window row: ints (time, group row?, counted?, arguments..) and floats."""
        ints, floats = 1, 0
        self.group_cell = self.counted_cell = -1
        if self.hashed:
            self.group_cell, ints = ints, ints + 1
        if self.filtered:
            self.counted_cell, ints = ints, ints + 1
        for argument in self.aggregates.arguments:
            if not argument.is_kept:
                continue
            if argument.as_float:
                argument.cell, floats = floats, floats + 1
            else:
                argument.cell, ints = ints, ints + 1
        self.ints, self.floats = ints, floats

    def write(self, w: Writer, scope: Scope, key: str) -> tuple[str, ...]:
        """Source up to the selected values; returns their locals."""
        aggregates: tuple[str, ...] = ()
        if self.query.aggregates:
            aggregates = self._write_aggregates(w, scope, key)
        inner = Scope(scope.columns, scope.time, scope.constants, aggregates)
        return tuple(
            w.let(name, inner.value(expression)) for name, expression in self.query.projection
        )

    @property
    def is_whole(self) -> bool:
        """Whether what is aggregated is just what the window holds."""
        return self.windowed and not self.filtered and self.home == self.window_home

    def filters(self, scope: Scope) -> str:
        """Source of the condition in front of the window; empty when there is none."""
        return " and ".join(scope.condition(f) for f in self.source.filters)

    def full(self, key: str) -> str:
        """Source of whether the batch is full; empty where each row goes on at once."""
        if self.window is None or not self.batched or streams_current(self.window):
            return ""
        row = key if self.home == "key" else "0"
        return f"{ARRAYS[self.home][0]}[{row}, {self.filled}] == {self.size}"

    def counted(self, scope: Scope) -> str:
        """Source of the condition behind the window; empty when there is none."""
        return " and ".join(scope.condition(f) for f in self.source.window_filters)

    def having(self, scope: Scope, outputs: tuple[str, ...]) -> str:
        """Source of the `having` condition; empty when there is none."""
        if self.query.having is None:
            return ""
        inner = Scope(scope.columns, scope.time, scope.constants, (), outputs)
        return inner.condition(self.query.having)

    def _write_aggregates(self, w: Writer, scope: Scope, key: str) -> tuple[str, ...]:
        values = self._arguments(w, scope)
        row = self._group_row(w, scope, key)
        i, f = ARRAYS[self.home]
        ends, place = ("0", "0"), "0"
        if self.windowed:
            ends = self._write_gone(w, scope, key, row)
            place = self._write_place(w, scope, key, ends)
        enter = self._enter(scope, (place, ends[1]), row, values)
        if self.batched:
            self._write_batch_turn(w, i, f, row)
        with guarded(w, ["counted" if self.filtered and self.windowed else ""]):
            w(*enter)
        self._write_rebase(w, key, row, ends[0], values)
        self.aggregates.held = f"({ends[1]} + 1 - {ends[0]})"
        results = tuple(w.let("a", source) for source in self.aggregates.results(i, f, row))
        if self.windowed:
            self._write_entry(w, scope, key, (place, ends[1]), row, values)
        if self.batched:
            w(f"{i}[{row}, {self.filled}] += 1")
        return results

    def _write_batch_turn(self, w: Writer, i: str, f: str, row: str) -> None:
        """Start again in front of the row behind a full batch."""
        with w.block(f"if {i}[{row}, {self.filled}] == {self.size}:"):
            w(f"{i}[{row}, {self.filled}] = 0", *self.aggregates.reset(i, f, row))

    def _arguments(self, w: Writer, scope: Scope) -> list[str]:
        """Locals of what is aggregated."""
        values = []
        for argument in self.aggregates.arguments:
            source = scope.value(argument.expression)
            if argument.as_float and not is_float(argument.expression.type):
                source = f"to_float({source})"
            values.append(w.let("x", source))
        return values

    def _group_row(self, w: Writer, scope: Scope, key: str) -> str:
        if self.home == "key":
            return key
        if self.home == "global":
            return "0"
        kind = str(self.index)
        if self.query.partition is not None:
            row = w.let("group", f"group_row(s, {kind}, {key})")
            kind = f"({row} + 1) * 65536 + {self.index}"
        for column in self.query.group_by:
            value = scope.value(column)
            if is_float(column.type):
                value = f"float_bits({value})"
            row = w.let("group", f"group_row(s, {kind}, {value})")
            kind = f"({row} + 1) * 65536 + {self.index}"
        return row

    def _write_gone(self, w: Writer, scope: Scope, key: str, row: str) -> tuple[str, str]:
        """Let rows leave; the places of the oldest row and behind the newest."""
        home, at = self._window_row(key)
        head = w.let("head", f"{home}[{at}, {self.ring + RING_HEAD}]")
        tail = w.let("tail", f"{home}[{at}, {self.ring + RING_TAIL}]")
        clock = self._write_clock(w, scope)
        self._write_leaving(w, home, at, (head, tail), clock, row)
        w(f"{home}[{at}, {self.ring + RING_HEAD}] = {head}")
        return head, tail

    def _enter(self, scope: Scope, ends: tuple[str, str], row: str, values: list[str]) -> list[str]:
        """Source that lets the arriving row into the aggregates; `ends`: its place, and the end."""
        place, tail = ends
        i, f = ARRAYS[self.home]
        if not self.by_time:
            return self.aggregates.enter(i, f, row, values, tail)
        return self.aggregates.enter(i, f, row, values, scope.time, f"{place} < {tail}")

    def _write_place(self, w: Writer, scope: Scope, key: str, ends: tuple[str, str]) -> str:
        """The local of the place that the arriving row takes; a late one is in front of newer."""
        head, tail = ends
        if not self.by_time:
            return tail
        home, at = self._window_row(key)
        place = w.let("place", tail)
        newest = f"wi[{self._held_cell(home, at, f'({tail} - 1)')}]"
        with w.block(f"if {head} < {tail} and {newest} > {scope.time}:"):
            ring = f"{home}, {at}, {self.ring}, {head}, {self.ints}, {scope.time}"
            w(f"{place} = place_of_late(wi, {ring})")
        return place

    def _window_row(self, key: str) -> tuple[str, str]:
        """The array that holds the window's ring, and the row in it."""
        return ARRAYS[self.window_home][0], key if self.window_home == "key" else "0"

    def _write_clock(self, w: Writer, scope: Scope) -> str:
        """The local of the latest time that has come; empty where time does not matter."""
        if self.by_attribute:
            return w.let("clock", self._time(scope))
        if not self.by_time:
            return ""
        return w.let("clock", self.clock)

    def _write_leaving(
        self, w: Writer, home: str, at: str, ends: tuple[str, str], clock: str, row: str
    ) -> None:
        """Let rows leave; `ends` are the locals of the first row's place and of the arriving's."""
        head, tail = ends
        size = w.let("size", self.size)
        with w.block(self._leaving(head, tail, size)):
            cell = w.let("cell", self._held_cell(home, at, head))
            if clock:
                with w.block(f"if wi[{cell}] + {size} > {clock}:"):
                    w("break")
            self._write_leave(w, home, at, head, cell, row)
            w(f"{head} += 1")

    def _held_cell(self, home: str, at: str, position: str) -> str:
        """Source of the first int cell of a row that the window holds."""
        return f"int_cell({home}, {at}, {self.ring}, {position}, {self.ints})"

    def _time(self, scope: Scope) -> str:
        """Source of the time by which the row leaves."""
        if self.window is not None and self.by_attribute:
            return scope.value(argument_of(self.window, "timestamp"))
        return scope.time

    def _leaving(self, head: str, tail: str, size: str) -> str:
        if self.by_rows:
            return f"while {tail} - {head} >= {size}:"
        return f"while {head} < {tail}:"

    def _write_leave(self, w: Writer, home: str, at: str, head: str, cell: str, row: str) -> None:
        i, f = ARRAYS[self.home]
        at_float = ""
        if self.floats:
            at_float = w.let(
                "fcell", f"float_cell({home}, {at}, {self.ring}, {head}, {self.floats})"
            )
        cells = [
            f"wf[{at_float} + {argument.cell}]"
            if argument.as_float
            else f"wi[{cell} + {argument.cell}]"
            for argument in self.aggregates.arguments
        ]
        leaver = w.let("leaver", f"wi[{cell} + {self.group_cell}]") if self.hashed else row
        turn = f"wi[{cell}]" if self.by_time else head
        lines = self.aggregates.leave(i, f, leaver, cells, turn)
        counted = f"wi[{cell} + {self.counted_cell}] != 0" if self.filtered else ""
        with guarded(w, [counted]):
            w(*lines)

    def _write_entry(
        self,
        w: Writer,
        scope: Scope,
        key: str,
        ends: tuple[str, str],
        row: str,
        values: list[str],
    ) -> None:
        """The arriving row enters the ring; `ends` are the locals of its place and of the end."""
        home, at = self._window_row(key)
        place, tail = ends
        room = f"{home}[{at}, {self.ring + RING_ROOM}]"
        with w.block(f"if {tail} - {home}[{at}, {self.ring + RING_HEAD}] == {room}:"):
            w(f"reserve(s, {home}, {at}, {self.ring}, {self.ints}, {self.floats})")
        if place != tail:
            with w.block(f"if {place} < {tail}:"):
                first = f"{home}, {at}, {self.ring}, {place}, {place} + 1"
                w(f"move(s, {first}, {self.ints}, {self.floats})")
        cell = w.let("cell", f"int_cell({home}, {at}, {self.ring}, {place}, {self.ints})")
        w(f"wi[{cell}] = {self._time(scope)}")
        if self.hashed:
            w(f"wi[{cell} + {self.group_cell}] = {row}")
        if self.filtered:
            w(f"wi[{cell} + {self.counted_cell}] = counted")
        if self.floats:
            fcell = w.let("fcell", f"float_cell({home}, {at}, {self.ring}, {place}, {self.floats})")
        for argument, value in zip(self.aggregates.arguments, values, strict=True):
            if argument.is_kept:
                target = f"wf[{fcell}" if argument.as_float else f"wi[{cell}"
                w(f"{target} + {argument.cell}] = {value}")
        w(f"{home}[{at}, {self.ring + RING_TAIL}] = {tail} + 1")

    def _write_rebase(
        self, w: Writer, key: str, row: str, head: str, values: Sequence[str]
    ) -> None:
        """Keep the reference of stdDev near the window (see `kernels/moments.py`)."""
        if not self.windowed:
            return
        home, at = self._window_row(key)
        i, f = ARRAYS[self.home]
        for argument, value in zip(self.aggregates.arguments, values, strict=True):
            if argument.squares:
                ci, cf = self.aggregates.moments(argument)
                newest = f"{value} if counted else nan" if self.filtered else value
                with w.block(f"if moments_far({i}, {f}, {row}, {ci}, {cf}):"):
                    w(
                        f"rebase(s, {home}, {at}, {self.ring}, {head}, {self.ints}, {self.floats}, "
                        f"{argument.cell}, {i}, {f}, {row}, {ci}, {cf}, "
                        f"{self.group_cell}, {self.counted_cell}, {newest})"
                    )


def streams_current(window: Window) -> bool:
    """Whether rows of a batch go on as they come."""
    given = argument_of(window, "stream_current")
    return isinstance(given, Constant) and given.value is True
