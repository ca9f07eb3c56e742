"""Triggers: streams that the clock feeds, with one attribute, the time."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.calendars import time_after
from cep.engine.machine.kernels.timers import next_turn, set_timer, timer_room
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CHUNK,
    COUNT,
    CURRENT,
    KIND,
    NEXT,
    NODE,
    PLACE,
    RANK,
    START,
    TIME,
    VALUES,
    WIDER,
    Floats,
    Ints,
)
from cep.engine.machine.kernels.work import hand_on, made, work_room

# A node: the cell of the period or 0, the schedule or 0; without either it fires at the start.
TRIGGER_EVERY, TRIGGER_CALENDAR = ARGUMENTS, ARGUMENTS + 1


@inner
def step_trigger(i: Ints, f: Floats, p: Ints, frame: int) -> bool:
    """A row with its time, at the start, every so often, or at the times of a calendar."""
    node, place, time = i[0, frame + NODE], i[0, frame + PLACE], i[0, frame + CHUNK]
    if not timer_room(i, 1) or not work_room(i, p[node + WIDER]):
        return False
    due = -1
    if p[node + TRIGGER_EVERY]:
        due = time + i[0, p[node + TRIGGER_EVERY]]
    elif p[node + TRIGGER_CALENDAR]:
        due = time_after(p, p[node + TRIGGER_CALENDAR], time)
    if due >= 0:
        set_timer(i, due, p[node + RANK], i[0, place], next_turn(i), node, place)
    is_once = p[node + TRIGGER_EVERY] == 0 and p[node + TRIGGER_CALENDAR] == 0
    if i[0, frame + COUNT] != START or is_once:
        row = made(i, frame, p[node + WIDER])
        i[0, row + TIME] = i[0, row + VALUES] = time
        i[0, row + KIND] = CURRENT
    hand_on(i, frame, p[node + NEXT])
    return True
