"""What a node does, by its number."""

from __future__ import annotations

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.bars import step_bars
from cep.engine.machine.kernels.batches import step_batch, step_calendar, step_length_batch
from cep.engine.machine.kernels.buckets import step_bucket, step_times
from cep.engine.machine.kernels.by_key import step_from_key, step_to_key
from cep.engine.machine.kernels.chunks import step_last, step_slice, step_sort
from cep.engine.machine.kernels.conditions import step_expression, step_expression_batch
from cep.engine.machine.kernels.events import step_chain, step_event
from cep.engine.machine.kernels.external import step_external_batch, step_external_time
from cep.engine.machine.kernels.found import step_bind
from cep.engine.machine.kernels.frequent import step_frequent
from cep.engine.machine.kernels.groups import step_group
from cep.engine.machine.kernels.handed import step_hand_over
from cep.engine.machine.kernels.joins import (
    step_apart,
    step_both,
    step_drop,
    step_each,
    step_join,
)
from cep.engine.machine.kernels.jumps import step_length_jump
from cep.engine.machine.kernels.lines import step_bollinger, step_macd, step_point
from cep.engine.machine.kernels.match import step_match
from cep.engine.machine.kernels.matchings import step_matching
from cep.engine.machine.kernels.ordered import step_sort_window
from cep.engine.machine.kernels.own import step_own
from cep.engine.machine.kernels.partitions import step_route, step_to_all
from cep.engine.machine.kernels.parts import step_parts
from cep.engine.machine.kernels.purge import step_purge
from cep.engine.machine.kernels.rates import (
    step_all_events,
    step_all_timed,
    step_first,
    step_last_events,
    step_last_timed,
)
from cep.engine.machine.kernels.rows import step_split
from cep.engine.machine.kernels.sessions import step_session
from cep.engine.machine.kernels.snapshots import step_snapshot
from cep.engine.machine.kernels.stored import step_lookup, step_write
from cep.engine.machine.kernels.streams import (
    step_enter,
    step_filter,
    step_insert,
    step_project,
    step_stream,
    step_tell,
    step_tell_chunk,
)
from cep.engine.machine.kernels.time_batches import step_hopping, step_time_batch
from cep.engine.machine.kernels.triggers import step_trigger
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
    BARS,
    BOLLINGER,
    MACD,
    POINT,
    TO_KEY,
    FROM_KEY,
    TELL,
    OWN,
    TELL_CHUNK,
) = range(1, 23)
(SPLIT, LENGTH_BATCH, BATCH, CALENDAR, TIME_BATCH, HOPPING, EXTERNAL_TIME, EXTERNAL_BATCH) = range(
    100, 108
)
(ALL_EVENTS, ALL_TIMED, FIRST_ROWS, LAST_EVENTS, LAST_TIMED, SNAPSHOT, TRIGGER, PURGE) = range(
    200, 208
)
(SORT_WINDOW, LENGTH_JUMP, EXPRESSION, EXPRESSION_BATCH, SESSION, FREQUENT) = range(300, 306)
(MATCH, MATCH_PARTS, MATCHING) = range(140, 143)
(EVENT, CHAIN, BIND, HAND_OVER) = range(150, 154)
(LOOKUP, WRITE, JOIN, BOTH, APART, EACH, DROP) = range(160, 167)
(TIMES, BUCKET) = range(170, 172)


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
    if op == BARS:
        return step_bars(i, f, p, frame)
    if op == BOLLINGER:
        return step_bollinger(i, f, p, frame)
    if op == MACD:
        return step_macd(i, f, p, frame)
    if op == POINT:
        return step_point(i, f, p, frame)
    if TELL <= op <= TELL_CHUNK:
        return step_python(i, f, p, frame, op)
    if op == TO_KEY:
        return step_to_key(i, f, p, frame)
    if op == FROM_KEY:
        return step_from_key(i, f, p, frame)
    if op >= SORT_WINDOW:
        return step_other_window(i, f, p, frame, op)
    if op >= ALL_EVENTS:
        return step_rate(i, f, p, frame, op)
    if op >= TIMES:
        if op == TIMES:
            return step_times(i, f, p, frame)
        return step_bucket(i, f, p, frame)
    if LOOKUP <= op <= DROP:
        return step_stored(i, f, p, frame, op)
    if MATCH <= op <= MATCHING:
        return step_any_match(i, f, p, frame, op)
    return step_window(i, f, p, frame, op)


@inner
def step_python(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for nodes that do nothing but call Python."""
    if op == TELL:
        return step_tell(i, f, p, frame)
    if op == OWN:
        return step_own(i, f, p, frame)
    return step_tell_chunk(i, f, p, frame)


@inner
def step_any_match(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for patterns, sequences and matchings."""
    if op == MATCH:
        return step_match(i, f, p, frame)
    if op == MATCH_PARTS:
        return step_parts(i, f, p, frame)
    return step_matching(i, f, p, frame)


@inner
def step_window(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for windows that send rows together, and what parts their chunks."""
    if op >= EVENT:
        return step_engine(i, f, p, frame, op)
    if op == SPLIT:
        return step_split(i, f, p, frame)
    if op == LENGTH_BATCH:
        return step_length_batch(i, f, p, frame)
    if op == BATCH:
        return step_batch(i, f, p, frame)
    if op == CALENDAR:
        return step_calendar(i, f, p, frame)
    if op == TIME_BATCH:
        return step_time_batch(i, f, p, frame)
    if op == HOPPING:
        return step_hopping(i, f, p, frame)
    if op == EXTERNAL_TIME:
        return step_external_time(i, f, p, frame)
    return step_external_batch(i, f, p, frame)


@inner
def step_rate(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for rates of output, and what the clock alone does."""
    if op == ALL_EVENTS:
        return step_all_events(i, f, p, frame)
    if op == ALL_TIMED:
        return step_all_timed(i, f, p, frame)
    if op == FIRST_ROWS:
        return step_first(i, f, p, frame)
    if op == LAST_EVENTS:
        return step_last_events(i, f, p, frame)
    if op == LAST_TIMED:
        return step_last_timed(i, f, p, frame)
    if op == SNAPSHOT:
        return step_snapshot(i, f, p, frame)
    if op == TRIGGER:
        return step_trigger(i, f, p, frame)
    return step_purge(i, f, p, frame)


@inner
def step_other_window(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for windows that hold rows by their values."""
    if op == SORT_WINDOW:
        return step_sort_window(i, f, p, frame)
    if op == LENGTH_JUMP:
        return step_length_jump(i, f, p, frame)
    if op == EXPRESSION:
        return step_expression(i, f, p, frame)
    if op == SESSION:
        return step_session(i, f, p, frame)
    if op == FREQUENT:
        return step_frequent(i, f, p, frame)
    return step_expression_batch(i, f, p, frame)


@inner
def step_engine(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for engines of events."""
    if op == EVENT:
        return step_event(i, f, p, frame)
    if op == CHAIN:
        return step_chain(i, f, p, frame)
    if op == BIND:
        return step_bind(i, f, p, frame)
    return step_hand_over(i, f, p, frame)


@inner
def step_stored(i: Ints, f: Floats, p: Ints, frame: int, op: int) -> bool:
    """The same for tables and joins."""
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
    if op == EACH:
        return step_each(i, f, p, frame)
    return step_drop(i, f, p, frame)
