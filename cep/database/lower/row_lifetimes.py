"""Which rows an input of a correlation holds when a row comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.late import is_due
from cep.database.lower.groups import Groups
from cep.database.lower.numbered import numbered
from cep.database.steps import batch_number
from cep.database.tables import NUMBER, Tables
from cep.database.windows import is_timed, is_written, numbers_of
from cep.plan.expressions import Column
from cep.plan.families import Family

Reached = Callable[[Element, Element], Element]
"""Whether a row of an input, by its number and event, was there before the row that comes."""


@dataclass(frozen=True, slots=True)
class RowLifetime:
    """The window of an input: `sizes` has a row per argument (size, jump), a column per member.
    Time (`is_timed`), or the number of rows, says how long a row is there.

    `begun` is the number of the last row that is not the query's. With `keys` the window has the
    last rows of each key.
    """

    slot: int
    stream: str
    is_timed: bool
    sizes: tuple[tuple[int, ...], ...]
    begun: int
    keys: tuple[Column, ...] = ()

    @property
    def parameters(self) -> Mapping[str, Sequence[int]]:
        """Columns of a table of parameters: arguments in which members differ."""
        return {
            f"w_{self.slot}_{place}": values
            for place, values in enumerate(self.sizes)
            if len(set(values)) > 1
        }

    def arguments(self, parameters: sa.FromClause | None) -> list[Element]:
        """Size and jump, as constants or columns of the table of parameters."""
        names = self.parameters
        return [
            parameters.c[f"w_{self.slot}_{place}"]
            if parameters is not None and f"w_{self.slot}_{place}" in names
            else sa.literal(values[0], NUMBER)
            for place, values in enumerate(self.sizes)
        ]

    def rows(self, tables: Tables) -> sa.Table:
        """The table of the rows, which are kept there as long as any member needs them."""
        largest = max(self.sizes[0])
        if self.keys:
            return numbered(self.stream, self.keys, largest, self.begun, tables)
        if self.is_timed:
            tables.keep(self.stream, time_ms=largest)
        else:
            tables.keep(self.stream, rows=largest + 1)
        return tables.stream(self.stream)

    def enters(self, row: sa.FromClause, parameters: sa.FromClause | None) -> list[Element]:
        """Whether a row gets in at all: one that begins and ends in one jump does not."""
        if len(self.sizes) < 2:
            return []
        size, jump = self.arguments(parameters)
        return [_floor(self._number(row) + size, jump) > _floor(self._number(row), jump)]

    def within(self, row: sa.FromClause, now_ms: Element, is_found: bool = False) -> list[Element]:
        """What is true of all rows that are there at that time: a range for an index.

        `is_found`: another index leads to the rows, so that less need be said.
        """
        if self.keys:
            return []
        largest = max(self.sizes[0])
        if not self.is_timed:
            return [row.c.pos > batch_number("base", self.stream) - largest]
        until = [] if is_found else [row.c.ts <= now_ms]
        if len(self.sizes) < 2 and not self.parameters:  # asked anyway
            return until
        return [row.c.ts > now_ms - largest, *until]

    def is_there(
        self,
        row: sa.FromClause,
        newest: sa.FromClause,
        parameters: sa.FromClause | None,
        is_before: Reached,
        tables: Tables,
    ) -> list[Element]:
        """Whether a row that has come has not gone yet when the newest comes.

        One that is late goes at its own time, but not before the event after that of its coming.
        """
        size, *jumps = self.arguments(parameters)
        number = self._number(row)
        end = _floor(number + size, jumps[0]) if jumps else number + size
        entered = self.enters(row, parameters)
        if self.is_timed:
            now_ms = newest.c.ts
            is_held = [*entered, end > now_ms if jumps else row.c.ts > now_ms - size]
            if tables.late is not None:
                due = is_due(tables.late, row.c.seq, now_ms - size)
                is_held.append(sa.or_(row.c.seq == newest.c.seq, ~due))
            return is_held
        # it goes when the row of that number comes
        successor = self.rows(tables).alias(f"{row.name}_end")  # type: ignore[attr-defined]
        last = [successor.c.pos == (end + (1 + self.begun) if jumps else end)]
        if self.keys:
            groups = Groups(self.keys, tables.dialect)
            last = [successor.c.num == end, *groups.same(successor, row)]
        came = sa.select(sa.literal(1)).where(*last, is_before(successor.c.pos, successor.c.seq))
        return [*entered, ~sa.exists(came.correlate_except(successor))]

    def _number(self, row: sa.FromClause) -> Element:
        """What sizes count: time, or rows (with a jump from 0)."""
        if self.is_timed:
            return row.c.ts
        if self.keys:
            return row.c.num
        return row.c.pos - (1 + self.begun) if len(self.sizes) > 1 else row.c.pos


def life(family: Family, slot: int, tables: Tables) -> RowLifetime | None:
    """The window of an input; None for one that holds nothing. Refusal for one not known here."""
    source = family.query.inputs[slot]
    windows = [of_member[slot] for of_member in family.windows]
    first = windows[0]
    if first is None:
        return None
    if not is_written(first):
        raise Refusal("notimpl", f"correlations over #window.{first.name}")
    count = numbers_of(first)
    behind = first.arguments[count:]
    if any(window is None or window.arguments[count:] != behind for window in windows):
        raise Refusal("notimpl", "one statement for windows by different keys")
    sizes = tuple(
        tuple(0 if window is None else window.constant(place) for window in windows)
        for place in range(count)
    )
    keys = tuple(one for one in behind if isinstance(one, Column))
    return RowLifetime(slot, source.stream, is_timed(first), sizes, tables.born(family, slot), keys)


def _floor(number: Element, jump: Element) -> Element:
    """The last multiple of `jump` up to a number, which may be negative (times before 1970)."""
    return number - (number % jump + jump) % jump
