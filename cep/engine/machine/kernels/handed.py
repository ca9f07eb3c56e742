"""13: what engines put out is handed over afterwards, first in, first out.

What its readers make engines put out meanwhile waits for its turn, so no engine is entered again
while it is at work.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import ring_cell, ring_length, ring_room
from cep.engine.machine.kernels.streams import STREAM_OUT, STREAM_READERS, out_room, row_put_out
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CURRENT,
    CURSOR,
    HOME,
    NODE,
    RING,
    RING_HEAD,
    RING_TAIL,
    STATE,
    VALUES,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    as_kind,
    copied,
    frame_room,
    pop,
    push,
    put,
    row_at,
    top_frame,
    work_room,
)

# The state: what waits, whether it is being handed over. What waits: its stream, then the row.
IS_BUSY, HAND_OVER_STATE = RING, RING + 1
WAITING_STREAM, WAITING_ROW = 0, 1
OWN_VALUES = 5
"""Each complex event has so many values, and those that it keeps; a simple one less."""
WAITING = WAITING_ROW + VALUES + OWN_VALUES
WAITING_WIDTH = ARGUMENTS
"""Of a node that hands over: how many words what waits takes, `WAITING` at least."""


@inline
def waiting_of(i: Ints, p: Ints, node: int) -> int:
    """What waits for the node that hands over."""
    return i[0, HOME] + p[node + STATE]


@inner
def given_room(i: Ints, p: Ints, node: int, stream: int) -> bool:
    """Whether there is room to put out a row of a stream that is handed over later."""
    waiting = waiting_of(i, p, node)
    return ring_room(i, waiting, p[node + WAITING_WIDTH]) and out_room(i, p, stream, 1)


@inner
def given(i: Ints, p: Ints, node: int, stream: int, time: int) -> int:
    """The address of a new row that waits, for which there is room; its values are to be written,
    and then it is to be `shown`.
    """
    ring = waiting_of(i, p, node)
    cell = ring_cell(i, ring, i[0, ring + RING_TAIL], p[node + WAITING_WIDTH])
    i[0, cell + WAITING_STREAM] = stream
    as_kind(i, cell + WAITING_ROW, time, CURRENT)
    return cell + WAITING_ROW


@inner
def shown(i: Ints, p: Ints, node: int, stream: int, row: int) -> None:
    """Put out what was `given`; it waits if anybody reads it."""
    if p[stream + STREAM_OUT]:
        row_put_out(i, p, stream, row)
    if p[stream + STREAM_READERS]:
        i[0, waiting_of(i, p, node) + RING_TAIL] += 1


@inner
def begin_hand_over(i: Ints, p: Ints, frame: int, node: int) -> None:
    """The top frame has given all that it had: it hands over, unless that is going on."""
    ring = waiting_of(i, p, node)
    if i[0, ring + IS_BUSY] or ring_length(i, ring) == 0:
        pop(i, frame)
        return
    i[0, ring + IS_BUSY] = 1
    i[0, frame + NODE] = node
    i[0, frame + CURSOR] = 0


@inner
def step_hand_over(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """The first row that waits goes to the readers of its stream, which has been put out."""
    ring, width = waiting_of(i, p, i[0, frame + NODE]), p[i[0, frame + NODE] + WAITING_WIDTH]
    if ring_length(i, ring) == 0:
        i[0, ring + IS_BUSY] = 0
        pop(i, frame)
        return True
    stream = i[0, ring_cell(i, ring, i[0, ring + RING_HEAD], width) + WAITING_STREAM]
    if not frame_room(i, 1) or not work_room(i, p[stream + WIDTH]):
        return False
    cell = ring_cell(i, ring, i[0, ring + RING_HEAD], width)
    floor = i[0, WORK_TOP]
    copied(i, cell + WAITING_ROW, row_at(i, put(i, p[stream + WIDTH])), p[stream + WIDTH])
    i[0, ring + RING_HEAD] += 1
    push(i, stream, i[0, HOME], floor, 1, floor)
    i[0, top_frame(i) + CURSOR] = 1
    return True
