"""The back ends that every semantics case runs on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cep.clocks import Mode
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan.nodes import Plan
from cep.plan.query import StreamInput
from cep.plan.steps import StreamFunction
from tests.reference.engine import Reference
from tests.semantics.loader import BackEnd, InputRow, OutputRow


def whole(plan: Plan, row: InputRow) -> InputRow:
    """A row with nulls for the attributes that it leaves out."""
    stream, time_msc, values = row
    names = plan.stream(stream).schema.names
    return stream, time_msc, {name: values.get(name) for name in names}


def interpreter(plan: Plan, rows: Sequence[InputRow], mode: Mode = "sorted") -> list[OutputRow]:
    """The interpreter, which is the meaning."""
    run = InterpretedRun(plan, mode=mode)
    return [output for row in rows for output in run.push_row(*whole(plan, row))]


def naive(plan: Plan, rows: Sequence[InputRow], mode: Mode = "sorted") -> list[OutputRow]:
    """The naive engine; of what it does not know it says nothing: joins, patterns, bars and other
    stream functions.
    """
    queries = plan.queries
    if any(not isinstance(query.input, StreamInput) for query in queries):
        return []
    if any(isinstance(one, StreamFunction) for q in queries for one in q.inputs[0].before):
        return []
    engine = Reference(plan, lived=mode == "lived")
    return [output for row in rows for output in engine.push(*row)]


def native(
    plan: Plan, rows: Sequence[InputRow], mode: Mode = "sorted", *, jit: bool
) -> list[OutputRow]:
    """The native engine, row by row."""
    run = Compiled(plan, jit=jit).start(mode=mode)
    return [output for row in rows for output in run.push_row(*whole(plan, row)).dicts()]


def one_program(plan: Plan, rows: Sequence[InputRow], mode: Mode = "sorted") -> list[OutputRow]:
    """The native engine as one program, uncompiled, where there is one of the rules and mode."""
    run = Compiled(plan, jit=False, machine="always").start(mode=mode)
    return [output for row in rows for output in run.push_row(*whole(plan, row)).dicts()]


BACK_ENDS: dict[str, BackEnd] = {
    "interpreter": interpreter,
    "naive": naive,
    "native-plain": partial(native, jit=False),
    "native": partial(native, jit=True),
    "program": one_program,
}

NO_BATCHES = "it knows no batches of time"
NATIVE_DIFFERS: dict[str, str] = {}
DIFFERS: dict[str, dict[str, str]] = {
    "interpreter": {},
    "naive": {
        **dict.fromkeys(
            ("event-at-cause", "batch-late", "hopping-late", "chunk-of-a-timer"), NO_BATCHES
        ),
        **dict.fromkeys(
            ("bar-beside-ticks", "bar-late", "deal-behind-bars", "window-by-key-behind-bars"),
            "it knows no bars",
        ),
        "reorder-late": "nor an order to wait for",
        "window-fed-by-time": "nor triggers",
        "clocks-of-a-join": "nor joins",
        **dict.fromkeys(("window-time-late-join", "window-time-late-self-join"), "nor joins"),
        "window-time-length-late": "nor windows of time and length",
        "window-time-late-expired": "nor rows that leave",
        **dict.fromkeys(
            ("chunk-two-readers", "pattern-late", "pattern-expired-read"), "it knows no patterns"
        ),
        "chunk-of-a-join": "it knows no joins",
        **dict.fromkeys(
            ("interpreted-in-between", "event-time-of-what-leaves"), "it puts out no expired rows"
        ),
    },
    "native-plain": NATIVE_DIFFERS,
    "native": NATIVE_DIFFERS,
    "program": NATIVE_DIFFERS,
}
"""Cases that a back end does not answer as they say yet, and why."""
