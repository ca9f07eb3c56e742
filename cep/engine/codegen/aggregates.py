"""Aggregates of a query as cells in the state, with the source that enters, leaves, reads them.

Aggregates of the same expression share their cells: avg, sum and stdDev one set of moments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.engine.kernels.moments import CELLS
from cep.engine.kernels.state import RING_COLUMNS, RING_HEAD, RING_TAIL
from cep.engine.layout import Home, Layout, is_float
from cep.plan.expressions import Aggregate, Expression
from cep.plan.functions import aggregator_of
from cep.plan.functions.native import (
    CLEARED,
    Cells,
    Extreme,
    Kept,
    Moments,
    Native,
    WholeTotal,
)
from cep.plan.query import Query


@dataclass(slots=True)
class Argument:
    """One distinct aggregate argument and its column among the window row's cells.

    `uses` is what needs its value again when the row leaves.
    """

    expression: Expression
    as_float: bool
    cell: int = -1
    uses: set[Native] = field(default_factory=set)
    moments: tuple[int, int] = (-1, -1)
    integer: int = -1
    deques: dict[int, int] = field(default_factory=dict)
    """Columns of the rings of extremes, by their sign."""

    @property
    def is_kept(self) -> bool:
        """Whether the window keeps the value."""
        return bool(self.uses)

    @property
    def squares(self) -> bool:
        return any(isinstance(use, Moments) and use.squares for use in self.uses)


@dataclass(frozen=True, slots=True)
class Own:
    """An aggregate with cells of its own: its arguments, and the first int and float column."""

    cells: Cells
    arguments: tuple[Argument, ...]
    ints: int
    floats: int
    period: int
    lasts: bool


class Aggregates:
    """The accumulators of a query in one home (`key`, `global` or `group` arrays)."""

    def __init__(
        self, query: Query, home: Home, layout: Layout, slides: bool, is_whole: bool = False
    ) -> None:
        """`slides`: whether rows leave one by one; `is_whole`: they are of all the window holds."""
        self.query = query
        self.slides = slides
        self.held = ""
        """Source of how many rows the window holds, set before results of the whole are asked."""
        self.bases = ("", "")
        """Source in front of int and of float columns, where several queries share a layout."""
        self.arguments: list[Argument] = []
        self.own: dict[Aggregate, Own] = {}
        self.by_aggregate = [
            self._argument(aggregate, home, layout) for aggregate in query.aggregates
        ]
        counted = not is_whole and any(map(_is_of_rows, query.aggregates))
        self.count = layout.int_columns(home, 1) if counted else -1
        for argument in self.arguments:
            self._assign(argument, home, layout)

    def _argument(self, aggregate: Aggregate, home: Home, layout: Layout) -> Argument | None:
        """The shared argument of an aggregate; moments of whole numbers work on floats."""
        native = native_of(aggregate)
        assert not isinstance(native, str)
        if native is None:
            return None
        if isinstance(native, Cells):
            self._add_own(aggregate, native, home, layout)
            return None
        [expression] = aggregate.arguments
        known = self._known(expression, is_float(expression.type) or isinstance(native, Moments))
        known.uses.add(native)
        return known

    def _known(self, expression: Expression, as_float: bool) -> Argument:
        for known in self.arguments:
            if known.expression == expression and known.as_float == as_float:
                return known
        self.arguments.append(Argument(expression, as_float))
        return self.arguments[-1]

    def _add_own(self, aggregate: Aggregate, cells: Cells, home: Home, layout: Layout) -> None:
        if aggregate in self.own:
            return
        definition = aggregator_of(aggregate.function)
        values = definition.values(aggregate)
        arguments = tuple(self._known(value, cells.as_float) for value in values)
        for argument in arguments:
            argument.uses.update([cells] if cells.leave else [])
        ints, floats = (
            layout.int_columns(home, cells.ints),
            layout.float_columns(home, cells.floats),
        )
        period, lasts = definition.constant(aggregate), definition.remembers == "ever"
        self.own[aggregate] = Own(cells, arguments, ints, floats, period, lasts)

    def _assign(self, argument: Argument, home: Home, layout: Layout) -> None:
        if any(isinstance(use, Moments) for use in argument.uses):
            argument.moments = (
                layout.int_columns(home, 1),
                layout.float_columns(home, CELLS),
            )
        elif WholeTotal() in argument.uses:
            argument.integer = layout.int_columns(home, 2)
        signs = {use.sign for use in argument.uses if isinstance(use, Extreme)}
        for sign in sorted(signs, reverse=True):
            argument.deques[sign] = layout.int_columns(home, RING_COLUMNS)
            layout.rings += 1

    def _int(self, column: int) -> str:
        return f"{self.bases[0]}{column}"

    def _float(self, column: int) -> str:
        return f"{self.bases[1]}{column}"

    def enter(
        self, i: str, f: str, row: str, values: list[str], turn: str, late: str = ""
    ) -> list[str]:
        """Source that lets the arriving row's argument values enter, to leave in their `turn`.

        `late`: source of whether that may be before others that are there.
        """
        lines = [f"{i}[{row}, {self._int(self.count)}] += 1"] if self.count >= 0 else []
        for argument, value in zip(self.arguments, values, strict=True):
            lines += self._sums("enter", argument, i, f, row, value)
            for sign, ring in argument.deques.items():
                name = "extreme_enter" if self.slides else "extreme_keep"
                kind = "" if argument.as_float else "_int"
                given = f"{kind}(s, {i}, {row}, {self._int(ring)}, {turn}, {value}, {sign})"
                if late:
                    lines += [f"if {late}:", f"    {name}_late{given}", "else:"]
                lines.append(f"{'    ' if late else ''}{name}{given}")
        return lines + [
            self._filled(own, own.cells.enter, i, f, row, values) for own in self.own.values()
        ]

    def _filled(self, own: Own, source: str, i: str, f: str, row: str, values: list[str]) -> str:
        """Source of an own aggregate with everything in place; `values` are of all arguments."""
        places = [self.arguments.index(argument) for argument in own.arguments]
        return source.format(
            *(values[place] for place in places),
            i=i,
            f=f,
            row=row,
            ci=self._int(own.ints),
            cf=self._float(own.floats),
            n=own.period,
        )

    def leave(self, i: str, f: str, row: str, cells: list[str], turn: str) -> list[str]:
        """Source that lets a window row leave; `cells` are its arguments' values in the arenas."""
        lines = [f"{i}[{row}, {self._int(self.count)}] -= 1"] if self.count >= 0 else []
        for argument, value in zip(self.arguments, cells, strict=True):
            lines += self._sums("leave", argument, i, f, row, value)
            width = 1 if argument.as_float else 2
            for ring in argument.deques.values():
                at = self._int(ring)
                lines.append(f"extreme_leave(s, {i}, {row}, {at}, {turn}, {width})")
        return lines + [
            self._filled(own, own.cells.leave, i, f, row, cells)
            for own in self.own.values()
            if own.cells.leave
        ]

    def reset(self, i: str, f: str, row: str) -> list[str]:
        """Source that starts everything again, but what lasts forever."""
        lines = [f"{i}[{row}, {self._int(self.count)}] = 0"] if self.count >= 0 else []
        for argument in self.arguments:
            for column in (argument.moments[0], argument.integer):
                lines += [f"{i}[{row}, {self._int(column)}] = 0"] if column >= 0 else []
            if argument.integer >= 0:
                lines.append(f"{i}[{row}, {self._int(argument.integer + 1)}] = 0")
            for ring in argument.deques.values():
                ends = (self._int(ring + RING_HEAD), self._int(ring + RING_TAIL))
                lines += [f"{i}[{row}, {end}] = 0" for end in ends]
        for own in self.own.values():
            if own.lasts:
                continue
            # what counts comes first; cells behind are written before they are read again
            ints, floats = min(own.cells.ints, CLEARED), min(own.cells.floats, CLEARED)
            lines += [f"{i}[{row}, {self._int(own.ints + at)}] = 0" for at in range(ints)]
            lines += [f"{f}[{row}, {self._float(own.floats + at)}] = 0.0" for at in range(floats)]
        return lines

    def _sums(
        self, verb: str, argument: Argument, i: str, f: str, row: str, value: str
    ) -> list[str]:
        if argument.moments[0] >= 0:
            ci, cf = self.moments(argument)
            return [f"moments_{verb}({i}, {f}, {row}, {ci}, {cf}, {value}, {argument.squares})"]
        if argument.integer >= 0:
            sign = 1 if verb == "enter" else -1
            column = self._int(argument.integer)
            return [f"integer_enter({i}, {row}, {column}, {value}, {sign})"]
        return []

    def moments(self, argument: Argument) -> tuple[str, str]:
        """Source of the int and float columns of an argument's moments."""
        ci, cf = argument.moments
        return self._int(ci), self._float(cf)

    def results(self, i: str, f: str, row: str) -> list[str]:
        """Source of each aggregate's value, in the order of the query's aggregates."""
        return [
            self._result(aggregate, argument, i, f, row)
            for aggregate, argument in zip(self.query.aggregates, self.by_aggregate, strict=True)
        ]

    def _result(
        self, aggregate: Aggregate, argument: Argument | None, i: str, f: str, row: str
    ) -> str:
        native = native_of(aggregate)
        if isinstance(native, Cells):
            own = self.own[aggregate]
            return self._filled(own, native.value, i, f, row, [""] * len(self.arguments))
        if argument is None:
            return f"{i}[{row}, {self._int(self.count)}]" if self.count >= 0 else self.held
        match native:
            case Extreme(sign):
                name = "extreme" if argument.as_float else "extreme_int"
                return f"{name}(s, {i}, {row}, {self._int(argument.deques[sign])})"
            case Moments(value):
                ci, cf = self.moments(argument)
                return f"{value}({i}, {f}, {row}, {ci}, {cf})"
            case _:
                return f"integer_total({i}, {row}, {self._int(argument.integer)})"


def native_of(aggregate: Aggregate) -> Native | str | None:
    """How an aggregate is compiled, or why it is not; None for one that looks at rows alone."""
    definition = aggregator_of(aggregate.function)
    if definition.of_rows:
        return None
    native = definition.native(aggregate) if callable(definition.native) else definition.native
    if native is None or isinstance(native, Kept):
        return f"aggregator `{aggregate.function}` is not compiled"
    return native


def _is_of_rows(aggregate: Aggregate) -> bool:
    return aggregator_of(aggregate.function).of_rows
