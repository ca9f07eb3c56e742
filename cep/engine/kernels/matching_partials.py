"""Partial matches of matchings: rings of those of the instant before and of those of this instant.

One is what a matching has seen so far: int cells (time of its first row, state of the automaton,
whatever else), float cells. In a ring those of the instant before stand in front, from RING_HEAD to
PARTIALS_BEFORE, those of this instant from PARTIALS_HERE to RING_TAIL. A ring is looked at only
when something may be in it, and then first turned to the present instant.
"""

from __future__ import annotations

from cep.engine.jit import inline, inner
from cep.engine.kernels.rings import float_cell, int_cell
from cep.engine.kernels.state import (
    MATCH_ROOM,
    RING_COLUMNS,
    RING_FLOATS,
    RING_HEAD,
    RING_INTS,
    RING_ROOM,
    RING_TAIL,
    WF_TOP,
    WI_TOP,
    Floats,
    Ints,
)

PARTIALS_BEFORE = RING_COLUMNS
"""Column behind those of a ring: behind the partial matches of the instant before."""
PARTIALS_HERE = RING_COLUMNS + 1
"""Where the partial matches of this instant begin."""
PARTIALS_INSTANT = RING_COLUMNS + 2
"""The instant to which the ring is turned."""
PARTIAL_COLUMNS = RING_COLUMNS + 3
FIRST_PARTIALS = 16
"""Places of a ring's first block."""
FIRST, STATE = 0, 1
"""Int cells of a partial match: the time of its first row, the state of the automaton."""
ORDER = OVER = 2
"""Where partial matches are shared: the number of its first row. Where instants may be left out:
whether a row of this instant has emitted a symbol for it."""


@inline
def turn(home: Ints, row: int, ring: int, now: int, before: int) -> None:
    """The partial matches of the instant before go on into this one; all older ones end."""
    if home[row, ring + PARTIALS_INSTANT] == now:
        return
    tail = home[row, ring + RING_TAIL]
    is_next = home[row, ring + PARTIALS_INSTANT] == before
    home[row, ring + RING_HEAD] = home[row, ring + PARTIALS_HERE] if is_next else tail
    home[row, ring + PARTIALS_BEFORE] = tail
    home[row, ring + PARTIALS_HERE] = tail
    home[row, ring + PARTIALS_INSTANT] = now


@inner
def turn_waiting(
    wi: Ints,
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    floats: int,
    now: int,
    within: int,
) -> None:
    """The same where instants may be left out: partial matches that are not over wait on."""
    if home[row, ring + PARTIALS_INSTANT] == now:
        return
    head = home[row, ring + RING_HEAD]
    to = head
    for position in range(head, home[row, ring + RING_TAIL]):
        is_before = position < home[row, ring + PARTIALS_BEFORE]
        if not is_before and position < home[row, ring + PARTIALS_HERE]:
            continue
        cell = int_cell(home, row, ring, position, ints)
        if now - wi[cell] >= within or (is_before and wi[cell + OVER]):
            continue
        _move(wi, wf, home, row, ring, ints, floats, position, to)
        to += 1
    home[row, ring + PARTIALS_BEFORE] = to
    home[row, ring + PARTIALS_HERE] = to
    home[row, ring + RING_TAIL] = to
    home[row, ring + PARTIALS_INSTANT] = now


@inline
def _move(
    wi: Ints,
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    floats: int,
    position: int,
    to: int,
) -> None:
    """A partial match goes to another place of its ring."""
    old, new = int_cell(home, row, ring, position, ints), int_cell(home, row, ring, to, ints)
    for c in range(ints):
        wi[new + c] = wi[old + c]
    old, new = (
        float_cell(home, row, ring, position, floats),
        float_cell(home, row, ring, to, floats),
    )
    for c in range(floats):
        wf[new + c] = wf[old + c]


@inline
def admit_partial(
    gi: Ints, wi: Ints, wf: Floats, home: Ints, row: int, ring: int, ints: int, floats: int
) -> int:
    """The position of one more partial match of this instant."""
    tail = home[row, ring + RING_TAIL]
    held = tail - home[row, ring + RING_HEAD]
    if held >= home[row, ring + RING_ROOM]:
        _widen(gi, wi, wf, home, row, ring, ints, floats)
    home[row, ring + RING_TAIL] = tail + 1
    gi[0, MATCH_ROOM] = max(gi[0, MATCH_ROOM], held + 2)
    return tail


@inner
def _widen(
    gi: Ints, wi: Ints, wf: Floats, home: Ints, row: int, ring: int, ints: int, floats: int
) -> None:
    """Move a full ring to a block twice as large."""
    room = home[row, ring + RING_ROOM]
    from_i, from_f = home[row, ring + RING_INTS], home[row, ring + RING_FLOATS]
    to_i, to_f = gi[0, WI_TOP], gi[0, WF_TOP]
    wider = max(FIRST_PARTIALS, 2 * room)
    for position in range(home[row, ring + RING_HEAD], home[row, ring + RING_TAIL]):
        old = position & (room - 1)
        new = position & (wider - 1)
        for c in range(ints):
            wi[to_i + new * ints + c] = wi[from_i + old * ints + c]
        for c in range(floats):
            wf[to_f + new * floats + c] = wf[from_f + old * floats + c]
    home[row, ring + RING_INTS] = to_i
    home[row, ring + RING_FLOATS] = to_f
    home[row, ring + RING_ROOM] = wider
    gi[0, WI_TOP] = to_i + wider * ints
    gi[0, WF_TOP] = to_f + wider * floats


@inner
def crop(
    wi: Ints,
    wf: Floats,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    floats: int,
    states: int,
    most: int,
) -> int:
    """Of more than `most` partial matches of this instant in one state the oldest end; how many
    that were.

    O(partial matches * states) where there are more than `most` partial matches in all, else O(1).
    """
    here, tail = home[row, ring + PARTIALS_HERE], home[row, ring + RING_TAIL]
    before = tail
    if tail - here <= most:
        return 0
    for state in range(1, states):
        surplus = -most
        for position in range(here, tail):
            surplus += wi[int_cell(home, row, ring, position, ints) + STATE] == state
        if surplus <= 0:
            continue
        to = here
        for position in range(here, tail):
            cell = int_cell(home, row, ring, position, ints)
            if surplus > 0 and wi[cell + STATE] == state:
                surplus -= 1
                continue
            _move(wi, wf, home, row, ring, ints, floats, position, to)
            to += 1
        tail = to
    home[row, ring + RING_TAIL] = tail
    return before - tail


@inner
def surplus(
    wi: Ints,
    home: Ints,
    row: int,
    ring: int,
    ints: int,
    states: int,
    most: int,
    after: int,
    floor: int,
) -> int:
    """How many of the partial matches that `crop` ends have begun after a time, and from row
    `floor` on.
    """
    here, tail = home[row, ring + PARTIALS_HERE], home[row, ring + RING_TAIL]
    ending = 0
    for state in range(1, states):
        more = -most
        for position in range(here, tail):
            more += wi[int_cell(home, row, ring, position, ints) + STATE] == state
        for position in range(here, tail):
            cell = int_cell(home, row, ring, position, ints)
            if more > 0 and wi[cell + STATE] == state:
                more -= 1
                ending += wi[cell] > after and wi[cell + ORDER] >= floor
    return ending
