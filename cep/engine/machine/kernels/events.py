"""Simple events raised from rows, and complex events that enter the next engine."""

from __future__ import annotations

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.clocks import PROGRAM_CLOCKS, clock_of, shown_by
from cep.engine.machine.kernels.evaluate import is_true
from cep.engine.machine.kernels.handed import given, given_room, shown
from cep.engine.machine.kernels.queues import (
    DEF_ENDS,
    EVENT_SEQ,
    KEY_BLOCK,
    KEY_CODE,
    WAS_TRUE,
    admitted,
    carry,
    definition_of,
    enough,
    event_room,
    key_opened,
    number_at,
    number_of,
)
from cep.engine.machine.kernels.streams import STREAM_READERS
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    AT,
    CHUNK,
    COUNT,
    CURSOR,
    HOME,
    NODE,
    NOW,
    VALUES,
    WIDTH,
    WORK_TOP,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import (
    frame_room,
    pop,
    push,
    row_at,
    top_frame,
)

# A simple event, and a complex one that enters another engine: this, its definition there, the
# stream on which it is put out (0: it is not), the node that hands over, the node that looks for
# complex events; of a simple one the word of the key (0: it has none), its condition, whether it is
# raised whenever that is true.
RAISE_ENGINE, RAISE_DEFINITION, RAISE_STREAM, RAISE_HANDS_OVER, RAISE_MATCHES = (
    ARGUMENTS, ARGUMENTS + 1, ARGUMENTS + 2, ARGUMENTS + 3, ARGUMENTS + 4,
)  # fmt: skip
RAISE_KEY, RAISE_CONDITION, RAISE_EVERY = ARGUMENTS + 5, ARGUMENTS + 6, ARGUMENTS + 7


@inner
def arrival_room(i: Ints, p: Ints, node: int) -> bool:
    """Whether there is room for what an event needs that arrives."""
    stream = p[node + RAISE_STREAM]
    if stream and not given_room(i, p, p[node + RAISE_HANDS_OVER], stream):
        return False
    what = definition_of(p, p[node + RAISE_ENGINE], p[node + RAISE_DEFINITION])
    return frame_room(i, 1) and enough(i, event_room(p, what))


@inner
def arrived(i: Ints, p: Ints, node: int, key: int, cause: int) -> bool:
    """Take an event in that a row causes, for which there is room; whether a frame was pushed for
    what follows.
    """
    engine, definition = p[node + RAISE_ENGINE], p[node + RAISE_DEFINITION]
    if p[PROGRAM_CLOCKS]:  # before its first record a clock says nothing
        i[0, NOW] = shown_by(i, clock_of(i, p, node, i[0, key + KEY_BLOCK]))
    event = admitted(i, p, engine, key, definition)
    if event == 0:
        return False
    carry(i, p, definition_of(p, engine, definition), event, cause)
    stream, hands_over = p[node + RAISE_STREAM], p[node + RAISE_HANDS_OVER]
    if stream:
        row = given(i, p, hands_over, stream, i[0, AT])
        i[0, row + VALUES] = i[0, key + KEY_CODE]
        i[0, row + VALUES + 1] = number_of(i, p, engine, event)
        i[0, row + VALUES + 2] = i[0, event + EVENT_SEQ]
        shown(i, p, hands_over, stream, row)
    is_read = stream != 0 and p[stream + STREAM_READERS] != 0
    if not is_read and not p[definition_of(p, engine, definition) + DEF_ENDS]:
        return False
    push(i, p[node + RAISE_MATCHES], i[0, HOME], event, 0, i[0, WORK_TOP])
    return True


@inline
def key_of_row(i: Ints, p: Ints, node: int, row: int) -> int:
    return i[0, row + p[node + RAISE_KEY]] if p[node + RAISE_KEY] else NULL


@inner
def step_event(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """1: look at rows one after the other; what is raised is at work before the next."""
    node = i[0, frame + NODE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        code = key_of_row(i, p, node, row)
        if code == NULL and p[node + RAISE_KEY]:
            i[0, frame + CURSOR] += 1
            continue
        key = key_opened(i, p, p[node + RAISE_ENGINE], code)
        if key == 0:
            return False
        number = number_at(key, p[node + RAISE_DEFINITION])
        holds = is_true(i, f, p, p[node + RAISE_CONDITION], row)
        is_raised = holds and (p[node + RAISE_EVERY] or not i[0, number + WAS_TRUE])
        if is_raised:
            if not arrival_room(i, p, node):
                return False
            frame = top_frame(i)
            row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        i[0, number + WAS_TRUE] = int(holds)
        i[0, frame + CURSOR] += 1
        if is_raised and arrived(i, p, node, key, row):
            return True
    pop(i, frame)
    return True


@inner
def step_chain(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """14: complex events are simple events of the next engine."""
    node = i[0, frame + NODE]
    while i[0, frame + CURSOR] < i[0, frame + COUNT]:
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        key = key_opened(i, p, p[node + RAISE_ENGINE], i[0, row + VALUES])
        if key == 0 or not arrival_room(i, p, node):
            return False
        frame = top_frame(i)
        row = row_at(i, i[0, frame + CHUNK] + i[0, frame + CURSOR] * p[node + WIDTH])
        i[0, frame + CURSOR] += 1
        if arrived(i, p, node, key, row):
            return True
    pop(i, frame)
    return True
