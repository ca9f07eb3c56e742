"""What a join sees through Python: rows that are put into a ring of its own for each row that asks.

So are seen aggregations (`aggregations`), windows that keep their rows by key, and, from within a
partition, named windows. O(rows held) for each row that asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cep.engine.jit import plain
from cep.engine.kernels.state import Ints
from cep.engine.machine.expressions import HostCall
from cep.engine.machine.host import Host
from cep.engine.machine.kernels import frequent, jumps, sessions
from cep.engine.machine.kernels.entries import AFTER, ENTRY_KEY, FIRST_ENTRY
from cep.engine.machine.kernels.groups import GROUP_KEYS
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room_for
from cep.engine.machine.kernels.steps import FREQUENT, LENGTH_JUMP, SESSION
from cep.engine.machine.kernels.words import ASKING, HOME, OP, RING_HEAD, RING_TAIL
from cep.engine.machine.program import Held, HeldByKey
from cep.plan.expressions import Call
from cep.plan.types import Type


def rows_held(held: Held | HeldByKey, i: Ints, p: Ints, home: int) -> list[int]:
    """The addresses of the rows that a window holds, in the order of the interpreter."""
    if isinstance(held, Held):
        cells = [at + held.offset for at in _ring(i, home + held.state, held.width)]
        if held.by_turn:
            cells.sort(key=lambda at: int(i[0, at - 1]))
        return cells
    entries = list(_entries(i, p, held, home + held.state))
    return _ROWS[int(p[held.node + OP])](i, p, held.node, entries)


def _ring(i: Ints, ring: int, width: int) -> list[int]:
    head, count = int(i[0, ring + RING_HEAD]), plain(ring_length)(i, ring)
    return [int(plain(ring_cell)(i, ring, head + n, width)) for n in range(count)]


def _entries(i: Ints, p: Ints, held: HeldByKey, state: int) -> Iterator[int]:
    """What is kept of each key, behind its words."""
    entry = int(i[0, state + FIRST_ENTRY])
    while entry:
        yield entry + ENTRY_KEY + int(p[held.node + GROUP_KEYS])
        entry = int(i[0, entry + AFTER])


def _of_sessions(i: Ints, p: Ints, node: int, entries: list[int]) -> list[int]:
    """Of those that wait for late rows, then of those under way, as they came to be."""
    width = int(p[node + sessions.SESSION_WORDS])
    found: list[int] = []
    for which in (sessions.SESSION, 0):
        held = [at + which for at in entries if i[0, at + which + sessions.NUMBER_OF]]
        held.sort(key=lambda at: int(i[0, at + sessions.NUMBER_OF]))
        found += [row for ring in held for row in _ring(i, ring, width)]
    return found


def _of_values(i: Ints, p: Ints, node: int, entries: list[int]) -> list[int]:
    return [at + frequent.ROW for at in entries]


def _of_jumps(i: Ints, p: Ints, node: int, entries: list[int]) -> list[int]:
    """All keys' rows, in the order in which they came."""
    width = int(p[node + jumps.JUMP_WORDS]) + jumps.ROW
    rows = [row for ring in entries for row in _ring(i, ring, width)]
    rows.sort(key=lambda at: int(i[0, at + jumps.ARRIVED]))
    return [at + jumps.ROW for at in rows]


_ROWS = {SESSION: _of_sessions, FREQUENT: _of_values, LENGTH_JUMP: _of_jumps}


def cells_for(host: Host, ring: Held, rows: int) -> list[int] | None:
    """The places of so many rows in the ring of the join that asks; None: there is no room."""
    i = host.memory.i
    at = int(i[0, ASKING]) + ring.state
    if not plain(ring_room_for)(i, at, ring.width, rows):
        return None
    i[0, at + RING_TAIL] += rows
    return _ring(i, at, ring.width)


@dataclass(frozen=True, slots=True)
class WindowView:
    """Puts what a window holds into the ring of the join that asks; `is_named`: a named one."""

    held: Held | HeldByKey
    ring: Held
    is_named: bool
    host: Host

    def __call__(self) -> int:
        """1, or 0 where there is no room."""
        i = self.host.memory.i
        home = int(i[0, HOME if self.is_named else ASKING])
        rows = rows_held(self.held, i, self.host.words, home)
        cells = cells_for(self.host, self.ring, len(rows))
        for row, cell in zip(rows, cells or (), strict=cells is not None):
            i[0, cell : cell + self.ring.width] = i[0, row : row + self.ring.width]
        return int(cells is not None)


def ring_for(words: int, state: int) -> Held:
    """The ring of a join that sees rows of so many words."""
    return Held(state, words, 0)


def window_view(name: str, held: Held | HeldByKey, ring: Held, *, is_named: bool) -> HostCall:
    """The call that puts the rows of a window where a join looks."""
    call = Call(f"window {name}", (), Type.LONG)
    return HostCall(call, "", partial(WindowView, held, ring, is_named))
