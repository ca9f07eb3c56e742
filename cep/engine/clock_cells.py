"""The clocks that compiled operators go by, beside that of the record's own source and key.

What works by the key and follows one source goes by the clock that every row carries (`OUT_CLOCK`).
For each other clock a row has one cell more, behind its attributes. Behind the interpreter every
clock has one, as what time makes there is of other keys than the record that lets time pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.state import CLOCK, HEADER, OUT_CLOCK, OUT_ORDER, OUT_TIME, Ints
from cep.engine.windows import native_window
from cep.plan.change import PartId, chained_part, operator_part
from cep.plan.clocks import ClockOf
from cep.plan.nodes import Chained, Event, Operator, Plan
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


def clock_cells(
    plan: Plan,
    of_plan: Mapping[PartId, ClockOf],
    is_behind: Callable[[Operator | Chained], bool | None],
) -> ClockCells:
    """Those of a plan, whose clocks are given; `is_behind` says of a part whether it is compiled
    behind the interpreter, None being that it is not compiled.
    """
    numbers: dict[ClockOf, int] = {}
    of_part: dict[PartId, int] = {}
    for part, of, place in _going_by_time(plan, of_plan):
        behind = is_behind(place)
        is_own = of.is_by_key and len(of.sources) == 1
        if behind or (behind is not None and not is_own):
            clock = ClockOf(of.sources, is_by_key=of.is_by_key)
            of_part[part] = numbers.setdefault(clock, len(numbers))
    return ClockCells(tuple(numbers), of_part)


def _going_by_time(
    plan: Plan, of_plan: Mapping[PartId, ClockOf]
) -> Iterator[tuple[PartId, ClockOf, Operator | Chained]]:
    """What may go by time where it is compiled, and its clock."""
    for operator in plan.operators:
        if isinstance(operator, Event) or (isinstance(operator, Query) and goes_by_time(operator)):
            part = operator_part(operator)
            yield part, of_plan[part], operator
    complexes = {found.name: found for found in plan.complexes}
    for chained in plan.chained:
        if (found := complexes.get(chained.complex)) is None:
            continue  # others find it
        upper = of_plan["engine", found.engine]
        by_key = upper.is_by_key and found.key is not None
        yield chained_part(chained), ClockOf(upper.sources, is_by_key=by_key), chained


def goes_by_time(query: Query) -> bool:
    """Whether a query that is compiled goes by a clock."""
    windows = (one.window for one in query.inputs)
    return isinstance(query.input, Join) or any(
        window is not None and native_window(window) and kind_of(window).clock != "none"
        for window in windows
    )


def tell_clocks(
    ints: Ints, own: NDArray[np.bool_], cells: ClockCells, records: Ints | None, *, is_behind: bool
) -> None:
    """Write into `own` rows for a later stage the clocks at the records that they follow from.

    Without `records` they have them, from the run in which they were made. Behind the interpreter a
    row has the time of its record in place of a clock.
    """
    mine, count = ints[own], len(cells)
    clocks = mine[:, OUT_CLOCK]
    if count and records is not None:
        places = np.searchsorted(records[:, OUT_ORDER], mine[:, OUT_ORDER])
        mine[:, -count:] = records[places, -count:]
    if is_behind:
        mine[:, OUT_CLOCK] = np.where(clocks < 0, -mine[:, OUT_TIME], mine[:, OUT_TIME])
    ints[own] = mine


def stream_numbers(
    cells: ClockCells, ids: Mapping[str, int]
) -> Sequence[tuple[frozenset[int], bool]]:
    """By cell: the ids of the sources that move its clock, and whether it has one per key."""
    return [(frozenset(ids[name] for name in one.sources), one.is_by_key) for one in cells.clocks]
