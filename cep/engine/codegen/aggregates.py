"""Aggregates of a query as cells in the state, with the source that enters, leaves, reads them.

Aggregates of the same expression share their cells: avg, sum and stdDev one set of moments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.engine.codegen.indicators import LASTING, Indicator, constant, indicator
from cep.engine.kernels.moments import CELLS
from cep.engine.kernels.state import RING_COLUMNS, RING_HEAD, RING_TAIL
from cep.engine.layout import Home, Layout, is_float
from cep.plan.expressions import Aggregate, Expression
from cep.plan.query import Query

RESET = 4
"""So many cells of an aggregate's own are set to 0 when it starts again."""


@dataclass(slots=True)
class Argument:
    """One distinct aggregate argument and its column among the window row's cells.

    `uses` are the aggregators that need its value again when the row leaves.
    """

    expression: Expression
    as_float: bool
    cell: int = -1
    uses: set[str] = field(default_factory=set)
    moments: tuple[int, int] = (-1, -1)
    integer: int = -1
    deques: dict[str, int] = field(default_factory=dict)

    @property
    def is_kept(self) -> bool:
        """Whether the window keeps the value."""
        return bool(self.uses)

    @property
    def squares(self) -> bool:
        return "stdDev" in self.uses


@dataclass(frozen=True, slots=True)
class Own:
    """An aggregate with cells of its own: its arguments, and the first int and float column."""

    indicator: Indicator
    arguments: tuple[Argument, ...]
    ints: int
    floats: int
    period: int


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
        counted = not is_whole and any(one.function == "count" for one in query.aggregates)
        self.count = layout.int_columns(home, 1) if counted else -1
        for argument in self.arguments:
            self._assign(argument, home, layout)

    def _argument(self, aggregate: Aggregate, home: Home, layout: Layout) -> Argument | None:
        """The shared argument of an aggregate; avg and stdDev of whole numbers work on floats."""
        if aggregate.argument is None or aggregate.function == "count":
            return None
        own = indicator(aggregate)
        if own is not None:
            self._add_own(aggregate, own, home, layout)
            return None
        expression = aggregate.argument
        as_float = is_float(expression.type) or aggregate.function in ("avg", "stdDev")
        known = self._known(expression, as_float)
        known.uses.add(aggregate.function)
        return known

    def _known(self, expression: Expression, as_float: bool) -> Argument:
        for known in self.arguments:
            if known.expression == expression and known.as_float == as_float:
                return known
        self.arguments.append(Argument(expression, as_float))
        return self.arguments[-1]

    def _add_own(self, aggregate: Aggregate, own: Indicator, home: Home, layout: Layout) -> None:
        if aggregate in self.own:
            return
        period = constant(aggregate)
        values = aggregate.arguments[:-1] if period else aggregate.arguments
        arguments = tuple(self._known(value, own.as_float) for value in values)
        for argument in arguments:
            argument.uses.update([aggregate.function] if own.leave else [])
        ints, floats = layout.int_columns(home, own.ints), layout.float_columns(home, own.floats)
        self.own[aggregate] = Own(own, arguments, ints, floats, period)

    def _assign(self, argument: Argument, home: Home, layout: Layout) -> None:
        sums = argument.uses & {"avg", "sum", "stdDev"}
        if sums and argument.as_float:
            argument.moments = (
                layout.int_columns(home, 1),
                layout.float_columns(home, CELLS),
            )
        elif sums:
            argument.integer = layout.int_columns(home, 2)
        for function in sorted(argument.uses & {"min", "max"}):
            argument.deques[function] = layout.int_columns(home, RING_COLUMNS)
            layout.rings += 1

    def _int(self, column: int) -> str:
        return f"{self.bases[0]}{column}"

    def _float(self, column: int) -> str:
        return f"{self.bases[1]}{column}"

    def enter(self, i: str, f: str, row: str, values: list[str], position: str) -> list[str]:
        """Source that lets the arriving row's argument values enter."""
        lines = [f"{i}[{row}, {self._int(self.count)}] += 1"] if self.count >= 0 else []
        for argument, value in zip(self.arguments, values, strict=True):
            lines += self._sums("enter", argument, i, f, row, value)
            for function, ring in argument.deques.items():
                sign = "1" if function == "max" else "-1"
                verb = "enter" if self.slides else "keep"
                name = f"extreme_{verb}" if argument.as_float else f"extreme_{verb}_int"
                at = self._int(ring)
                lines.append(f"{name}(s, {i}, {row}, {at}, {position}, {value}, {sign})")
        return lines + [
            self._filled(own, own.indicator.enter, i, f, row, values) for own in self.own.values()
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

    def leave(self, i: str, f: str, row: str, cells: list[str], position: str) -> list[str]:
        """Source that lets a window row leave; `cells` are its arguments' values in the arenas."""
        lines = [f"{i}[{row}, {self._int(self.count)}] -= 1"] if self.count >= 0 else []
        for argument, value in zip(self.arguments, cells, strict=True):
            lines += self._sums("leave", argument, i, f, row, value)
            width = 1 if argument.as_float else 2
            for ring in argument.deques.values():
                at = self._int(ring)
                lines.append(f"extreme_leave(s, {i}, {row}, {at}, {position}, {width})")
        return lines + [
            self._filled(own, own.indicator.leave, i, f, row, cells)
            for own in self.own.values()
            if own.indicator.leave
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
        for aggregate, own in self.own.items():
            if aggregate.function in LASTING:
                continue
            # what counts comes first; cells behind are written before they are read again
            ints, floats = min(own.indicator.ints, RESET), min(own.indicator.floats, RESET)
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
        if aggregate in self.own:
            own = self.own[aggregate]
            return self._filled(own, own.indicator.result, i, f, row, [""] * len(self.arguments))
        if argument is None:
            return f"{i}[{row}, {self._int(self.count)}]" if self.count >= 0 else self.held
        if aggregate.function in argument.deques:
            name = "extreme" if argument.as_float else "extreme_int"
            return f"{name}(s, {i}, {row}, {self._int(argument.deques[aggregate.function])})"
        if argument.integer >= 0:
            return f"integer_total({i}, {row}, {self._int(argument.integer)})"
        name = {"avg": "mean", "sum": "total", "stdDev": "deviation"}[aggregate.function]
        ci, cf = self.moments(argument)
        return f"moments_{name}({i}, {f}, {row}, {ci}, {cf})"
