"""Windows of query objects as windows of the plan."""

from __future__ import annotations

from cep.jepc.errors import QueryError
from cep.jepc.queries import (
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    Input,
    PatternMatcher,
    Projector,
    Stream,
    TimeWindow,
    Window,
)
from cep.plan import steps as plan
from cep.plan.expressions import Column, Constant, Expression
from cep.plan.types import Schema, Type
from cep.plan.windows import kind_of


def plan_window(window: Window, schema: Schema, query: str) -> plan.Window:
    """The plan's window; QueryError when it goes by an attribute that is not there."""
    match window:
        case TimeWindow(size_ms, 1):
            return plan.Window("time", (Constant(size_ms, Type.LONG),))
        case TimeWindow(size_ms, jump_ms):
            arguments = (Constant(size_ms, Type.LONG), Constant(jump_ms, Type.LONG))
            return plan.Window("timeJump", arguments)
        case CountWindow(size, 1, ()):
            return plan.Window("length", (Constant(size, Type.INT),))
        case CountWindow(size, jump, by):
            keys: list[Expression] = [_column(schema, name, query) for name in by]
            numbers = (Constant(size, Type.INT), Constant(jump, Type.INT))
            return plan.Window("lengthJump", (*numbers, *keys))


def _column(schema: Schema, name: str, query: str) -> Column:
    position = schema.position(name)
    if position < 0:
        known = ", ".join(schema.names)
        raise QueryError(f"{query}: the window counts by {name!r}; attributes: {known}")
    return Column(position, name, schema.attributes[position].type)


def derived_window(node: Input) -> Window | None:
    """The window of an operator's results where it has none of its own.

    A result lives as long as an event of the input; a pattern's, as long as the pattern may take.
    What lives as long as the first of several events does is not derived: None.
    """
    match node:
        case Stream():
            return node.span
        case Filter() | Projector() | Aggregator():
            return node.span or derived_window(node.input)
        case PatternMatcher():
            return node.span or TimeWindow(node.within_ms)
        case Correlator():
            return node.span


def may_leave_out(window: plan.Window | None) -> bool:
    """Whether some rows are never in a window: those whose time is over within their jump."""
    return window is not None and kind_of(window).jumps


def is_timed(window: plan.Window) -> bool:
    """Whether it looks at the time of rows alone, so that filters may stand in front."""
    return kind_of(window).by == "clock"
