"""What a node does, by its number."""

from __future__ import annotations

from cep.engine.jit import inner
from cep.engine.machine.kernels.chunks import step_last, step_slice, step_sort
from cep.engine.machine.kernels.events import step_chain, step_event, step_signal
from cep.engine.machine.kernels.found import step_match
from cep.engine.machine.kernels.groups import step_group
from cep.engine.machine.kernels.handed import step_hand_over
from cep.engine.machine.kernels.partitions import step_route, step_to_all
from cep.engine.machine.kernels.streams import (
    step_enter,
    step_filter,
    step_insert,
    step_project,
    step_stream,
)
from cep.engine.machine.kernels.windows import step_length, step_time
from cep.engine.machine.kernels.words import NODE, OP, Floats, Ints

(STREAM, ENTER, FILTER, PROJECT, INSERT, GROUP, LAST, SORT, SLICE, LENGTH, TIME_WINDOW, ROUTE,
 TO_ALL, EVENT, CHAIN, MATCH, HAND_OVER, SIGNAL) = range(1, 19)


@inner
def step(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """Let the node of the top frame work; false: there is no room, and it goes on from there."""
    op = p[i[0, frame + NODE] + OP]
    if op == STREAM:
        return step_stream(i, f, p, frame)
    if op == ENTER:
        return step_enter(i, f, p, frame)
    if op == FILTER:
        return step_filter(i, f, p, frame)
    if op == PROJECT:
        return step_project(i, f, p, frame)
    if op == INSERT:
        return step_insert(i, f, p, frame)
    if op == GROUP:
        return step_group(i, f, p, frame)
    if op == LAST:
        return step_last(i, f, p, frame)
    if op == SORT:
        return step_sort(i, f, p, frame)
    if op == SLICE:
        return step_slice(i, f, p, frame)
    if op == LENGTH:
        return step_length(i, f, p, frame)
    if op == TIME_WINDOW:
        return step_time(i, f, p, frame)
    if op == ROUTE:
        return step_route(i, f, p, frame)
    if op == TO_ALL:
        return step_to_all(i, f, p, frame)
    if op == EVENT:
        return step_event(i, f, p, frame)
    if op == CHAIN:
        return step_chain(i, f, p, frame)
    if op == MATCH:
        return step_match(i, f, p, frame)
    if op == HAND_OVER:
        return step_hand_over(i, f, p, frame)
    return step_signal(i, f, p, frame)
