"""Hypothesis strategies: patterns and sequences of single events, which the engine compiles."""

from __future__ import annotations

from hypothesis import strategies as st

from cep.engine.input_rows import InputRows
from cep.engine.native import Run
from tests.reference.generate_matches import EVERY, KINDS, START_MS, STREAMS, Case
from tests.reference.matches import COMPARE, Condition, Earlier, Event, Single, Spec

VALUES = st.integers(0, 4)


@st.composite
def chain_cases(draw: st.DrawFn) -> Case:
    """A chain of one to five events and up to 40 events for it, in order of time."""
    kind = draw(st.sampled_from(KINDS))
    every = draw(st.sampled_from(EVERY[kind]))
    streams = draw(st.sampled_from(("A", "AB", STREAMS)))
    length = draw(st.integers(1 if kind == "pattern" else 2, 5))
    steps = tuple(draw(_singles(number, streams)) for number in range(1, length + 1))
    within_ms = draw(st.one_of(st.none(), st.integers(1, 25)))
    events = draw(st.lists(_events(streams), min_size=4, max_size=40))
    time, placed = START_MS, []
    for step_ms, stream, value in events:
        time += step_ms
        placed.append(Event(stream, time, value))
    return Case(Spec(kind, every, steps, within_ms), placed)


def _events(streams: str) -> st.SearchStrategy[tuple[int, str, int]]:
    return st.tuples(st.integers(0, 3), st.sampled_from(streams), VALUES)


@st.composite
def _singles(draw: st.DrawFn, number: int, streams: str) -> Single:
    conditions = draw(st.lists(_conditions(number), max_size=2))
    return Single(f"e{number}", draw(st.sampled_from(streams)), tuple(conditions))


@st.composite
def _conditions(draw: st.DrawFn, number: int) -> Condition:
    compare = draw(st.sampled_from(sorted(COMPARE)))
    earlier = draw(st.integers(0, number - 1))
    if earlier == 0:
        return Condition(compare, draw(VALUES))
    return Condition(compare, Earlier(f"e{earlier}", "first"))


def encoded(run: Run, events: list[Event]) -> InputRows:
    """The events as rows of one batch."""
    parts = []
    for stream in sorted({event.stream for event in events}):
        places = [place for place, event in enumerate(events) if event.stream == stream]
        chosen = [events[place] for place in places]
        columns = {"p": [event.p for event in chosen]}
        times = [event.time for event in chosen]
        orders = [run.next_order + place for place in places]
        parts.append(run.encoder.encode(stream, columns, times, orders))
    return InputRows.merge(parts)


SCHEMA = "(symbol string, x double, n int, v long)"
COLUMNS = ("x", "n", "v")
Row = tuple[str, int, dict[str, str | float | int | None]]


@st.composite
def apps(draw: st.DrawFn) -> tuple[str, list[Row]]:
    """Some matches of one or two shapes, perhaps per symbol, and rows for them, some of them late.

    Every number is drawn from few, so that rows often meet conditions; some are null.
    """
    streams = draw(st.sampled_from(("A", "AB", STREAMS)))
    shapes = [draw(_shapes(streams, f"Out{number}")) for number in range(draw(st.integers(1, 2)))]
    queries = [
        shape.format(*(draw(st.integers(-2, 3)) for _ in range(shape.count("{}"))))
        for shape in shapes
        for _ in range(draw(st.integers(1, 3)))
    ]
    if draw(st.booleans()):
        keys = ", ".join(f"symbol of {name}" for name in streams)
        queries = [f"partition with ({keys}) begin", *queries, "end;"]
    definitions = [f"define stream {name} {SCHEMA};" for name in streams]
    return "\n".join([*definitions, *queries]), draw(_rows(streams))


@st.composite
def _shapes(draw: st.DrawFn, streams: str, target: str) -> str:
    """A query with a pair of braces for each number."""
    is_pattern = draw(st.booleans())
    length = draw(st.integers(1 if is_pattern else 2, 4))
    states = [draw(_states(number, streams)) for number in range(1, length + 1)]
    repeated = draw(st.integers(0, length if is_pattern else 1))
    if repeated == 1:
        states[0] = f"every {states[0]}"
    elif repeated > 1:
        states[0] = f"every ({states[0]}"
        states[repeated - 1] += ")"
    within = draw(st.sampled_from(("", " within 4 milliseconds", " within 15 milliseconds")))
    taken = draw(st.lists(_columns(length), min_size=1, max_size=4))
    chosen = ", ".join(f"{column} as c{number}" for number, column in enumerate(taken))
    having = draw(st.sampled_from(("", "", f"having {taken[0]} > {{}} ")))
    chain = (" -> " if is_pattern else ", ").join(states)
    return f"from {chain}{within} select {chosen}, {{}} as d {having}insert into {target};"


def _columns(number: int) -> st.SearchStrategy[str]:
    names = [f"e{slot}.{column}" for slot in range(1, number + 1) for column in COLUMNS]
    return st.sampled_from(names)


@st.composite
def _states(draw: st.DrawFn, number: int, streams: str) -> str:
    tests = draw(st.lists(_tests(number), max_size=2))
    conditions = f"[{' and '.join(tests)}]" if tests else ""
    return f"e{number}={draw(st.sampled_from(streams))}{conditions}"


@st.composite
def _tests(draw: st.DrawFn, number: int) -> str:
    compare = draw(st.sampled_from((">", ">", "<", ">=", "<=", "==", "!=")))
    own = draw(st.sampled_from(("x", *COLUMNS)))
    if number > 1 and draw(st.integers(0, 4)) == 0:
        return f"symbol == e{draw(st.integers(1, number - 1))}.symbol"
    if number == 1 or draw(st.integers(0, 3)) == 0:
        return f"{own} {compare} {{}}"
    other = draw(_columns(number - 1))
    form = draw(st.sampled_from(("{own} {op} {other} + {{}}", "{other} {op} {own}",
                                 "{other} - {own} {op} {{}}")))  # fmt: skip
    return form.format(own=own, op=compare, other=other)


@st.composite
def _rows(draw: st.DrawFn, streams: str) -> list[Row]:
    time, rows = START_MS, []
    number = st.one_of(st.integers(-2, 3), st.integers(-2, 3), st.none())
    for _ in range(draw(st.integers(5, 40))):
        time += draw(st.sampled_from((0, 1, 1, 2, 3, 6, -2)))
        x, n, v = draw(number), draw(number), draw(number)
        symbol = draw(st.sampled_from(("K", "L", None)))
        row = {"symbol": symbol, "x": None if x is None else x / 2, "n": n, "v": v}
        rows.append((draw(st.sampled_from(streams)), time, row))
    return rows
