"""What of a plan puts rows out when time passes, without a record.

In sorted history time passes with the records of all keys. So such rows come at the record of
whichever key is next, of which nobody knows who has the records of one key alone. Windows whose
rows leave unseen are none of it: what an aggregate sees at a record is the same, whenever the rows
went that had to go before.
"""

from __future__ import annotations

from collections.abc import Iterator

from cep.plan.functions.streams.bars import TIME as TIME_BARS
from cep.plan.nodes import Plan
from cep.plan.query import (
    AbsentState,
    LogicalState,
    Match,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.steps import Insert, StreamFunction, Window
from cep.plan.windows import clock_of, kind_of


def put_out_by_time(plan: Plan) -> Iterator[tuple[str, str]]:
    """Everything that does, by name, and why."""
    yield from ((one.name, "it comes by the clock") for one in plan.triggers)
    for partition in plan.partitions:
        if partition.idle_ms is not None:
            yield partition.name, "it forgets keys by the clock"
    for query in plan.queries:
        if reason := _why(query):
            yield query.name, reason


def has_clock(query: Query) -> bool:
    """Whether a query goes by a clock, seen or unseen."""
    if query.rate is not None or not isinstance(query.input, StreamInput):
        return True
    window = query.input.window
    return _ends_bars(query.input) or (window is not None and clock_of(window) != "none")


def _waits(state: MatchState) -> bool:
    """Whether a state is met by time alone."""
    match state:
        case AbsentState():
            return state.for_ms is not None
        case LogicalState() | NextState():
            return _waits(state.left) or _waits(state.right)
        case StreamState():
            return False
        case _:
            return _waits(state.state)


def _why(query: Query) -> str:
    if query.rate is not None:
        return "its output is limited by the clock"
    if isinstance(query.input, Match):
        if _waits(query.input.root):
            return "time alone fires it"
        if query.input.expired is not None:
            return "it tells when the time of a partial match is over"
    shows_leaving = not isinstance(query.output, Insert) or query.output.events != "current"
    for source in query.inputs:
        if _ends_bars(source):
            return "its bars end by the clock"
        if source.window is not None and _is_seen(source.window, shows_leaving=shows_leaving):
            return f"rows go from its {source.window.name} window by the clock"
    return ""


def _ends_bars(source: StreamInput) -> bool:
    """Whether bars of a fixed time are made of the rows."""
    handlers = (*source.before, *source.after)
    return any(isinstance(one, StreamFunction) and one.name == TIME_BARS.name for one in handlers)


def _is_seen(window: Window, *, shows_leaving: bool) -> bool:
    """Whether anything is put out when the clock lets rows of a window go."""
    goes_by_time = clock_of(window) != "none"
    return goes_by_time and (shows_leaving or not kind_of(window).leaves_singly)
