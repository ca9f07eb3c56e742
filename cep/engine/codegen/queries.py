"""A query as source: filters, window, aggregates, projection, having."""

from __future__ import annotations

from cep.engine.codegen.aggregates import Aggregates
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.writer import Writer
from cep.engine.kernels.state import RING_CLOCK, RING_COLUMNS, RING_HEAD, RING_ROOM, RING_TAIL
from cep.engine.layout import Home, Layout, is_float
from cep.plan.nodes import LengthWindow, Query, TimeWindow

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
        times: int,
    ) -> None:
        """`times`: most rows on the query's source per input row."""
        self.query = query
        self.index = index
        self.window_home: Home = "key" if keyed else "global"
        self.home = self._group_home(keyed, group_is_key)
        self.hashed = self.home == "group"
        rings = layout.rings
        self.aggregates = Aggregates(query, self.home, layout)
        self.windowed = query.window is not None and bool(query.aggregates)
        self.filtered = bool(query.window_filters)
        self.ring = layout.int_columns(self.window_home, RING_COLUMNS) if self.windowed else -1
        layout.rings = rings + times * (layout.rings - rings + int(self.windowed))
        layout.groups += times * len(query.group_by) if self.hashed else 0
        self._assign_cells()

    def _group_home(self, keyed: bool, group_is_key: bool) -> Home:
        if keyed and group_is_key:
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
        inner = Scope(scope.columns, scope.time, scope.code_of, aggregates)
        return tuple(
            w.let(name, inner.value(expression)) for name, expression in self.query.projection
        )

    def filters(self, scope: Scope) -> str:
        """Source of the condition in front of the window; empty when there is none."""
        return " and ".join(scope.condition(f) for f in self.query.filters)

    def counted(self, scope: Scope) -> str:
        """Source of the condition behind the window; empty when there is none."""
        return " and ".join(scope.condition(f) for f in self.query.window_filters)

    def having(self, scope: Scope, outputs: tuple[str, ...]) -> str:
        """Source of the `having` condition; empty when there is none."""
        if self.query.having is None:
            return ""
        inner = Scope(scope.columns, scope.time, scope.code_of, (), outputs)
        return inner.condition(self.query.having)

    def _write_aggregates(self, w: Writer, scope: Scope, key: str) -> tuple[str, ...]:
        values = []
        for argument in self.aggregates.arguments:
            source = scope.value(argument.expression)
            if argument.as_float and not is_float(argument.expression.type):
                source = f"to_float({source})"
            values.append(w.let("x", source))
        row = self._group_row(w, scope, key)
        i, f = ARRAYS[self.home]
        position = "0"
        if self.windowed:
            position = self._write_window(w, scope, key, row, values)
        enter = self.aggregates.enter(i, f, row, values, position)
        if self.filtered and self.windowed:
            with w.block("if counted:"):
                w(*enter)
        else:
            w(*enter)
        self._write_rebase(w, key, row)
        return tuple(w.let("a", source) for source in self.aggregates.results(i, f, row))

    def _group_row(self, w: Writer, scope: Scope, key: str) -> str:
        if self.home == "key":
            return key
        if self.home == "global":
            return "0"
        kind = str(self.index)
        for column in self.query.group_by:
            value = scope.value(column)
            if is_float(column.type):
                value = f"float_bits({value})"
            row = w.let("group", f"group_row(s, {kind}, {value})")
            kind = f"({row} + 1) * 65536 + {self.index}"
        return row

    def _write_window(self, w: Writer, scope: Scope, key: str, row: str, values: list[str]) -> str:
        """Let rows leave and the arriving row enter; the local of its position."""
        home, _ = ARRAYS[self.window_home]
        at = key if self.window_home == "key" else "0"
        head = w.let("head", f"{home}[{at}, {self.ring + RING_HEAD}]")
        tail = w.let("tail", f"{home}[{at}, {self.ring + RING_TAIL}]")
        clock = ""
        if isinstance(self.query.window, TimeWindow):
            clock = w.let("clock", scope.time)
            with w.block(f"if {tail} > 0:"):
                w(f"{clock} = max({clock}, {home}[{at}, {self.ring + RING_CLOCK}])")
            w(f"{home}[{at}, {self.ring + RING_CLOCK}] = {clock}")
        with w.block(self._leaving(head, tail)):
            cell = w.let("cell", f"int_cell({home}, {at}, {self.ring}, {head}, {self.ints})")
            if isinstance(self.query.window, TimeWindow):
                with w.block(f"if wi[{cell}] + {self.query.window.span_ms} > {clock}:"):
                    w("break")
            self._write_leave(w, home, at, head, cell, row)
            w(f"{head} += 1")
        w(f"{home}[{at}, {self.ring + RING_HEAD}] = {head}")
        self._write_entry(w, scope, home, at, tail, row, values)
        return tail

    def _leaving(self, head: str, tail: str) -> str:
        if isinstance(self.query.window, LengthWindow):
            return f"while {tail} - {head} >= {self.query.window.rows}:"
        return f"while {head} < {tail}:"

    def _write_leave(self, w: Writer, home: str, at: str, head: str, cell: str, row: str) -> None:
        i, f = ARRAYS[self.home]
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
        lines = self.aggregates.leave(i, f, leaver, cells, head)
        if self.filtered:
            with w.block(f"if wi[{cell} + {self.counted_cell}] != 0:"):
                w(*lines)
        else:
            w(*lines)

    def _write_entry(
        self, w: Writer, scope: Scope, home: str, at: str, tail: str, row: str, values: list[str]
    ) -> None:
        room = f"{home}[{at}, {self.ring + RING_ROOM}]"
        with w.block(f"if {tail} - {home}[{at}, {self.ring + RING_HEAD}] == {room}:"):
            w(f"reserve(s, {home}, {at}, {self.ring}, {self.ints}, {self.floats})")
        cell = w.let("cell", f"int_cell({home}, {at}, {self.ring}, {tail}, {self.ints})")
        w(f"wi[{cell}] = {scope.time}")
        if self.hashed:
            w(f"wi[{cell} + {self.group_cell}] = {row}")
        if self.filtered:
            w(f"wi[{cell} + {self.counted_cell}] = counted")
        if self.floats:
            fcell = w.let("fcell", f"float_cell({home}, {at}, {self.ring}, {tail}, {self.floats})")
        for argument, value in zip(self.aggregates.arguments, values, strict=True):
            target = f"wf[{fcell}" if argument.as_float else f"wi[{cell}"
            w(f"{target} + {argument.cell}] = {value}")
        w(f"{home}[{at}, {self.ring + RING_TAIL}] = {tail} + 1")

    def _write_rebase(self, w: Writer, key: str, row: str) -> None:
        """Keep the reference of stdDev near the window (see `kernels/moments.py`)."""
        if not self.windowed:
            return
        home, _ = ARRAYS[self.window_home]
        at = key if self.window_home == "key" else "0"
        i, f = ARRAYS[self.home]
        for argument in self.aggregates.arguments:
            if argument.squares:
                ci, cf = argument.moments
                with w.block(f"if moments_far({i}, {f}, {row}, {ci}, {cf}):"):
                    w(
                        f"rebase(s, {home}, {at}, {self.ring}, {self.ints}, {self.floats}, "
                        f"{argument.cell}, {i}, {f}, {row}, {ci}, {cf}, "
                        f"{self.group_cell}, {self.counted_cell})"
                    )
