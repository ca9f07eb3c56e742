"""Which rows of a stream an aggregate sees from a row: those up to it, behind a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.tables import Tables
from cep.database.windows import is_timed, is_written, numbers_of
from cep.plan.expressions import Column
from cep.plan.families import Family

Size = Sequence[Element]
"""A window's size, and its jump where it has one."""


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """From a row all earlier ones are seen whose `order` (`ts`, `pos`, or `num` of the group) is
    above a limit.

    `sizes` has a row per argument of the window (size, jump), a column per member; none: all rows
    are seen. `keys` number the rows where `order` is `num`.
    """

    order: str
    sizes: tuple[tuple[int, ...], ...] = ()
    born: int = 0
    keys: tuple[Column, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing ever leaves the window."""
        return not self.sizes

    @property
    def parameters(self) -> Mapping[str, Sequence[int]]:
        """Columns of a table of parameters: arguments in which members differ."""
        return {
            f"w_{place}": values for place, values in enumerate(self.sizes) if len(set(values)) > 1
        }

    def arguments(self, parameters: sa.FromClause | None) -> Size:
        """Size and jump, as constants or columns of the table of parameters."""
        return [
            sa.literal(values[0], sa.BigInteger())
            if parameters is None or f"w_{place}" not in self.parameters
            else parameters.c[f"w_{place}"]
            for place, values in enumerate(self.sizes)
        ]

    def of_member(self, member: int) -> Size:
        """Size and jump of one member."""
        return [sa.literal(values[member], sa.BigInteger()) for values in self.sizes]

    def limit(self, row: sa.FromClause, size: Size) -> Element:
        """Rows whose order is up to this are in front of the window."""
        order = row.c[self.order]
        if len(size) == 1:
            return order - size[0]
        length, jump = size
        if self.order == "ts":
            return _next(order, jump) - length - 1
        # rows are numbered from 1 here
        begun = self.born if self.order == "pos" else 0
        return begun + _next(order - (1 + begun), jump) - length

    @property
    def may_be_empty(self) -> bool:
        """Whether some rows do not see themselves: those that begin and end in one jump."""
        return len(self.sizes) == 2 and any(
            size < jump for size, jump in zip(*self.sizes, strict=True)
        )

    def keep(self, stream: str, tables: Tables) -> None:
        """Has the stream's rows kept as long as they can be seen."""
        largest = max(self.sizes[0], default=0) if self.sizes else 0
        if self.order == "ts":
            tables.keep(stream, time_ms=largest)
        elif self.order == "pos":
            tables.keep(stream, rows=largest + 1)


def window_bounds(family: Family, tables: Tables) -> WindowBounds:
    """What the members see of their stream; Refusal for a window that is not known here."""
    windows = [of_member[0] for of_member in family.windows]
    window, born = windows[0], tables.born(family, 0)
    if window is None:
        return WindowBounds("pos", born=born)
    if not is_written(window):
        raise Refusal("notimpl", f"aggregates over #window.{window.name}")
    count = numbers_of(window)
    if any(one is None or one.arguments[count:] != window.arguments[count:] for one in windows):
        raise Refusal("notimpl", "one statement for windows by different keys")
    sizes = tuple(
        tuple(0 if one is None else one.constant(place) for one in windows)
        for place in range(count)
    )
    if is_timed(window):
        return WindowBounds("ts", sizes, born)
    # a window of no rows is one of the new row, which leaves at once
    filled = (tuple(max(size, 1) for size in sizes[0]), *sizes[1:])
    keys = tuple(one for one in window.arguments[count:] if isinstance(one, Column))
    return WindowBounds("num" if keys else "pos", filled, born, keys)


def _next(number: Element, jump: Element) -> Element:
    """The first multiple of `jump` above a number, which may be negative (times before 1970)."""
    return number - (number % jump + jump) % jump + jump
