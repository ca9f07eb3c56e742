"""Many joins that look for equal values: a row asks an index for all members at once.

Each member asks for another value. In the first round every member takes the newest row that its
value may lead to, in each further one the row before that: rounds go on with the members that have
not come to the end of their window, and never jump for a single pair. What is found is packed, the
newest rows first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cep.engine.codegen.held_rows import Frame
from cep.engine.codegen.writer import Writer

MANY = 8
"""Fewer members are asked one after the other."""
TOP = "top"
"""The local with the place behind what has been packed."""
COLUMNS = 4
"""Scratch of each member: its number, a position, the least of its window, what it asks for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Sources of what a member asks of the index: a value, from which position on."""

    key: str
    low: str


Ask = Callable[[str], Asked]
"""Writes and tells what the member asks."""
Select = Callable[[str, str], Sequence[str]]
"""Writes and tells the values that a member (its number) selects of a pair, given a position."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """Scratch columns for the members in `gi`, from `first` on."""

    first: int
    count: int

    def _cell(self, at: str, column: int) -> str:
        return f"gi[0, {self.first + column * self.count} + {at}]"

    def write(self, w: Writer, frame: Frame, ask: Ask, select: Select) -> None:
        """All pairs of the row that has come, packed from `top` on."""
        found = w.let("found", "0")
        member = w.name("member")
        with w.block(f"for {member} in range({self.count}):"):
            asked = ask(member)
            position = w.let("position", frame.newest(asked.key))
            self._keep(w, found, (member, position, asked.low, asked.key))
        with w.block(f"while {found} > 0:"):
            kept, at = w.let("kept", "0"), w.name("at")
            with w.block(f"for {at} in range({found}):"):
                names = ("member", "position", "low", "key")
                read = [w.let(name, self._cell(at, n)) for n, name in enumerate(names)]
                self._pack(w, frame, read, select)
                before = w.let("before", f"wi[{frame.cell(read[1])} + {frame.key + 1}] - 1")
                self._keep(w, kept, (read[0], before, *read[2:]))
            w(f"{found} = {kept}")

    def _keep(self, w: Writer, kept: str, values: Sequence[str]) -> None:
        """The member goes on into the next round if its position is in its window."""
        w(*(f"{self._cell(kept, n)} = {value}" for n, value in enumerate(values)))
        w(f"{kept} += {values[1]} >= {values[2]}")

    def _pack(self, w: Writer, frame: Frame, read: Sequence[str], select: Select) -> None:
        """Write the pair, and let it stand if the row has the value."""
        member, position, _, key = read
        values = select(member, position)
        w(f"ol[{TOP}] = {member}")
        w(*(f"ol[{TOP} + {n}] = {value}" for n, value in enumerate(values, start=1)))
        is_found = f"(wi[{frame.cell(position)} + {frame.key}] == {key})"
        w(f"{TOP} += {1 + len(values)} * {is_found}")
