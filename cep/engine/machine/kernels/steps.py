"""What a node does, by its number."""

from __future__ import annotations

from cep.engine.jit import inner
from cep.engine.machine.kernels.chunks import step_last, step_slice, step_sort
from cep.engine.machine.kernels.groups import step_group
from cep.engine.machine.kernels.joins import step_apart, step_both, step_drop, step_join
from cep.engine.machine.kernels.partitions import step_route, step_to_all
from cep.engine.machine.kernels.stored import step_lookup, step_write
from cep.engine.machine.kernels.streams import (
    step_enter,
    step_filter,
    step_insert,
    step_project,
    step_stream,
)
from cep.engine.machine.kernels.windows import step_length, step_time
from cep.engine.machine.kernels.words import NODE, OP, Floats, Ints

(
    STREAM,
    ENTER,
    FILTER,
    PROJECT,
    INSERT,
    GROUP,
    LAST,
    SORT,
    SLICE,
    LENGTH,
    TIME_WINDOW,
    ROUTE,
    TO_ALL,
) = range(1, 14)
(LOOKUP, WRITE, JOIN, BOTH, APART, DROP) = range(160, 166)


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
    if op == LOOKUP:
        return step_lookup(i, f, p, frame)
    if op == WRITE:
        return step_write(i, f, p, frame)
    if op == JOIN:
        return step_join(i, f, p, frame)
    if op == BOTH:
        return step_both(i, f, p, frame)
    if op == APART:
        return step_apart(i, f, p, frame)
    return step_drop(i, f, p, frame)
