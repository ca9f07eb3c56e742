"""The clocks that compiled operators go by, beside that of the record's own source and key.

What works by the key and follows one source goes by the clock that every row carries (`OUT_CLOCK`).
For each other clock a row has one cell more, behind its attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cep.engine.kernels.state import CLOCK, HEADER, OUT_ORDER, Ints
from cep.engine.windows import native_window
from cep.plan.change import PartId, chained_part, operator_part
from cep.plan.clocks import ClockOf
from cep.plan.nodes import Event, Plan
from cep.plan.query import Join, Query
from cep.plan.windows import kind_of


@dataclass(frozen=True, slots=True)
class ClockCells:
    """The clocks that have a cell, in order, and the cell of each part that goes by one of them."""

    clocks: tuple[ClockOf, ...]
    of_part: Mapping[PartId, int]

    def __len__(self) -> int:
        return len(self.clocks)

    def column(self, part: PartId) -> int:
        """The global column in which a part finds its clock while a row is at work."""
        cell = self.of_part.get(part)
        return CLOCK if cell is None else HEADER + cell

    def source(self, part: PartId) -> str:
        """What generated code reads there."""
        column = self.column(part)
        return f"abs(gi[0, {column}])" if column == CLOCK else f"gi[0, {column}]"


NO_CLOCKS = ClockCells((), {})


def clock_cells(plan: Plan, of_plan: Mapping[PartId, ClockOf]) -> ClockCells:
    """Those of a plan, whose clocks are given."""
    numbers: dict[ClockOf, int] = {}
    of_part: dict[PartId, int] = {}
    for part, of in _going_by_time(plan, of_plan):
        if not of.is_by_key or len(of.sources) != 1:
            clock = ClockOf(of.sources, is_by_key=of.is_by_key)
            of_part[part] = numbers.setdefault(clock, len(numbers))
    return ClockCells(tuple(numbers), of_part)


def _going_by_time(
    plan: Plan, of_plan: Mapping[PartId, ClockOf]
) -> Iterator[tuple[PartId, ClockOf]]:
    """What may go by time where it is compiled, and its clock."""
    for operator in plan.operators:
        if isinstance(operator, Event) or (isinstance(operator, Query) and goes_by_time(operator)):
            part = operator_part(operator)
            yield part, of_plan[part]
    complexes = {found.name: found for found in plan.complexes}
    for chained in plan.chained:
        if (found := complexes.get(chained.complex)) is None:
            continue  # others find it
        upper = of_plan["engine", found.engine]
        by_key = upper.is_by_key and found.key is not None
        yield chained_part(chained), ClockOf(upper.sources, is_by_key=by_key)


def goes_by_time(query: Query) -> bool:
    """Whether a query that is compiled goes by a clock."""
    windows = (one.window for one in query.inputs)
    return isinstance(query.input, Join) or any(
        window is not None and native_window(window) and kind_of(window).clock != "none"
        for window in windows
    )


def tell_clocks(ints: Ints, cells: ClockCells, records: Ints) -> None:
    """Write into rows for a later stage the other clocks at the records that they follow from."""
    if count := len(cells):
        places = np.searchsorted(records[:, OUT_ORDER], ints[:, OUT_ORDER])
        ints[:, -count:] = records[places, -count:]


def stream_numbers(
    cells: ClockCells, ids: Mapping[str, int]
) -> Sequence[tuple[frozenset[int], bool]]:
    """By cell: the ids of the sources that move its clock, and whether it has one per key."""
    return [(frozenset(ids[name] for name in one.sources), one.is_by_key) for one in cells.clocks]
