"""Aggregates of a query as cells in the state, with the source that enters, leaves, reads them.

Aggregates of the same expression share their cells: avg, sum and stdDev one set of moments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.engine.kernels.moments import CELLS
from cep.engine.kernels.state import RING_COLUMNS
from cep.engine.layout import Home, Layout, is_float
from cep.plan.expressions import Expression
from cep.plan.nodes import Aggregate, Query


@dataclass(slots=True)
class Argument:
    """One distinct aggregate argument and its column among the window row's cells."""

    expression: Expression
    as_float: bool
    cell: int = -1
    uses: set[str] = field(default_factory=set)
    moments: tuple[int, int] = (-1, -1)
    integer: int = -1
    deques: dict[str, int] = field(default_factory=dict)

    @property
    def squares(self) -> bool:
        return "stdDev" in self.uses


class Aggregates:
    """The accumulators of a query in one home (`key`, `global` or `group` arrays)."""

    def __init__(self, query: Query, home: Home, layout: Layout) -> None:
        self.query = query
        self.arguments: list[Argument] = []
        self.by_aggregate = [self._argument(aggregate) for aggregate in query.aggregates]
        counted = any(aggregate.function == "count" for aggregate in query.aggregates)
        self.count = layout.int_columns(home, 1) if counted else -1
        for argument in self.arguments:
            self._assign(argument, home, layout)

    def _argument(self, aggregate: Aggregate) -> Argument | None:
        """The shared argument of an aggregate; avg and stdDev of whole numbers work on floats."""
        if aggregate.argument is None or aggregate.function == "count":
            return None
        expression = aggregate.argument
        as_float = is_float(expression.type) or aggregate.function in ("avg", "stdDev")
        for known in self.arguments:
            if known.expression == expression and known.as_float == as_float:
                break
        else:
            known = Argument(expression, as_float)
            self.arguments.append(known)
        known.uses.add(aggregate.function)
        return known

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

    def enter(self, i: str, f: str, row: str, values: list[str], position: str) -> list[str]:
        """Source that lets the arriving row's argument values enter."""
        lines = [f"{i}[{row}, {self.count}] += 1"] if self.count >= 0 else []
        for argument, value in zip(self.arguments, values, strict=True):
            lines += self._sums("enter", argument, i, f, row, value)
            for function, ring in argument.deques.items():
                sign = "1" if function == "max" else "-1"
                verb = "enter" if self.query.window else "keep"
                name = f"extreme_{verb}" if argument.as_float else f"extreme_{verb}_int"
                lines.append(f"{name}(s, {i}, {row}, {ring}, {position}, {value}, {sign})")
        return lines

    def leave(self, i: str, f: str, row: str, cells: list[str], position: str) -> list[str]:
        """Source that lets a window row leave; `cells` are its argument values in the arenas."""
        lines = [f"{i}[{row}, {self.count}] -= 1"] if self.count >= 0 else []
        for argument, value in zip(self.arguments, cells, strict=True):
            lines += self._sums("leave", argument, i, f, row, value)
            width = 1 if argument.as_float else 2
            for ring in argument.deques.values():
                lines.append(f"extreme_leave(s, {i}, {row}, {ring}, {position}, {width})")
        return lines

    def _sums(
        self, verb: str, argument: Argument, i: str, f: str, row: str, value: str
    ) -> list[str]:
        if argument.moments[0] >= 0:
            ci, cf = argument.moments
            return [f"moments_{verb}({i}, {f}, {row}, {ci}, {cf}, {value}, {argument.squares})"]
        if argument.integer >= 0:
            sign = 1 if verb == "enter" else -1
            return [f"integer_enter({i}, {row}, {argument.integer}, {value}, {sign})"]
        return []

    def results(self, i: str, f: str, row: str) -> list[str]:
        """Source of each aggregate's value, in the order of the query's aggregates."""
        return [
            self._result(aggregate, argument, i, f, row)
            for aggregate, argument in zip(self.query.aggregates, self.by_aggregate, strict=True)
        ]

    def _result(
        self, aggregate: Aggregate, argument: Argument | None, i: str, f: str, row: str
    ) -> str:
        if argument is None:
            return f"{i}[{row}, {self.count}]"
        if aggregate.function in argument.deques:
            name = "extreme" if argument.as_float else "extreme_int"
            return f"{name}(s, {i}, {row}, {argument.deques[aggregate.function]})"
        if argument.integer >= 0:
            return f"integer_total({i}, {row}, {argument.integer})"
        name = {"avg": "mean", "sum": "total", "stdDev": "deviation"}[aggregate.function]
        ci, cf = argument.moments
        return f"moments_{name}({i}, {f}, {row}, {ci}, {cf})"
